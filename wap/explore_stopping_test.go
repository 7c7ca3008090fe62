package wap

import (
	"context"
	"testing"

	"github.com/wap-cli/wap/wap/store/faultstore"
)

// stopping are scenarios about a publish that others do not want.
func stopping() []scenario {
	return []scenario{
		{
			name:    "publisher × abort",
			prepare: func(k *kit) { k.passed("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.aborter("b", "r")}
			},
			crashes: 1, faults: 1, kinds: later(), faulty: "a",
		},
		{
			name:    "publisher × abort, whose writes are refused or lost",
			prepare: func(k *kit) { k.passed("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.aborter("b", "r")}
			},
			preemptions: 3,
			faults:      1, kinds: []faultstore.Kind{faultstore.FailBefore, faultstore.ActTwice}, faulty: "b",
		},
		{
			name:    "seal × abort",
			prepare: func(k *kit) { k.begin("r") },
			build: func(k *kit) []actor {
				return []actor{k.sealer("a", "r", "", "five"), k.aborter("b", "r")}
			},
			crashes: 1,
		},
		{
			name:    "publisher × 2 × abort",
			prepare: func(k *kit) { k.passed("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.publisher("b", "r", nil), k.aborter("c", "r")}
			},
			preemptions: 3,
		},
		{
			name:    "publisher × strict auditor",
			prepare: func(k *kit) { k.passed("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.auditor("b", "r", k.strict)}
			},
			crashes: 1, faults: 1, kinds: later(), faulty: "a",
		},
		{
			name:    "strict × lax auditor",
			prepare: func(k *kit) { k.sealed("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.auditor("a", "r", k.strict), k.gatekeeper("b", "r")}
			},
			crashes: 1,
		},
		{
			name:    "publisher × strict auditor × strict auditor",
			prepare: func(k *kit) { k.passed("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.auditor("b", "r", k.strict), k.auditor("c", "r", k.strict)}
			},
			preemptions: 3,
		},
		{
			name:    "abort × abort",
			prepare: func(k *kit) { k.passed("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.aborter("a", "r"), k.aborter("b", "r")}
			},
			crashes: 1,
		},
	}
}

func TestExploreStopping(t *testing.T) { exploreAll(t, stopping()) }

// redoing are scenarios about generations.
func redoing() []scenario {
	second := RedoRequest{Run: "r", Generation: 2}
	return []scenario{
		{
			name:    "publisher × reject × redo",
			prepare: func(k *kit) { k.passed("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.auditor("b", "r", k.strict), k.redoer("c", second)}
			},
			preemptions: 3,
		},
		{
			name:    "redo × run on the same partition",
			prepare: func(k *kit) { k.rejected("r", "five"); k.passed("s", "other") },
			build: func(k *kit) []actor {
				return []actor{k.anew("a", "r", "more"), k.publisher("b", "s", nil)}
			},
			preemptions: 3,
			crashes:     1,
		},
		{
			name:    "redo × zombie seal of the older generation",
			prepare: func(k *kit) { k.begin("r") },
			build: func(k *kit) []actor {
				return []actor{k.sealer("a", "r", "", "five"), k.givenUp("b", "r", "more")}
			},
			preemptions: 2,
			faults:      1, kinds: later(), faulty: "a",
		},
		{
			name:    "redo × late publisher of the older generation",
			prepare: func(k *kit) { k.passed("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.givenUp("b", "r", "more")}
			},
			preemptions: 2,
			faults:      1, kinds: later(), faulty: "a",
		},
		{
			name:    "redo × redo",
			prepare: func(k *kit) { k.rejected("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.redoer("a", second), k.redoer("b", second)}
			},
			crashes: 1,
			check: func(t *testing.T, _ *execution, w *world) {
				if g := w.records["r"].Generation; g > 2 {
					t.Fatalf("generation %d was opened", g)
				}
			},
		},
		{
			name:    "redo × redo and publish",
			prepare: func(k *kit) { k.published("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.redoer("a", second), k.anew("b", "r", "more")}
			},
			preemptions: 3,
			crashes:     1,
			check: func(t *testing.T, _ *execution, w *world) {
				if g := w.records["r"].Generation; g > 2 {
					t.Fatalf("generation %d was opened", g)
				}
			},
		},
		{
			name:    "redo with the kept pin × other run",
			prepare: func(k *kit) { k.rejected("r", "five"); k.passed("s", "other") },
			build: func(k *kit) []actor {
				keep := second
				keep.KeepPin = true
				return []actor{k.redone("a", keep, "more"), k.publisher("b", "s", nil)}
			},
			check: func(t *testing.T, _ *execution, w *world) {
				if w.has("r", 2) && w.has("s", 1) {
					t.Fatal("both began with the same base and replaced the same partition")
				}
			},
		},
	}
}

func TestExploreRedoing(t *testing.T) { exploreAll(t, redoing()) }

// redone begins generation 2 and sees it through.
func (k *kit) redone(name string, req RedoRequest, output string) actor {
	req.Reason = "fix"
	return actor{name: name, act: func(ctx context.Context, c *caller) {
		if c.redo(ctx, req) && c.seal(ctx, req.Run, "", output) {
			c.publish(ctx, req.Run, k.lax)
		}
	}}
}

func (k *kit) anew(name, run, output string) actor {
	return k.redone(name, RedoRequest{Run: run, Generation: 2}, output)
}

// givenUp aborts generation 1 and sees generation 2 through.
func (k *kit) givenUp(name, run, output string) actor {
	abort, redo := k.aborter(name, run), k.anew(name, run, output)
	return actor{name: name, act: func(ctx context.Context, c *caller) {
		abort.act(ctx, c)
		redo.act(ctx, c)
	}}
}
