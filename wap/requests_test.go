package wap

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store/faultstore"
)

// TestRequestsOfAPublish holds a publish to its budget: one partition with one
// file, after its audit.
func TestRequestsOfAPublish(t *testing.T) {
	const depth = 2 // orders/dt=…
	for name, prepare := range scenarios() {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			s, _ := prepare(l)
			ctx := context.Background()
			w := l.open()
			b, err := w.Begin(ctx, BeginRequest{Run: s.run, Scope: []string{s.partition}, Mode: s.mode})
			wantCode(t, err, 0)
			_, err = w.Stage(ctx, StageRequest{Run: s.run, Attempt: b.Attempt, Partition: s.partition, Files: []string{l.file("p.parquet", s.rows)}})
			wantCode(t, err, 0)
			rules := l.rules(keyed)
			_, err = w.Audit(ctx, AuditRequest{Run: s.run, Rules: rules})
			wantCode(t, err, 0)
			// Others publish in between: rebasing costs nothing more.
			l.must(step{run: "other", partition: "orders/dt=2", rows: orders(1, 3)})

			var ops []faultstore.Op
			synctest.Test(t, func(t *testing.T) {
				fs := faultstore.New(l.store, faultstore.Config{Delay: 40 * time.Millisecond})
				_, err = l.client(fs).Publish(ctx, PublishRequest{Run: s.run, Rules: rules})
				wantCode(t, err, 0)
				ops = fs.Recorder().Ops()
			})
			if n := faultstore.CountOps(ops).Requests; n > 14+2*depth {
				t.Errorf("%d requests, want at most %d:\n%s", n, 14+2*depth, faultstore.Log(ops))
			}
			from, to := 0, 0
			for i, op := range ops {
				if op.Verb == faultstore.Swap && op.Key == manifest.PointerKey {
					to = i
				}
				if op.Verb == faultstore.Get && op.Key == manifest.PointerKey && to == 0 {
					from = i
				}
			}
			if n := faultstore.Rounds(ops[from+1 : to]); n > 3+depth {
				t.Errorf("%d serial round trips between reading and swapping the pointer, want at most %d:\n%s", n, 3+depth, faultstore.Log(ops[from:to+1]))
			}
		})
	}
}
