package wap

import (
	"fmt"
	"testing"

	"github.com/wap-cli/wap/wap/store/faultstore"
)

// fewSchedules is how many random schedules a plain test run takes: `make test`
// and `make fuzz` take more.
const fewSchedules = 2000

// anything is every way in which a write can go wrong.
func anything() []faultstore.Kind {
	return []faultstore.Kind{
		faultstore.FailBefore, faultstore.FailAfter, faultstore.ActLater, faultstore.ActTwice,
		faultstore.ActRefused, faultstore.NoVersion, faultstore.HollowSuccess,
	}
}

// crowds are four clients each, too many for every interleaving.
func crowds() []scenario {
	all := []scenario{
		{
			name:    "publisher × strict auditor × abort × redo",
			prepare: func(k *kit) { k.passed("r", "five") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.auditor("b", "r", k.strict), k.aborter("c", "r"), k.anew("d", "r", "more")}
			},
		},
		{
			name:    "two publishers × two runs × a reader",
			prepare: func(k *kit) { k.passed("r", "both"); k.passed("s", "next") },
			build: func(k *kit) []actor {
				return []actor{k.publisher("a", "r", nil), k.publisher("b", "r", nil), k.publisher("c", "s", nil), k.reader("d", 4)}
			},
		},
		{
			name:    "two tasks × two audits and publishes",
			prepare: func(k *kit) { k.begin("r", "0", "1") },
			build: func(k *kit) []actor {
				return []actor{k.finisher("a", "r", "0", "five"), k.finisher("b", "r", "1", "more"), k.gatekeeper("c", "r"), k.gatekeeper("d", "r")}
			},
		},
		{
			name: "whole step twice × another run × abort",
			build: func(k *kit) []actor {
				return []actor{k.stepper("a", "r", "five", ""), k.stepper("b", "r", "five", ""), k.stepper("c", "s", "other", ""), k.aborter("d", "r")}
			},
		},
		{
			name:    "append × append × append × redo of one",
			prepare: func(k *kit) { k.appending("old"); k.seal("old", "", "most"); k.publish("old") },
			build: func(k *kit) []actor {
				return []actor{
					k.stepper("a", "r", "five", "append"), k.stepper("b", "s", "more", "append"),
					k.stepper("c", "r", "five", "append"), k.anew("d", "old", "most"),
				}
			},
		},
	}
	for i := range all {
		all[i].faults, all[i].kinds, all[i].crashes = 2, anything(), 2
	}
	return all
}

// TestExploreRandom draws schedules; with -explore.n as many as are wanted.
func TestExploreRandom(t *testing.T) {
	n := *exploreN
	if n == 0 {
		n = fewSchedules
	}
	all := crowds()
	t.Cleanup(func() { t.Logf("%d schedules of four clients, seed %d", n, *exploreSeed) })
	for i, sc := range all {
		// In parts, so that all processors are at work to the end.
		share := n*(i+1)/len(all) - n*i/len(all)
		for from := 0; from < share; from += partOfSchedules {
			to := min(from+partOfSchedules, share)
			t.Run(fmt.Sprintf("%s/from %d", sc.name, from), func(t *testing.T) {
				t.Parallel()
				wanderMany(t, sc, from, to)
			})
		}
	}
}

const partOfSchedules = 2500
