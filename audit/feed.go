package audit

import (
	"context"
	"maps"
	"slices"

	"github.com/wap-cli/wap/audit/scan"
)

// feeder hands batches to states.
type feeder struct {
	r     *reading
	view  view
	place map[int]int
}

func newFeeder(r *reading, place map[int]int) *feeder {
	return &feeder{r: r, place: place, view: view{unit: r.unit, cols: make([]*scan.Vector, len(r.p.slots))}}
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
	for _, s := range f.r.states {
		if s != nil {
			s.add(&f.view)
		}
	}
}

// rescan reads some slots of some row groups again, in order.
func (p *judgement) rescan(ctx context.Context, units []*unit, slots []int, fn func(v *view)) error {
	for _, u := range units {
		if err := p.rescanUnit(ctx, u, slots, fn); err != nil {
			return &fileFailure{u.file, err}
		}
	}
	return nil
}

func (p *judgement) rescanUnit(ctx context.Context, u *unit, slots []int, fn func(v *view)) error {
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
	r := &reading{p: p, unit: u, nulls: make([]int64, len(p.slots)), states: []state{callback(fn)}}
	feed := newFeeder(r, place)
	return u.file.scan.ScanRowGroup(ctx, u.group, req, func(b *scan.Batch) error {
		feed.batch(b)
		return nil
	})
}

// callback is a state that hands views on.
type callback func(v *view)

func (c callback) add(v *view) { c(v) }
