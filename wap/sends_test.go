package wap

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// mostSends is how often one call sends a Create, or a Swap of a run record: the
// same bytes, until an answer is definite. README names the number.
const mostSends = 4

// silent lets every write of one kind fail without a definite answer: an
// operation, and a key with its ids masked.
func silent(verb faultstore.Verb, key string, kind faultstore.Kind) faultstore.Config {
	return faultstore.Config{Choose: func(_ context.Context, op faultstore.Op) faultstore.Kind {
		if op.Verb == verb && mask(op.Key) == key {
			return kind
		}
		return faultstore.NoFault
	}}
}

// tally counts what is sent, each body by itself.
type tally struct {
	store.Store
	lock sync.Mutex
	sent map[string]int
}

func (s *tally) count(what, key string, body []byte) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.sent[what+" "+key+" "+string(body)]++
}

func (s *tally) Create(ctx context.Context, key string, body []byte) (store.Version, error) {
	s.count("create", key, body)
	return s.Store.Create(ctx, key, body)
}

func (s *tally) Swap(ctx context.Context, key string, v store.Version, body []byte) (store.Version, error) {
	s.count("swap", key, body)
	return s.Store.Swap(ctx, key, v, body)
}

// TestSendsAreBounded: however long the store gives no answer, a call sends a
// write a few times, and only the pointer's until its deadline, by the very same
// bytes.
func TestSendsAreBounded(t *testing.T) {
	s := step{run: "r", partition: "orders/dt=1", rows: orders(1, 5)}
	clean := newLab(t)
	fs, err := clean.faulty(s, faultstore.Config{}, 30*time.Second)
	wantCode(t, err, 0)
	tried := map[string]bool{}
	for _, op := range fs.Recorder().Ops() {
		name := string(op.Verb) + " " + mask(op.Key)
		if op.Verb != faultstore.Create && op.Verb != faultstore.Swap || tried[name] {
			continue
		}
		tried[name] = true
		for _, kind := range []faultstore.Kind{faultstore.FailBefore, faultstore.FailAfter, faultstore.HollowSuccess} {
			t.Run(name+"/"+kind.String(), func(t *testing.T) {
				l := newLab(t)
				c := &tally{Store: faultstore.New(l.store, silent(op.Verb, mask(op.Key), kind)), sent: map[string]int{}}
				var err error
				synctest.Test(t, func(t *testing.T) { _, err = l.do(l.client(c), s) })
				most := 0
				for write, n := range c.sent {
					if !strings.HasPrefix(write, "swap "+manifest.PointerKey) && n > mostSends {
						t.Errorf("sent %d times: %s", n, write)
					}
					most = max(most, n)
				}
				if most < 2 && kind != faultstore.FailAfter {
					t.Error("everything was sent once: this shows nothing")
				}
				if code := Code(err); code != 0 && code != 1 && code != 5 || (code == 5) != (op.Key == manifest.PointerKey && code != 0) {
					t.Errorf("exit code %d: %v", code, err)
				}
			})
		}
	}
	if len(tried) < 10 {
		t.Errorf("only %d kinds of writes: %v", len(tried), tried)
	}
}

// spy keeps what was to be swapped in for the pointer, and loses it.
type spy struct {
	store.Store
	bodies []string
}

func (s *spy) Swap(ctx context.Context, key string, v store.Version, body []byte) (store.Version, error) {
	if key != manifest.PointerKey {
		return s.Store.Swap(ctx, key, v, body)
	}
	s.bodies = append(s.bodies, string(body))
	return store.Version{}, errDead
}

// TestPointerIsSentAsItWas: what is sent again for the pointer are the identical
// bytes: their condition can hold but once.
func TestPointerIsSentAsItWas(t *testing.T) {
	l := inState(t, "frozen")
	s := &spy{Store: l.store}
	cfg := l.config(s)
	cfg.CommitTimeout = 3 * time.Second
	w, err := Open(context.Background(), cfg)
	wantCode(t, err, 0)
	_, err = w.Publish(context.Background(), PublishRequest{Run: "r"})
	wantCode(t, err, 5)
	if len(s.bodies) < 2 {
		t.Fatalf("it was sent %d times", len(s.bodies))
	}
	for _, b := range s.bodies {
		if b != s.bodies[0] {
			t.Fatalf("first %s, then %s", s.bodies[0], b)
		}
	}
}

// TestCommandRunsOnce: whatever becomes of the writes around it, one call runs
// the command once, or not at all.
func TestCommandRunsOnce(t *testing.T) {
	const script = `echo ran >> "$RAN"; cp "$ROWS"/*.parquet "$WAP_OUT"`
	call := func(t *testing.T, cfg faultstore.Config) ([]faultstore.Op, int) {
		y := newYard(t)
		fs := faultstore.New(y.disk, cfg)
		c := y.cfg()
		c.Store, c.CommitTimeout = fs, 50*time.Millisecond
		w, err := Open(context.Background(), c)
		wantCode(t, err, 0)
		req := y.shell("r", script, "orders/dt=1")
		ran := filepath.Join(t.TempDir(), "ran")
		req.Env = append(req.Env, "RAN="+ran)
		_, _ = w.RunTask(context.Background(), req) // whatever it says
		text, err := os.ReadFile(ran)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return fs.Recorder().Ops(), strings.Count(string(text), "ran")
	}
	ops, n := call(t, faultstore.Config{})
	if n != 1 {
		t.Fatalf("it ran %d times", n)
	}
	tried := map[string]bool{}
	for _, op := range ops {
		name := string(op.Verb) + " " + mask(op.Key)
		if op.Verb != faultstore.Create && op.Verb != faultstore.Swap && op.Verb != faultstore.Upload || tried[name] {
			continue
		}
		tried[name] = true
		t.Run(name, func(t *testing.T) {
			if _, n := call(t, silent(op.Verb, mask(op.Key), faultstore.FailAfter)); n > 1 {
				t.Errorf("it ran %d times", n)
			}
		})
	}
}
