package wap

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/manifest"
	"github.com/wap-cli/wap/wap/store"
)

// related are rules that read another table.
const related = "version: 1\nchecks:\n  - relationships: { columns: [id], to: { table: people } }\n"

// ready leaves a run of a table one swap away from being published.
func (k *kit) ready(run, output string, rules *audit.Rules) {
	k.t.Helper()
	ctx, w := context.Background(), k.lab.open()
	scope := "people/*"
	if output == "five" {
		scope = "orders/*"
	}
	_, err := w.Begin(ctx, BeginRequest{Run: run, Scope: []string{scope}})
	wantCode(k.t, err, 0)
	_, err = w.Stage(ctx, StageRequest{Run: run, Dir: filepath.Join(k.data, output)})
	wantCode(k.t, err, 0)
	k.audit(run, rules, 0)
}

// comparing are scenarios about what an audit read of others: write skew.
func comparing() []scenario {
	parents := func(k *kit) {
		k.ready("old", "people", k.lax)
		k.publish("old")
		k.ready("r", "five", k.lab.rules(related))
	}
	return []scenario{
		{
			name:    "children × other parents",
			prepare: func(k *kit) { parents(k); k.ready("s", "fewer people", k.lax) },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", k.lab.rules(related)), k.publisher("b", "s", nil)}
			},
			preemptions: 4,
			crashes:     1, faults: 1, kinds: later(),
			check: func(t *testing.T, _ *execution, w *world) {
				if at := chained(w.chain, "s", 1); at != 0 && chained(w.chain, "r", 1) > at {
					t.Fatal("children are published after their parents have gone")
				}
			},
		},
		{
			name:    "children × more parents × other parents",
			prepare: func(k *kit) { parents(k); k.ready("s", "fewer people", k.lax); k.ready("u", "more people", k.lax) },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", k.lab.rules(related)), k.publisher("b", "s", nil), k.publisher("c", "u", nil)}
			},
			preemptions: 2,
		},
	}
}

func TestExploreComparing(t *testing.T) { exploreAll(t, comparing()) }

// examineReads asserts that what evidence was compared with was still so in the
// state that its run was published on.
func examineReads(t *testing.T, st store.Store, tree *manifest.Ref, ev *Evidence) {
	t.Helper()
	for _, r := range ev.Reads {
		if r.Baseline != nil {
			continue // what a baseline picks has tests of its own
		}
		if now := nodeAt(t, st, tree, r.Path); !slices.Equal(now, r.Found) {
			t.Fatalf("%s was judged beside %v at %s, and published beside %v", names(ev.Run, ev.Generation), r.Found, r.Path, now)
		}
	}
}

// nodeAt is what stands under a path: one reference, or none.
func nodeAt(t *testing.T, st store.Store, tree *manifest.Ref, path string) []manifest.Ref {
	t.Helper()
	at := tree
	for name := range strings.SplitSeq(path, "/") {
		if at == nil {
			return nil
		}
		node := new(manifest.Tree)
		readRef(t, st, *at, node)
		i := slices.IndexFunc(node.Entries, func(e manifest.TreeEntry) bool { return e.Name == name })
		if at = nil; i >= 0 {
			at = &node.Entries[i].Ref
		}
	}
	if at == nil {
		return nil
	}
	return []manifest.Ref{*at}
}
