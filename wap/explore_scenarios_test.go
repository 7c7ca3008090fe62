package wap

import (
	"testing"

	"github.com/wap-cli/wap/wap/store/faultstore"
)

// later is the worst of faults: an error now, and a write that lands at any time
// after it, or so soon that only its answer was lost.
func later() []faultstore.Kind { return []faultstore.Kind{faultstore.ActLater} }

// publishing are scenarios about who publishes what.
func publishing() []scenario {
	return []scenario{
		{
			name:    "two publishers of one run",
			prepare: func(k *kit) { k.passed("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.publisher("b", "r", nil)}
			},
			crashes: 1, faults: 1, kinds: later(),
		},
		{
			name:    "two runs on one partition",
			prepare: func(k *kit) { k.passed("r", "five"); k.passed("s", "other") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.publisher("b", "s", nil)}
			},
			crashes: 1, faults: 1, kinds: later(),
		},
		{
			name:    "two runs disjoint, and a reader",
			prepare: func(k *kit) { k.passed("r", "five"); k.passed("s", "next") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.publisher("b", "s", nil), k.reader("reader", 1)}
			},
			crashes: 1,
		},
		{
			name:    "a run of two partitions and a reader",
			prepare: func(k *kit) { k.published("old", "both"); k.passed("r", "both") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.reader("reader", 3)}
			},
			crashes: 1, faults: 1, kinds: later(),
		},
		{
			name:    "publisher × zombie write",
			prepare: func(k *kit) { k.passed("r", "five"); k.passed("s", "next") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.publisher("b", "s", nil)}
			},
			faults: 2, kinds: later(),
		},
		{
			name:    "append × append",
			prepare: func(k *kit) { k.appending("r"); k.seal("r", "", "five"); k.appending("s"); k.seal("s", "", "more") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", k.lax), k.publisher("b", "s", k.lax)}
			},
			crashes: 1,
		},
	}
}

func TestExplorePublishing(t *testing.T) { exploreAll(t, publishing()) }

// exploreAll explores scenarios side by side: with clients that are killed and
// with operations that go wrong, where a scenario has both, each by itself.
func exploreAll(t *testing.T, scenarios []scenario) {
	for _, sc := range scenarios {
		variants := map[string]scenario{"": sc}
		if sc.crashes > 0 && sc.faults > 0 {
			killed, faulty := sc, sc
			killed.faults, faulty.crashes = 0, 0
			variants = map[string]scenario{", one killed": killed, ", one write goes astray": faulty}
		}
		for with, v := range variants {
			t.Run(sc.name+with, func(t *testing.T) {
				t.Parallel()
				explore(t, v)
			})
		}
	}
}
