package audit

import (
	"context"
	"fmt"
	"testing"
)

// panicking is an assertion with a mistake in one of its steps.
type panicking struct {
	step string
	slot int
}

func (a *panicking) at(step string) {
	if a.step == step {
		panic("a mistake in " + step)
	}
}

func (a *panicking) trust(*unit) state { a.at("trust"); return nil }

func (a *panicking) open(*unit) state { a.at("open"); return a }
func (a *panicking) add(*view)        { a.at("add") }
func (a *panicking) merge(state)      { a.at("merge") }

func (a *panicking) finish(ctx context.Context, p *judgement) verdict {
	a.at("finish")
	_ = p.rescan(ctx, p.units(), []int{a.slot}, pass{
		open: func(*unit) state { a.at("open again"); return a },
		take: func(state) { a.at("take") },
	})
	return verdict{holds: true}
}

// A mistake of the program reaches the caller of Run, who may have a commit to
// tell of, from whatever goroutine.
func TestPanicsAreCarried(t *testing.T) {
	parts := make([]Partition, 6)
	for i := range parts {
		parts[i] = Partition{Files: []File{manyGroups(t, "a", 4, 20, 3)}}
		parts[i].Table, parts[i].Path = "t", fmt.Sprintf("t/k=%d", i)
	}
	for _, step := range []string{"trust", "open", "add", "merge", "finish", "open again", "take"} {
		c := mustParse(t, checks("not_null: id"))
		broken := *c.checks[0].kind
		broken.bind = func(_ *Check, b *binding) (assertion, error) {
			slot, _, err := b.column("id", true)
			return &panicking{step: step, slot: slot}, err
		}
		c.checks[0].kind = &broken
		func() {
			defer func() {
				if v := recover(); v != "a mistake in "+step {
					t.Errorf("%s: caught %v", step, v)
				}
			}()
			_, err := Run(context.Background(), &Rules{Default: c, TrustFooter: true}, parts, Options{Now: testNow(), Parallel: 2})
			t.Errorf("%s: no panic, error %v", step, err)
		}()
	}
}
