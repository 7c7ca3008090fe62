package wap

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/wap/store"
)

// kit is what the clients of a scenario share and never change: the store they
// start from, files to stage and rules to judge by.
type kit struct {
	t      *testing.T
	lab    *lab // its store is what every execution begins with
	keys   []string
	memo   memo
	data   string // folder of output: one folder a kind, warehouse paths below
	lax    *audit.Rules
	strict *audit.Rules // five rows are too few
}

// outputs are what a task may write: rows by warehouse path.
func outputs() map[string]map[string][]order {
	return map[string]map[string][]order{
		"five":  {"orders/dt=1": orders(1, 5)},
		"other": {"orders/dt=1": orders(1, 6)},
		"more":  {"orders/dt=1": orders(11, 5)},
		"most":  {"orders/dt=1": orders(21, 5)},
		"next":  {"orders/dt=2": orders(1, 5)},
		"both":  {"orders/dt=1": orders(1, 5), "orders/dt=2": orders(1, 5)},

		"people":       {"people/region=eu": orders(1, 5)},
		"fewer people": {"people/region=eu": orders(1, 2)},
		"more people":  {"people/region=us": orders(6, 2)},
	}
}

// newKit makes a warehouse, without when nothing is to be there yet.
func newKit(t *testing.T, sc *scenario) *kit {
	t.Helper()
	k := &kit{t: t, lab: &lab{t: t, store: store.NewMem()}, data: t.TempDir()}
	k.lax, k.strict = k.lab.rules(keyed), k.lab.rules(keyed+"  - row_count: {min: 6}\n")
	for name, paths := range outputs() {
		for path, rows := range paths {
			dir := filepath.Join(k.data, name, filepath.FromSlash(path))
			if err := os.MkdirAll(dir, 0o777); err != nil {
				t.Fatal(err)
			}
			if err := parquet.WriteFile(filepath.Join(dir, name+".parquet"), rows); err != nil {
				t.Fatal(err)
			}
		}
	}
	if !sc.without {
		if _, err := Init(context.Background(), k.lab.config(k.lab.store)); err != nil {
			t.Fatal(err)
		}
	}
	if sc.prepare != nil {
		sc.prepare(k)
	}
	for e, err := range k.lab.store.List(context.Background(), "") {
		if err != nil {
			t.Fatal(err)
		}
		k.keys = append(k.keys, e.Key)
	}
	return k
}

// config is a client's. Its clock stands still, as the coarsest clock would, and
// its ids count up; both are its own.
func (k *kit) config(st store.Store, name string, number int) Config {
	n := 0
	c := k.lab.config(st)
	c.By, c.Notify = name, nil
	c.Now = func() time.Time { return epoch }
	c.NewID = func() string {
		n++
		return fmt.Sprintf("0%05d%020d", number+1, n)
	}
	c.CommitTimeout = 1000 * nap
	return c
}

// Steps to prepare a scenario with, each by a client of its own.

func (k *kit) begin(run string, tasks ...string) {
	k.t.Helper()
	req := BeginRequest{Run: run, Scope: []string{"orders/*"}, Tasks: tasks}
	if _, err := k.lab.open().Begin(context.Background(), req); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kit) appending(run string) {
	k.t.Helper()
	req := BeginRequest{Run: run, Scope: []string{"orders/*"}, Mode: "append"}
	if _, err := k.lab.open().Begin(context.Background(), req); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kit) seal(run, task, output string) {
	k.t.Helper()
	req := StageRequest{Run: run, Task: task, Dir: filepath.Join(k.data, output)}
	if _, err := k.lab.open().Stage(context.Background(), req); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kit) sealed(run, output string) {
	k.t.Helper()
	k.begin(run)
	k.seal(run, "", output)
}

func (k *kit) audit(run string, rules *audit.Rules, code int) {
	k.t.Helper()
	_, err := k.lab.open().Audit(context.Background(), AuditRequest{Run: run, Rules: rules})
	wantCode(k.t, err, code)
}

// passed leaves a run one swap away from being published.
func (k *kit) passed(run, output string) {
	k.t.Helper()
	k.sealed(run, output)
	k.audit(run, k.lax, 0)
}

func (k *kit) rejected(run, output string) {
	k.t.Helper()
	k.sealed(run, output)
	k.audit(run, k.strict, 3)
}

func (k *kit) published(run, output string) {
	k.t.Helper()
	k.sealed(run, output)
	k.publish(run)
}

func (k *kit) publish(run string) {
	k.t.Helper()
	if _, err := k.lab.open().Publish(context.Background(), PublishRequest{Run: run, Rules: k.lax}); err != nil {
		k.t.Fatal(err)
	}
}
