package audit

import (
	"context"
	"slices"
	"sync"

	"github.com/wap-cli/wap/audit/scan"
)

// maxAhead is how many row groups are fetched at once before anybody decodes
// them, however small they are.
const maxAhead = 64

// startGates are what a scan waits for at its end, the places of row groups that
// are not merged yet, and what went wrong before a row group was read.
type startGates struct {
	*sync.WaitGroup
	places chan struct{}
	panics *carried
}

// start sends units through two gates: their first bytes are fetched as far
// ahead as memory allows, and as many as there are tokens are decoded. A channel
// that is closed means that the context ended before its unit's turn, or a panic.
func (p *judgement) start(ctx context.Context, units []*unit, group startGates) []chan *reading {
	done := make([]chan *reading, len(units))
	for i := range done {
		done[i] = make(chan *reading, 1)
	}
	begun := make(chan *reading, maxAhead)
	group.Go(func() {
		defer close(begun)
		defer group.panics.catch()
		for _, u := range units {
			r := p.newReading(u)
			_ = r.prepare() // the reading will meet the error again
			if p.audit.ahead.Acquire(ctx, r.cost()) != nil {
				r.discard()
				return
			}
			if r.plan != nil {
				r.plan.Begin(ctx)
			}
			begun <- r
		}
	})
	group.Go(func() {
		i, ended := 0, false
		for r := range begun {
			select {
			case group.places <- struct{}{}:
			case <-ctx.Done():
				ended = true // without a place nothing may be merged
			}
			ended = ended || p.audit.acquire(ctx) != nil
			p.audit.ahead.Release(r.cost())
			if ended {
				r.discard()
				continue
			}
			to := done[i]
			i++
			group.Go(func() {
				defer p.audit.release()
				defer func() { to <- r }()
				defer r.panics.catch()
				r.read(ctx)
			})
		}
		for ; i < len(done); i++ {
			close(done[i])
		}
	})
	return done
}

func (p *judgement) newReading(u *unit) *reading {
	r := &reading{p: p, unit: u, trials: u.trials, broken: map[int]error{}}
	if p.audit.trustFooter {
		r.trustFooter()
	}
	return r
}

// cost is what fetching the reading's beginning counts for, in bytes or as its
// share of the requests that are under way at once: the same until it is read.
func (r *reading) cost() int64 {
	least := max(1, r.p.audit.aheadBytes/maxAhead)
	if r.plan == nil {
		return least
	}
	share := int64(r.plan.Requests()) * r.p.audit.aheadBytes / maxRequests
	return min(max(r.plan.Bytes(), least, share), r.p.audit.aheadBytes)
}

// prepare plans what is not planned yet.
func (r *reading) prepare() (err error) {
	if r.plan != nil {
		return nil
	}
	r.counted = r.countable()
	r.request, r.place = r.requested()
	r.plan, err = r.unit.file.scan.Plan(r.unit.group, r.request)
	return err
}

func (r *reading) discard() {
	if r.plan != nil {
		r.plan.Close()
		r.plan = nil
	}
}

// requested asks for each leaf once, those that are counted aside: for values if
// anybody wants them. place maps
// leaves to their position in batches.
func (r *reading) requested() (scan.Request, map[int]int) {
	file := r.unit.file
	needs := map[int]scan.Need{}
	for _, t := range r.trials {
		for _, slot := range r.p.trials[t].wants {
			if r.p.slots[slot].values && r.p.consts[slot] == nil {
				needs[file.refs[slot].Column] = scan.ReadValues
			}
		}
	}
	var req scan.Request
	for _, c := range r.counted {
		req.Counted = append(req.Counted, c.leaf)
	}
	place := map[int]int{}
	for _, leaf := range r.leaves() {
		isCounted := slices.ContainsFunc(r.counted, func(c leafCount) bool { return c.leaf == leaf })
		if r.broken[leaf] != nil || isCounted {
			continue
		}
		need := needs[leaf]
		if r.p.full && !file.live {
			need = scan.ReadValues
		}
		place[leaf] = len(req.Columns)
		req.Columns = append(req.Columns, scan.ColumnNeed{Column: leaf, Need: need})
	}
	return req, place
}
