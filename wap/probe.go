package wap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"golang.org/x/sync/errgroup"

	"github.com/wap-cli/wap/wap/store"
)

// probePrefix is where probes write; each has a folder of its own in it.
const probePrefix = "_wap/probe/"

// staleProbe is how old a probe's folder is before another probe removes it. It
// tidies only: no probe runs that long.
const staleProbe = time.Hour

// CheckOutcome is what a check of the store came to.
type CheckOutcome string

// The outcomes of checks. A store with a broken one is refused.
const (
	CheckOK      CheckOutcome = "ok"
	CheckInfo    CheckOutcome = "info"
	CheckWarning CheckOutcome = "warning"
	CheckBroken  CheckOutcome = "broken"
)

// StoreCheck is one thing that was found out about a store.
type StoreCheck struct {
	Name     string       `json:"name"`
	Outcome  CheckOutcome `json:"outcome"`
	Observed string       `json:"observed"` // what the store did
}

// depth is how much a probe asks.
type depth struct {
	keys   int // that are created twice: stores with two halves overwrite in one
	rounds int // of races
	racers int // in each
}

// probeDepth is deep for doctor and for stores in which keys may differ, and
// short where one file system serves all: its calls differ in no key.
func (w *Warehouse) probeDepth(quick bool) depth {
	switch {
	case w.cfg.Location.Scheme == store.SchemeFile && quick:
		return depth{keys: 2, rounds: 1, racers: 4}
	case w.cfg.Location.Scheme == store.SchemeFile:
		return depth{keys: 8, rounds: 2, racers: 24}
	case quick:
		return depth{keys: 32, rounds: 1, racers: 10} // 133 requests with the rest
	}
	return depth{keys: 40, rounds: 4, racers: 24}
}

// probe finds out what a store really does. Its objects have names of their own
// and are removed at the end; what a killed probe leaves, the next one removes.
type probe struct {
	w      *Warehouse
	prefix string // ends in a slash
	depth  depth
	checks []StoreCheck
	keys   []string // created, or perhaps
}

func (w *Warehouse) newProbe(d depth) *probe {
	return &probe{w: w, depth: d, prefix: probePrefix + w.cfg.NewID() + "/"}
}

// key makes a name that nobody has used. It is removed at the end.
func (p *probe) key(name string) string {
	key := p.prefix + name
	p.keys = append(p.keys, key)
	return key
}

func (p *probe) found(name string, outcome CheckOutcome, format string, args ...any) {
	p.checks = append(p.checks, StoreCheck{name, outcome, fmt.Sprintf(format, args...)})
}

// require records a check that the protocol depends on: what went wrong, or
// what was seen to be right.
func (p *probe) require(name string, wrong []string, right string, args ...any) {
	if len(wrong) == 0 {
		p.found(name, CheckOK, right, args...)
		return
	}
	var different []string // how often it went wrong is chance
	for _, text := range wrong {
		if !slices.Contains(different, text) {
			different = append(different, text)
		}
	}
	text := different[0]
	if n := len(different) - 1; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	p.found(name, CheckBroken, "%s", text)
}

// broken is the refusal of a store, or nil.
func (p *probe) broken() error {
	for _, c := range p.checks {
		if c.Outcome == CheckBroken {
			return failf(KindStoreBroken, "the store at %s is refused: %s: %s", p.w.cfg.Location, c.Name, c.Observed).
				hint("wap needs conditional writes that hold; `wap doctor -w %s` shows all that this store does", p.w.cfg.Location)
		}
	}
	return nil
}

// probeStore is what init asks before it trusts a store.
func (w *Warehouse) probeStore(ctx context.Context) error {
	p := w.newProbe(w.probeDepth(true))
	err := p.conditions(ctx)
	if clean := p.clean(ctx); err == nil && clean != nil {
		w.notify(Warning, "remove what the probe wrote: "+clean.Error(), "wap doctor -w "+w.cfg.Location.String())
	}
	if err != nil {
		return err
	}
	return p.broken()
}

// conditions checks everything that the commit protocol depends on.
func (p *probe) conditions(ctx context.Context) error {
	for _, check := range []func(context.Context) error{
		p.createAgain, p.createRace, p.swaps, p.swapRace, p.pinned, p.deletes,
	} {
		if err := check(ctx); err != nil {
			if errors.Is(err, store.ErrUnsupported) {
				p.found("conditional writes", CheckBroken, "the store does not take them: %s", err)
			}
			if p.broken() != nil {
				return nil // what is known is enough, and may be the reason
			}
			return outside("probe the store at %s", p.w.cfg.Location).because(err)
		}
	}
	return nil
}

// settled repeats a write whose outcome is unknown, which says nothing about
// conditions. The write may then meet its own earlier self: repeated says so.
func settled(ctx context.Context, write func() error) (repeated bool, err error) {
	for i := range sends {
		if err = write(); err == nil || store.Refused(err) && !errors.Is(err, store.ErrNotSent) || errors.Is(err, store.ErrForbidden) {
			return i > 0, err
		}
		if pause(ctx, i) != nil {
			break
		}
	}
	return true, err
}

// definite reports whether err is a refusal that says something about
// conditions; what else went wrong is for the caller to pass on.
func definite(err error) bool {
	return errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrVersionMismatch) || errors.Is(err, store.ErrNotFound)
}

// clean removes everything that this probe wrote, and what killed ones left. It
// works on when ctx is over: nobody comes back for a probe's objects soon.
func (p *probe) clean(ctx context.Context) error {
	ctx, cancel := graced(ctx, p.w.cfg.CommitTimeout)
	defer cancel()
	errs := make([]error, len(p.keys))
	var deletes errgroup.Group
	deletes.SetLimit(p.w.cfg.Parallel)
	for i, key := range p.keys {
		deletes.Go(func() error { errs[i] = p.w.cfg.Store.Delete(ctx, key); return nil })
	}
	_ = deletes.Wait()
	all := errors.Join(errs...)
	for e, err := range p.w.cfg.Store.List(ctx, probePrefix) {
		if err != nil {
			return errors.Join(all, err)
		}
		folder, _, _ := strings.Cut(strings.TrimPrefix(e.Key, probePrefix), "/")
		id, err := ulid.ParseStrict(folder)
		old := err == nil && p.w.cfg.Now().Sub(ulid.Time(id.Time())) > staleProbe
		if strings.HasPrefix(e.Key, p.prefix) || old {
			all = errors.Join(all, p.w.cfg.Store.Delete(ctx, e.Key))
		}
	}
	return errors.Join(all, p.removeFolder())
}

// removeFolder removes what is no object: the lock of a local folder, which
// outlives the objects, and the folders above, if nothing else is in them.
func (p *probe) removeFolder() error {
	dir := p.w.cfg.Location.Path(p.prefix)
	if dir == "" {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for range strings.Count(probePrefix, "/") {
		if dir = filepath.Dir(dir); os.Remove(dir) != nil {
			break // others use it
		}
	}
	return nil
}
