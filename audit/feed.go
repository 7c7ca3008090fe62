package audit

import (
	"context"

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

// constants feeds a row group of which nothing is read: all that is asked about
// are partition keys.
func (f *feeder) constants(alone bool) {
	const rows = 8192
	for done := int64(0); alone && done < f.r.unit.rows; done += rows {
		f.batch(&scan.Batch{
			RowGroup: f.r.unit.group, FirstRow: f.r.unit.first + done, Rows: int(min(rows, f.r.unit.rows-done)),
		})
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
	var req scan.Request
	place := map[int]int{}
	for _, slot := range slots {
		leaf := u.file.refs[slot].Column
		if _, twice := place[leaf]; leaf >= 0 && !twice {
			place[leaf] = len(req.Columns)
			req.Columns = append(req.Columns, scan.ColumnNeed{Column: leaf, Need: scan.ReadValues})
		}
	}
	r := &reading{p: p, unit: u, nulls: make([]int64, len(p.slots)), states: []state{callback(fn)}}
	feed := newFeeder(r, place)
	err := u.file.scan.ScanRowGroup(ctx, u.group, req, func(b *scan.Batch) error {
		feed.batch(b)
		return nil
	})
	if err == nil {
		feed.constants(len(req.Columns) == 0)
	}
	return err
}

// callback is a state that hands views on.
type callback func(v *view)

func (c callback) add(v *view) { c(v) }
