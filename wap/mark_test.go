package wap

import (
	"context"
	"testing"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// TestForbiddenMark: a mark whose create is answered 403 while somebody deletes
// it is created after all; a store that forbids it for good is told apart.
func TestForbiddenMark(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct{ times, code int }{{1, 0}, {sends - 1, 0}, {sends, 1}} {
		l := newLab(t)
		var faults []faultstore.Fault
		for range c.times {
			faults = append(faults, faultstore.Fault{
				Kind: faultstore.FailBefore, Verb: faultstore.Create, Key: manifest.MarkPrefix, N: len(faults) + 1, Err: store.ErrForbidden,
			})
		}
		fs := faultstore.New(l.store, faultstore.Config{Faults: faults})
		_, err := l.client(fs).Begin(ctx, BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}})
		if Code(err) != c.code || len(fs.Unfired()) > 0 {
			t.Errorf("forbidden %d times: %v; not happened: %v", c.times, err, fs.Unfired())
		}
	}
	// Of other objects it means what it says.
	l := newLab(t)
	fs := faultstore.New(l.store, faultstore.Config{Faults: []faultstore.Fault{
		{Kind: faultstore.FailBefore, Verb: faultstore.Create, Key: manifest.RunsPrefix, Err: store.ErrForbidden},
	}})
	_, err := l.client(fs).Begin(ctx, BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}})
	wantCode(t, err, 1)
}
