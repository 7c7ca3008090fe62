package wap

import (
	"context"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// TestRefusedBeginLeavesNothing: a begin that can never be right writes no key.
func TestRefusedBeginLeavesNothing(t *testing.T) {
	const p = "orders/dt=1"
	one := []manifest.InputSource{{Source: "raw/dt=1"}}
	for name, c := range map[string]struct {
		req  BeginRequest
		code int
	}{
		"a task outside the list":  {BeginRequest{Scope: []string{p}, Tasks: []string{"a"}, Task: "b"}, 2},
		"an input twice":           {BeginRequest{Scope: []string{p}, Inputs: []manifest.InputSource{{Source: "file:///a"}, {Source: "file:///a"}}}, 2},
		"two inputs of one name":   {BeginRequest{Scope: []string{p}, Inputs: []manifest.InputSource{{Name: "x", Source: "file:///a"}, {Name: "x", Source: "file:///b"}}}, 2},
		"an input that is missing": {BeginRequest{Scope: []string{p}, Inputs: one}, 8},
		"an unknown tag":           {BeginRequest{Scope: []string{p}, Inputs: []manifest.InputSource{{Source: "orders@nope"}}}, 2},
		"replace scope, append":    {BeginRequest{Scope: []string{p}, ReplaceScope: true, Mode: manifest.ModeAppend}, 2},
		"no scope":                 {BeginRequest{}, 2},
		"a scope without table":    {BeginRequest{Scope: []string{"*"}}, 2},
	} {
		l := newLab(t)
		before := l.keys()
		c.req.Run = "r"
		_, err := l.open().Begin(context.Background(), c.req)
		if Code(err) != c.code {
			t.Errorf("%s: exit %d, want %d: %v", name, Code(err), c.code, err)
		}
		if got := l.keys(); got != before {
			t.Errorf("%s left keys behind:\n%s", name, got)
		}
	}
}

// TestInputsOfATaskNeverChange: what an attempt was given, every later attempt of
// the task is given, whatever it asks for.
func TestInputsOfATaskNeverChange(t *testing.T) {
	_, x := landingFolder(t, "a.csv")
	_, y := landingFolder(t, "b.csv", "c.csv")
	sources := func(url string) []manifest.InputSource {
		if url == "" {
			return nil
		}
		return []manifest.InputSource{{Source: url}}
	}
	for name, c := range map[string]struct {
		tasks         []string
		first, second string
	}{
		"one task, another input":         {nil, x, y},
		"one task, an input after none":   {nil, "", y},
		"one of many, another input":      {[]string{"a", "b"}, x, y},
		"one of many, an input late":      {[]string{"a", "b"}, "", y},
		"one of many, the run's, then no": {[]string{"a", "b"}, x, y},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			req := BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}, Tasks: c.tasks, Inputs: sources(c.first)}
			if c.tasks != nil {
				req.Task = c.tasks[0]
			}
			first := l.begin(req)
			req.Inputs = sources(c.second)
			_, err := l.open().Begin(context.Background(), req)
			wantCode(t, err, 2)
			req.Inputs = nil
			if again := l.begin(req); again.Inputs != first.Inputs {
				t.Fatalf("given %+v, then %+v", first.Inputs, again.Inputs)
			}
		})
	}
}

// TestTasksMayReadInputsOfTheirOwn: and then keep to them.
func TestTasksMayReadInputsOfTheirOwn(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	_, x := landingFolder(t, "a.csv")
	_, y := landingFolder(t, "b.csv", "c.csv")
	req := BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}, Tasks: []string{"a", "b"}, Task: "a", Inputs: []manifest.InputSource{{Source: x}}}
	if b := l.begin(req); b.Inputs.Objects != 1 {
		t.Fatalf("task a is given %+v", b.Inputs)
	}
	own := BeginRequest{Run: "r", Task: "b", Inputs: []manifest.InputSource{{Source: y}}}
	first := l.begin(own)
	if first.Inputs.Objects != 2 {
		t.Fatalf("task b is given %+v", first.Inputs)
	}
	// The run's inputs are not b's any more.
	own.Inputs = req.Inputs
	_, err := l.open().Begin(ctx, own)
	wantCode(t, err, 2)
	own.Inputs = nil
	if again := l.begin(own); again.Inputs != first.Inputs {
		t.Fatalf("given %+v, then %+v", first.Inputs, again.Inputs)
	}
}

// TestSealOfAnAbortedRun: an attempt that had sealed before is told that its
// output will never be published.
func TestSealOfAnAbortedRun(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	b := l.begin(BeginRequest{Run: "r", Scope: []string{p}})
	req := StageRequest{Run: "r", Attempt: b.Attempt, Partition: p, Files: []string{l.file("p.parquet", orders(1, 3))}}
	_, err := l.open().Stage(ctx, req)
	wantCode(t, err, 0)
	_, err = l.open().Stage(ctx, req) // its answer was lost: the seal stands
	wantCode(t, err, 0)
	_, err = l.open().Abort(ctx, "r", "no")
	wantCode(t, err, 0)
	_, err = l.open().Stage(ctx, req)
	wantCode(t, err, 4)
	_, err = l.open().Seal(ctx, SealRequest{Run: "r", Attempt: b.Attempt})
	wantCode(t, err, 4)
	// Nor is an attempt of a generation that is over taken for one of the next.
	_, err = l.open().Redo(ctx, RedoRequest{Run: "r", Reason: "again"})
	wantCode(t, err, 0)
	_, err = l.open().Stage(ctx, req)
	wantCode(t, err, 4)
}

func TestRedoRefusesBeforeItWrites(t *testing.T) {
	ctx := context.Background()
	l := newLab(t)
	l.begin(BeginRequest{Run: "r", Scope: []string{"orders/dt=1"}, Tasks: []string{"a", "b"}})
	_, err := l.open().Abort(ctx, "r", "no")
	wantCode(t, err, 0)
	before := l.keys()
	for name, req := range map[string]RedoRequest{
		"no reason":        {Run: "r"},
		"no such task":     {Run: "r", Reason: "x", Tasks: []string{"c"}},
		"a pin to keep":    {Run: "r", Reason: "x", KeepPin: true},
		"a far generation": {Run: "r", Reason: "x", Generation: 7},
	} {
		if _, err := l.open().Redo(ctx, req); Code(err) != 2 {
			t.Errorf("%s: %v", name, err)
		}
		if got := l.keys(); got != before {
			t.Errorf("%s left keys behind:\n%s", name, got)
		}
	}
	// One task named twice is one task.
	_, err = l.open().Redo(ctx, RedoRequest{Run: "r", Reason: "x", Tasks: []string{"b", "b"}})
	wantCode(t, err, 0)
}

// TestRedoOfARunThatNeverOpened: every generation finds its base.
func TestRedoOfARunThatNeverOpened(t *testing.T) {
	l := newLab(t)
	ctx := context.Background()
	const p = "orders/dt=1"
	w := l.open()
	req, err := w.checkBegin(BeginRequest{Run: "r", Scope: []string{p}})
	wantCode(t, err, 0)
	wantCode(t, w.createRun(ctx, req), 0) // and the process is killed
	s, err := l.open().Abort(ctx, "r", "no")
	wantCode(t, err, 0)
	if s.State != manifest.StateAborted {
		t.Fatalf("%s", s.State)
	}
	_, err = l.open().Redo(ctx, RedoRequest{Run: "r", Reason: "again"})
	wantCode(t, err, 0)
	r := l.must(step{run: "r", partition: p, rows: orders(1, 3)})
	if r.Generation != 2 || r.Status != StatusPublished {
		t.Fatalf("generation %d is %s", r.Generation, r.Status)
	}
	if w := examine(t, l.store); w.published["r"][0] != 2 {
		t.Fatalf("published %v", w.published)
	}
}
