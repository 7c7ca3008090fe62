package wap

import (
	"context"
	"testing"

	"github.com/wap-cli/wap/manifest"
)

// freezing are scenarios about which seals a candidate holds.
func freezing() []scenario {
	return []scenario{
		{
			name:    "seal × freeze",
			prepare: func(k *kit) { k.begin("r") },
			build: func(k *kit) []actor {
				return []actor{k.sealer("a", "r", "", "five"), k.auditor("b", "r", k.lax)}
			},
			preemptions: 3,
			crashes:     1, faults: 1, kinds: later(),
		},
		{
			name:    "seal × audit+publish",
			prepare: func(k *kit) { k.begin("r") },
			build: func(k *kit) []actor {
				return []actor{k.sealer("a", "r", "", "five"), k.gatekeeper("b", "r")}
			},
			preemptions: 3,
		},
		{
			name:    "seal × audit+publish × audit+publish",
			prepare: func(k *kit) { k.begin("r") },
			build: func(k *kit) []actor {
				return []actor{k.sealer("a", "r", "", "five"), k.gatekeeper("b", "r"), k.gatekeeper("c", "r")}
			},
			preemptions: 3,
		},
		{
			name:    "one task sealed twice × audit+publish",
			prepare: func(k *kit) { k.begin("r") },
			build: func(k *kit) []actor {
				return []actor{k.sealer("a", "r", "", "five"), k.sealer("b", "r", "", "other"), k.gatekeeper("c", "r")}
			},
			preemptions: 3,
		},
		{
			name:    "two last sealers",
			prepare: func(k *kit) { k.begin("r", "0", "1") },
			build: func(k *kit) []actor {
				return []actor{k.finisher("a", "r", "0", "five"), k.finisher("b", "r", "1", "more")}
			},
			preemptions: 3,
			crashes:     1,
		},
		{
			name:    "closing back to open × seal × two freezers",
			prepare: func(k *kit) { k.begin("r", "0", "1"); k.seal("r", "0", "five") },
			build: func(k *kit) []actor {
				return []actor{k.sealer("a", "r", "1", "more"), k.auditor("b", "r", k.lax), k.auditor("c", "r", k.lax)}
			},
			preemptions: 3,
		},
	}
}

func TestExploreFreezing(t *testing.T) { exploreAll(t, freezing()) }

// finisher seals a task, and audits and publishes if that makes the set whole.
func (k *kit) finisher(name, run, task, output string) actor {
	return actor{name: name, act: func(ctx context.Context, c *caller) {
		if c.seal(ctx, run, task, output) {
			c.publish(ctx, run, k.lax)
		}
	}}
}

// beginning are scenarios about what comes into being.
func beginning() []scenario {
	return []scenario{
		{
			name: "begin × begin",
			build: func(k *kit) []actor {
				req := BeginRequest{Run: "r", Scope: []string{"orders/*"}}
				return []actor{k.beginner("a", req), k.beginner("b", req)}
			},
			crashes: 1, faults: 1, kinds: later(),
		},
		{
			name:    "begin × begin × publisher of their input",
			prepare: func(k *kit) { k.published("old", "five"); k.passed("s", "next") },
			build: func(k *kit) []actor {
				req := BeginRequest{Run: "r", Scope: []string{"sums/*"}, Inputs: []manifest.InputSource{{Source: "orders"}}}
				return []actor{k.beginner("a", req), k.beginner("b", req), k.publisher("c", "s", nil)}
			},
			preemptions: 3,
		},
		{
			name: "whole step twice",
			build: func(k *kit) []actor {
				return []actor{k.stepper("a", "r", "five", ""), k.stepper("b", "r", "five", "")}
			},
			preemptions: 3,
		},
		{
			name: "init × init", without: true,
			build:   func(k *kit) []actor { return []actor{k.initer("a"), k.initer("b")} },
			crashes: 1, faults: 1, kinds: later(),
		},
	}
}

func TestExploreBeginning(t *testing.T) { exploreAll(t, beginning()) }
