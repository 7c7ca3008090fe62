package wap

import (
	"context"
	"fmt"
	"testing"

	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store/storetest/s3test"
)

// deed is a call that one write decides.
type deed struct {
	name    string
	key     string // end of the deciding object's key
	n       int    // which write of it decides
	prepare func(l *netLab, w *Warehouse)
	rivals  []*rival
	act     call
	codes   func(c *netCase) []int // that may be the call's
	judge   func(t *testing.T, o *netOutcome) (wrong string)
}

// rival is another client; one without a name is none.
type rival struct {
	name    string
	prepare func(l *netLab, w *Warehouse)
	act     call
	run     string // that it publishes
	wins    bool   // where it comes first, the call has lost
	twin    bool   // it does the same
}

func nobody() *rival { return &rival{name: "no rival", prepare: func(*netLab, *Warehouse) {}} }

func deeds() []*deed {
	return []*deed{
		publishDeed(),
		beginDeed("create a run", 1), beginDeed("open a run", 2),
		abortDeed("change the record", manifest.RunKey("r"), recordCodes),
		abortDeed("fence", manifest.PointerKey, fenceCodes),
	}
}

func publishCall(run string) call {
	return func(ctx context.Context, w *Warehouse) (string, error) {
		res, err := w.Publish(ctx, PublishRequest{Run: run})
		return fmt.Sprint("at ", res.Sequence), err
	}
}

func beginCall(ctx context.Context, w *Warehouse) (string, error) {
	b, err := w.Begin(ctx, BeginRequest{Run: "r", Scope: []string{"sums/dt=1"}, Inputs: []manifest.InputSource{{Source: "orders"}}})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("generation %d is %s at %d with inputs %s", b.Generation, b.State, b.Base.Sequence, b.Inputs.SHA256), nil
}

func abortCall(ctx context.Context, w *Warehouse) (string, error) {
	r, err := w.Abort(ctx, "r", "no")
	if err != nil {
		return "", err
	}
	return string(r.State), nil
}

// publishDeed is a run's publish, one swap of the pointer.
func publishDeed() *deed {
	const p = "orders/dt=1"
	return &deed{
		name: "publish", key: manifest.PointerKey, n: 1, act: publishCall("r"),
		prepare: func(l *netLab, w *Warehouse) { l.passed(w, "r", p, orders(1, 5)) },
		rivals: []*rival{
			nobody(),
			{name: "twin", twin: true, run: "r", act: publishCall("r"), prepare: func(*netLab, *Warehouse) {}},
			{name: "run on the partition", wins: true, run: "s", act: publishCall("s"),
				prepare: func(l *netLab, w *Warehouse) { l.passed(w, "s", p, orders(1, 6)) }},
			{name: "run elsewhere", run: "s", act: publishCall("s"),
				prepare: func(l *netLab, w *Warehouse) { l.passed(w, "s", "orders/dt=2", orders(1, 6)) }},
		},
		codes: publishCodes,
		judge: judgePublish,
	}
}

// publishCodes: what is unknown is said to be unknown, and nothing else is.
func publishCodes(c *netCase) []int {
	overwrites := c.act == s3test.Strip && c.when == before
	switch {
	case c.always && c.read && c.answer == s3test.Short:
		return []int{9} // damaged, on a second read
	case c.always && c.read:
		return []int{5}
	case c.acts() && c.when != before, overwrites:
		return []int{0}
	case c.rival.wins:
		return []int{4}
	case !c.always, c.rival.twin:
		return []int{0}
	case c.definite():
		return []int{1}
	}
	return []int{5}
}

func judgePublish(t *testing.T, o *netOutcome) string {
	if o.act == s3test.Strip && o.when == before {
		// The store lost what it had acknowledged: whose it was must be told.
		if _, err := o.rival.act(t.Context(), o.lab.open(t, o.direct, "rival")); Code(err) != 9 {
			return fmt.Sprintf("the rival's publish was overwritten, and its retry says %d (%v)", Code(err), err)
		}
		return ""
	}
	w := examine(t, o.direct)
	code, at := Code(o.err), chained(w.chain, "r", 1)
	lost := o.rival.wins && o.acts() && o.when == between // the rival
	switch {
	case code == 0 && (at == 0 || o.said != fmt.Sprint("at ", at)):
		return fmt.Sprintf("the run is at sequence %d", at)
	case code != 0 && code != 5 && code != 9 && publishes(w, "caller"):
		return "it published"
	case o.rival.act != nil && (Code(o.rivalErr) == 4) != lost, o.rivalErr != nil && !lost:
		return "the rival is wrong"
	case o.rival.act != nil && !lost && !w.has(o.rival.run, 1):
		return "the rival published, and is not in the history"
	}
	want := 0
	if code == 4 {
		want = 4
	}
	if _, err := o.deed.act(t.Context(), o.lab.open(t, o.direct, "retry")); Code(err) != want {
		return fmt.Sprintf("a retry says %d (%v)", Code(err), err)
	}
	if code != 0 {
		w = examine(t, o.direct)
	}
	if n := len(w.published["r"]); n > 1 || (n == 1) != (want == 0) {
		return fmt.Sprintf("it is published %d times", n)
	}
	return ""
}

// beginDeed is a begin, which creates a record and then swaps it; write says
// which of the two goes wrong.
func beginDeed(name string, write int) *deed {
	return &deed{
		name: name, key: manifest.RunKey("r"), n: write, act: beginCall,
		prepare: func(l *netLab, w *Warehouse) {
			l.passed(w, "old", "orders/dt=1", orders(1, 5))
			_, err := w.Publish(l.t.Context(), PublishRequest{Run: "old"})
			wantCode(l.t, err, 0)
		},
		rivals: []*rival{
			nobody(),
			{name: "twin", twin: true, act: beginCall, prepare: func(*netLab, *Warehouse) {}},
			{name: "publisher of the input", act: publishCall("s"),
				prepare: func(l *netLab, w *Warehouse) { l.passed(w, "s", "orders/dt=2", orders(1, 6)) }},
		},
		codes: func(c *netCase) []int { return recordCodes(c, 0) },
		judge: judgeBegin,
	}
}

// recordCodes are a call's whose record cannot be read or written: it failed. A
// record that reads as damaged twice is damaged.
func recordCodes(c *netCase, good ...int) []int {
	switch {
	case c.always && c.answer == s3test.Short:
		return []int{9}
	case c.always, c.answer == s3test.Denied:
		return append(good, 1)
	case c.read && (c.answer == s3test.Moved || c.answer == s3test.ErrorInside || c.answer == s3test.NoETag):
		return append(good, 1)
	}
	return good
}

// fenceCodes are a call's whose fence is a swap of the pointer.
func fenceCodes(c *netCase, good ...int) []int {
	if c.always {
		return publishCodes(c)
	}
	return good
}

func judgeBegin(t *testing.T, o *netOutcome) string {
	said, err := o.deed.act(t.Context(), o.lab.open(t, o.direct, "retry"))
	w := examine(t, o.direct)
	switch r := w.records["r"]; {
	case err != nil:
		return fmt.Sprintf("a retry fails: %v", err)
	case o.rivalErr != nil:
		return "the rival failed"
	case o.err == nil && o.said != said, o.rival.twin && o.rivalSaid != said:
		return fmt.Sprintf("a retry says %q", said)
	case r.State != manifest.StateOpen || r.Generation != 1 || len(w.published["r"]) > 0:
		return fmt.Sprintf("generation %d is %s", r.Generation, r.State)
	}
	return ""
}

// abortDeed gives a run up that is one swap away from being published.
func abortDeed(name, key string, codes func(c *netCase, good ...int) []int) *deed {
	return &deed{
		name: name, key: key, n: 1, act: abortCall,
		prepare: func(l *netLab, w *Warehouse) { l.passed(w, "r", "orders/dt=1", orders(1, 5)) },
		rivals: []*rival{
			nobody(),
			{name: "publisher", act: publishCall("r"), prepare: func(*netLab, *Warehouse) {}},
		},
		codes: func(c *netCase) []int {
			if c.rival.act == nil {
				return codes(c, 0)
			}
			return codes(c, 0, 4)
		},
		judge: judgeAbort,
	}
}

func judgeAbort(t *testing.T, o *netOutcome) string {
	in := examine(t, o.direct).has("r", 1)
	code := Code(o.err)
	want := 0
	if in {
		want = 4
	}
	_, err := o.deed.act(t.Context(), o.lab.open(t, o.direct, "retry"))
	after := examine(t, o.direct)
	switch {
	case code == 0 && in:
		return "the history holds it"
	case code == 4 && !in:
		return "the history does not hold it"
	case Code(err) != want:
		return fmt.Sprintf("a retry says %d (%v), want %d", Code(err), err, want)
	case after.has("r", 1) != in:
		return "it was published when it was over"
	case o.rival.act != nil && (Code(o.rivalErr) == 0) != in:
		return "the rival is wrong"
	}
	return ""
}
