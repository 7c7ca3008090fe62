package wap

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// scenarios are calls that every fault sweep goes through; each leaves one run
// published when it was repeated until it said so.
func scenarios() map[string]func(l *lab) (step, string) {
	return map[string]func(l *lab) (step, string){
		"first publish": func(*lab) (step, string) {
			return step{run: "r", partition: "orders/dt=1", rows: orders(1, 10)}, "10 rows"
		},
		"overwrite": func(l *lab) (step, string) {
			l.must(step{run: "old", partition: "orders/dt=1", rows: orders(100, 7)})
			return step{run: "r", partition: "orders/dt=1", rows: orders(1, 10)}, "10 rows"
		},
		"append": func(l *lab) (step, string) {
			l.must(step{run: "old", partition: "orders/dt=1", rows: orders(100, 7)})
			return step{run: "r", partition: "orders/dt=1", mode: manifest.ModeAppend, rows: orders(1, 10)}, "17 rows"
		},
		"redo": func(l *lab) (step, string) {
			l.must(step{run: "r", partition: "orders/dt=1", rows: orders(100, 7)})
			if _, err := l.open().Redo(context.Background(), RedoRequest{Run: "r", Reason: "fix"}); err != nil {
				l.t.Fatal(err)
			}
			return step{run: "r", partition: "orders/dt=1", rows: orders(1, 10)}, "10 rows"
		},
	}
}

// errDead is what the store answers a process that is gone.
var errDead = errors.New("this process was killed")

// dying fails every operation from the n-th on: before it acts, or after.
func dying(n int, after bool) faultstore.Config {
	return faultstore.Config{OnOp: func(_ context.Context, op faultstore.Op) error {
		if op.Seq > n || op.Seq == n && after == (op.Phase == faultstore.After) {
			return errDead
		}
		return nil
	}}
}

// leftovers are what a dead attempt may leave behind, and nothing else may.
var leftovers = regexp.MustCompile(strings.Join([]string{
	`^_wap/data/orders/r/g\d/main/ID/dt=1/part\.parquet$`,
	`^_wap/runs/r/g\d/attempts/main/ID\.json$`,
	`^_wap/runs/r/g\d/audits/ID\.json$`,
	`^_wap/runs/r/g\d/manifests/ID-SHA\.json$`,
	`^_wap/snapshots/\d+-ID\.json$`,
	`^_wap/trees/ID-SHA\.json$`,
}, "|"))

// TestKilledAtEveryOperation kills a step at each of its store operations in
// turn, before and after it acted, and runs it again.
func TestKilledAtEveryOperation(t *testing.T) {
	for name, prepare := range scenarios() {
		t.Run(name, func(t *testing.T) {
			clean := newLab(t)
			s, want := prepare(clean)
			clean.must(s)
			cleanKeys := strings.Split(clean.keys(), "\n")
			for n, alive := 1, true; alive; n++ {
				for _, after := range []bool{false, true} {
					l := newLab(t)
					s, _ := prepare(l)
					fs, err := l.faulty(s, dying(n, after), 60*time.Millisecond)
					alive = fs.Recorder().Len() >= n
					where := fmt.Sprintf("killed at operation %d, after it acted: %v; it said %v", n, after, err)
					l.settles(s, err, where, want)
					accounted(t, l, cleanKeys, where)
				}
			}
		})
	}
}

// settles checks what a faulty call said against the history, repeats it, and
// wants the run published exactly once.
func (l *lab) settles(s step, said error, where, want string) {
	l.t.Helper()
	generation := int64(1)
	if strings.HasPrefix(where, "redo") {
		generation = 2
	}
	before := examine(l.t, l.store)
	last := int64(0)
	if gens := before.published[s.run]; len(gens) > 0 {
		last = gens[len(gens)-1]
	}
	current := int64(1)
	if r := before.records[s.run]; r != nil {
		current = r.Generation
	}
	switch code := Code(said); {
	case code == 0 && last != max(current, generation):
		l.t.Fatalf("it answered 0 and is not in the history: %s", where)
	case code != 0 && code != 5 && code != 9 && last == current:
		l.t.Fatalf("it answered %d and is in the history: %s", code, where)
	}
	if _, err := l.do(l.open(), s); err != nil {
		l.t.Fatalf("the retry failed with %v: %s", err, where)
	}
	w := examine(l.t, l.store)
	r := w.records[s.run]
	if r.State != manifest.StatePublished || !w.has(s.run, r.Generation) {
		l.t.Fatalf("after the retry the run is %s: %s", r.State, where)
	}
	if got := fmt.Sprintf("%d rows", len(l.rows(s.partition))); got != want {
		l.t.Fatalf("readers see %s, want %s: %s", got, want, where)
	}
}

// accounted fails on keys that neither a clean run leaves nor a dead attempt
// may, and on missing ones.
func accounted(t *testing.T, l *lab, clean []string, where string) {
	t.Helper()
	rest := map[string]int{}
	for _, k := range strings.Split(l.keys(), "\n") {
		rest[k]++
	}
	for _, k := range clean {
		rest[k]--
	}
	for k, n := range rest {
		if n < 0 && !leftovers.MatchString(k) {
			t.Fatalf("%s is missing: %s", k, where)
		}
		if n > 0 && !leftovers.MatchString(k) {
			t.Fatalf("%s is left behind: %s", k, where)
		}
	}
}

// TestOneFaultAtEveryOperation lets one operation go wrong in each way, at each
// place in turn, while the process lives on.
func TestOneFaultAtEveryOperation(t *testing.T) {
	kinds := []faultstore.Kind{
		faultstore.FailBefore, faultstore.FailAfter, faultstore.ActTwice, faultstore.ActRefused,
		faultstore.ActLater, faultstore.NoVersion, faultstore.HollowSuccess, faultstore.PartialList,
	}
	for name, prepare := range scenarios() {
		for _, kind := range kinds {
			t.Run(name+"/"+kind.String(), func(t *testing.T) {
				fired := 0
				for n := 1; ; n++ {
					l := newLab(t)
					s, want := prepare(l)
					fs, err := l.faulty(s, faultstore.Config{Faults: []faultstore.Fault{{Kind: kind, N: n}}}, 30*time.Second)
					if len(fs.Unfired()) > 0 {
						break // n is beyond the last operation of the kind
					}
					fired++
					where := fmt.Sprintf("%s at operation %d; it said %v", kind, n, err)
					// What was held lands now: a zombie, after its caller gave up.
					fs.Release(context.Background())
					l.settles(s, err, where, want)
				}
				if fired == 0 {
					t.Fatal("no fault fired")
				}
			})
		}
	}
}
