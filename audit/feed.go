package audit

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/wap-cli/wap/audit/scan"
)

// feeder hands batches to states.
type feeder struct {
	r      *reading
	states []state // who is fed
	view   view
	place  map[int]int
}

func newFeeder(r *reading, states []state, place map[int]int) *feeder {
	return &feeder{r: r, states: states, place: place, view: view{unit: r.unit, cols: make([]*scan.Vector, len(r.p.slots))}}
}

func (f *feeder) batch(b *scan.Batch) {
	f.view.first, f.view.rows = b.FirstRow, b.Rows
	for slot := range f.view.cols {
		f.view.cols[slot] = nil
		switch leaf := f.r.unit.file.refs[slot].Column; {
		case f.r.p.consts[slot] != nil:
			f.view.cols[slot] = repeatConstant(f.r.p.consts[slot], b.Rows)
		default:
			i, read := f.place[leaf]
			if !read || f.r.unit.file.absent[slot] != nil {
				continue
			}
			f.view.cols[slot] = &b.Columns[i]
			f.r.nulls[slot] += int64(b.Columns[i].Entries - b.Columns[i].Present)
		}
	}
	f.add()
}

func (f *feeder) add() {
	for _, s := range f.states {
		if s != nil {
			s.add(&f.view)
		}
	}
}

// pass is a reading of row groups, each into a state of its own.
type pass struct {
	open func(u *unit) state // several may be open at once
	take func(s state)       // one at a time, in the order of the units
}

// rescan reads some slots of some row groups again, several at once.
func (p *judgement) rescan(ctx context.Context, units []*unit, slots []int, again pass) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	type outcome struct {
		state
		err    error
		panics *carried
	}
	done := make([]chan outcome, len(units))
	for i := range done {
		done[i] = make(chan outcome, 1)
	}
	go func() {
		for i, u := range units {
			// Held until the state is taken: what is read ahead is bounded.
			if p.audit.acquire(inner) != nil {
				close(done[i])
				return
			}
			go func() {
				o := outcome{panics: &carried{}}
				defer func() { done[i] <- o }()
				defer o.panics.catch()
				o.state = again.open(u)
				o.err = p.rescanUnit(inner, u, slots, o.state)
			}()
		}
	}()
	var failed error
	for i, u := range units {
		r, ok := <-done[i]
		if !ok {
			break
		}
		p.audit.release()
		r.panics.again()
		switch {
		case failed != nil:
		case r.err != nil:
			failed = &fileFailure{u.file, r.err}
			stop()
		default:
			again.take(r.state)
		}
	}
	return cmp.Or(failed, ctx.Err())
}

func (p *judgement) rescanUnit(ctx context.Context, u *unit, slots []int, into state) error {
	needs := map[int]scan.Need{}
	for _, slot := range slots {
		leaf, need := u.file.refs[slot].Column, scan.ReadValues
		if p.consts[slot] != nil {
			need = scan.ReadLevels
		}
		needs[leaf] = max(needs[leaf], need)
	}
	var req scan.Request
	place := map[int]int{}
	for _, leaf := range slices.Sorted(maps.Keys(needs)) {
		place[leaf] = len(req.Columns)
		req.Columns = append(req.Columns, scan.ColumnNeed{Column: leaf, Need: needs[leaf]})
	}
	r := &reading{p: p, unit: u, nulls: make([]int64, len(p.slots)), states: []state{into}}
	feed := newFeeder(r, r.states, place)
	return u.file.scan.ScanRowGroup(ctx, u.group, req, func(b *scan.Batch) error {
		feed.batch(b)
		return nil
	})
}
