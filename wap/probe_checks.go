package wap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/wap/store"
)

// again is what became of one key that was created twice.
type again struct {
	refused   string // why the first was, if it was
	overwrote bool   // by the second
	lost      string // what a read after both got wrong
	err       error  // which says nothing about conditions
}

// createAgain creates keys, and creates each once more. Where the store is made
// of several, it may know of a key in one and write it into another: one key in
// two, at worst, tells nothing.
func (p *probe) createAgain(ctx context.Context) error {
	found := make([]again, p.depth.keys)
	var all errgroup.Group
	all.SetLimit(p.w.cfg.Parallel)
	for i := range found {
		key := p.key(fmt.Sprintf("again-%02d", i))
		read := p.thorough() || i == 0 // one is enough to see that reads follow writes
		all.Go(func() error { found[i] = p.createTwice(ctx, key, read); return nil })
	}
	_ = all.Wait() // each has its own error
	var wrong, lost []string
	overwritten := 0
	for _, a := range found {
		switch {
		case a.err != nil:
			return a.err
		case a.refused != "":
			wrong = append(wrong, "the store refused to create a key that did not exist: "+a.refused)
		case a.overwrote:
			overwritten++
		}
		if a.lost != "" {
			lost = append(lost, a.lost)
		}
	}
	if overwritten > 0 {
		wrong = append(wrong, fmt.Sprintf("If-None-Match is ignored: %s of existing keys succeeded", share(overwritten, p.depth.keys, "create")))
	}
	p.require("create again", wrong, "%d of %d creates of existing keys were refused", p.depth.keys, p.depth.keys)
	p.require("read after write", lost, "every write was read back")
	return p.listed(ctx)
}

func (p *probe) createTwice(ctx context.Context, key string, read bool) (a again) {
	first, second := []byte("first "+key), []byte("second "+key)
	repeated, err := settled(ctx, func() error { _, err := p.w.cfg.Store.Create(ctx, key, first); return err })
	switch {
	case err == nil, repeated && errors.Is(err, store.ErrExists):
	case definite(err):
		return again{refused: err.Error()}
	default:
		return again{err: err}
	}
	_, err = settled(ctx, func() error { _, err := p.w.cfg.Store.Create(ctx, key, second); return err })
	switch {
	case err == nil:
		a.overwrote = true
	case !errors.Is(err, store.ErrExists):
		return again{err: err}
	}
	if !read {
		return a
	}
	body, _, err := p.w.cfg.Store.Get(ctx, key)
	switch {
	case errors.Is(err, store.ErrNotFound):
		a.lost = "a read right after the write says that there is nothing"
	case err != nil:
		a.err = err
	case !a.overwrote && !bytes.Equal(body, first):
		a.lost = "a read right after the write shows other bytes"
	}
	return a
}

// share counts without the exact number, which differs from probe to probe on
// stores that differ from key to key.
func share(n, all int, what string) string {
	switch n {
	case all:
		return "all " + what + "s"
	case 1:
		return "a " + what
	}
	return "some " + what + "s"
}

func (p *probe) thorough() bool { return p.depth.rounds > 1 }

// listed checks that a listing shows what was just written.
func (p *probe) listed(ctx context.Context) error {
	var keys, missing []string
	for e, err := range p.w.cfg.Store.List(ctx, p.prefix+"again-") {
		if err != nil {
			return err
		}
		keys = append(keys, e.Key)
	}
	for _, key := range p.keys {
		if !slices.Contains(keys, key) {
			missing = append(missing, "a listing right after the write does not show "+strings.TrimPrefix(key, p.prefix))
		}
	}
	p.require("list after write", missing, "every write was listed")
	order := "sorted by key"
	if !slices.IsSorted(keys) {
		order = "not sorted; wap sorts for itself"
	}
	p.found("list order", CheckInfo, "%s", order)
	return nil
}

// race runs writes at once and returns those that were acknowledged, and the
// first error that says nothing about conditions.
func race(n int, write func(i int) error) (winners []int, err error) {
	errs := make([]error, n)
	start := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { <-start; errs[i] = write(i) })
	}
	close(start)
	all.Wait()
	for i, e := range errs {
		switch {
		case e == nil:
			winners = append(winners, i)
		case !definite(e) && err == nil:
			err = e
		}
	}
	return winners, err
}

// judgeRace is what is wrong with a race's end, if anything: more than one
// winner, or other bytes than the winner's. Answers that say nothing are fine as
// long as one write stands.
func (p *probe) judgeRace(ctx context.Context, key string, winners []int, body func(i int) []byte) (string, error) {
	if len(winners) > 1 {
		return fmt.Sprintf("several of %d writes at the same time succeeded, where one can", p.depth.racers), nil
	}
	standing, _, err := p.w.cfg.Store.Get(ctx, key)
	if err != nil {
		return "", err
	}
	if len(winners) == 1 && !bytes.Equal(standing, body(winners[0])) {
		return "the write that was acknowledged was overwritten", nil
	}
	return "", nil
}

func (p *probe) createRace(ctx context.Context) error {
	var wrong []string
	for round := range p.depth.rounds {
		key := p.key(fmt.Sprintf("race-%02d", round))
		body := func(i int) []byte { return fmt.Appendf(nil, "racer %d of %s", i, key) }
		winners, err := race(p.depth.racers, func(i int) error {
			_, err := p.w.cfg.Store.Create(ctx, key, body(i))
			return err
		})
		if len(winners) == 0 && err != nil {
			return err
		}
		problem, err := p.judgeRace(ctx, key, winners, body)
		if err != nil {
			return err
		}
		if problem != "" {
			wrong = append(wrong, problem)
		}
	}
	p.require("create race", wrong, "one of %d creates at the same time succeeded", p.depth.racers)
	return nil
}

// swaps replaces an object with its right version, and tries wrong ones.
func (p *probe) swaps(ctx context.Context) error {
	st := p.w.cfg.Store
	key, absent := p.key("swap"), p.key("absent")
	bodies := [][]byte{[]byte("one"), []byte("two"), []byte("never")}
	_, err := settled(ctx, func() error { _, err := st.Create(ctx, key, bodies[0]); return err })
	if err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	_, old, err := st.Get(ctx, key)
	if err != nil {
		return err
	}
	var wrong []string
	repeated, err := settled(ctx, func() error { _, err := st.Swap(ctx, key, old, bodies[1]); return err })
	switch {
	case err == nil, repeated && errors.Is(err, store.ErrVersionMismatch):
	case definite(err):
		wrong = append(wrong, "the store refused to replace an object under its right version: "+err.Error())
	default:
		return err
	}
	for _, try := range []struct {
		key  string
		v    store.Version
		what string
	}{
		{key, old, "a version that is gone"},
		{key, store.Version{ETag: `"00000000000000000000000000000000"`}, "a version that never was"},
		{absent, old, "an object that is not there"},
	} {
		_, err := settled(ctx, func() error { _, err := st.Swap(ctx, try.key, try.v, bodies[2]); return err })
		switch {
		case err == nil:
			wrong = append(wrong, "If-Match is ignored: a replacement of "+try.what+" succeeded")
		case !definite(err):
			return err
		}
	}
	p.require("swap", wrong, "replaced under the right version; refused under old, wrong and missing ones")
	return nil
}

// swapRace lets several replace the same version at once.
func (p *probe) swapRace(ctx context.Context) error {
	key := p.key("swap-race")
	_, err := settled(ctx, func() error { _, err := p.w.cfg.Store.Create(ctx, key, []byte("start")); return err })
	if err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	var wrong []string
	for round := range p.depth.rounds {
		_, v, err := p.w.cfg.Store.Get(ctx, key)
		if err != nil {
			return err
		}
		body := func(i int) []byte { return fmt.Appendf(nil, "racer %d of round %d", i, round) }
		winners, err := race(p.depth.racers, func(i int) error {
			_, err := p.w.cfg.Store.Swap(ctx, key, v, body(i))
			return err
		})
		if len(winners) == 0 && err != nil {
			return err
		}
		problem, err := p.judgeRace(ctx, key, winners, body)
		if err != nil {
			return err
		}
		if problem != "" {
			wrong = append(wrong, problem)
		}
	}
	p.require("swap race", wrong, "one of %d replacements of one version at the same time succeeded", p.depth.racers)
	return nil
}

// pinned reads a version that was replaced since: never the new bytes.
func (p *probe) pinned(ctx context.Context) error {
	if !p.thorough() || p.broken() != nil {
		return nil // every read checks what it got
	}
	st, key := p.w.cfg.Store, p.key("pin")
	_, err := settled(ctx, func() error { _, err := st.Create(ctx, key, []byte("pinned")); return err })
	if err != nil && !errors.Is(err, store.ErrExists) {
		return err
	}
	_, old, err := st.Get(ctx, key)
	if err != nil {
		return err
	}
	_, err = settled(ctx, func() error { _, err := st.Swap(ctx, key, old, []byte("newer!")); return err })
	if err != nil && !errors.Is(err, store.ErrVersionMismatch) {
		return err
	}
	r, err := st.GetRange(ctx, key, 0, 6, old)
	if errors.Is(err, store.ErrVersionMismatch) {
		p.found("version pins", CheckOK, "a read of a version that was replaced is refused")
		return nil
	}
	if err != nil {
		return err
	}
	body, err := io.ReadAll(r)
	r.Close()
	switch {
	case errors.Is(err, store.ErrVersionMismatch):
		p.found("version pins", CheckOK, "a read of a version that was replaced is refused")
	case err != nil:
		return err
	case string(body) == "pinned":
		p.found("version pins", CheckOK, "a version that was replaced can still be read")
	default:
		p.found("version pins", CheckBroken, "a read of a version that was replaced shows %q", body)
	}
	return nil
}

// deletes: what was deleted is gone, and an absent key is no error.
func (p *probe) deletes(ctx context.Context) error {
	if !p.thorough() || p.broken() != nil {
		return nil
	}
	st, key := p.w.cfg.Store, p.prefix+"again-00"
	for range 2 {
		if err := st.Delete(ctx, key); err != nil {
			return err
		}
	}
	var wrong []string
	switch _, _, err := st.Get(ctx, key); {
	case err == nil:
		wrong = append(wrong, "an object that was deleted can still be read")
	case !errors.Is(err, store.ErrNotFound):
		return err
	}
	p.require("delete", wrong, "gone at once; again is no error")
	return nil
}
