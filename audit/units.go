package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wap-cli/wap/audit/scan"
)

// maxBroken is how many broken columns of one row group are told apart. Each
// costs reading the row group once more.
const maxBroken = 8

// reading is one row group on its way through the assertions.
type reading struct {
	p      *judgement
	unit   *unit
	trials []int         // indexes into p.trials of those that are fed
	broken map[int]error // by leaf

	counted []leafCount // what is asked of the scan
	request scan.Request
	place   map[int]int // of leaves in batches
	plan    *scan.Plan  // nil: not made yet, or used

	states  []state       // as trials
	trusted map[int]state // by trial: what the footer was trusted for
	nulls   []int64       // by slot
	stats   []string
	badUTF8 []fault
	outside error
	panics  carried
}

// units lists the row groups that somebody reads, live files first: what stands
// there already is never the surplus.
func (p *judgement) units() []*unit {
	var list []*unit
	for _, files := range [][]*openFile{p.live, p.files} {
		for _, f := range files {
			if f.scan == nil {
				continue
			}
			first := int64(0)
			for group, rg := range f.scan.Footer().RowGroups {
				list = append(list, &unit{file: f, index: len(list), group: group, rows: rg.Rows, first: first})
				first += rg.Rows
			}
		}
	}
	return list
}

// fed lists the assertions that read a file. It is asked before the scan, whose
// failures change the answer.
func (p *judgement) fed(f *openFile) []int {
	var list []int
	for i, t := range p.trials {
		if t.failure == nil && !t.vacuous && len(t.wants) > 0 && (t.spansLive || !f.live) {
			list = append(list, i)
		}
	}
	return list
}

// scan feeds every row group to the assertions, several at once, and merges
// their states in order. The error is the context's.
func (p *judgement) scan(ctx context.Context) error {
	var units []*unit
	for _, u := range p.units() {
		if u.trials = p.fed(u.file); len(u.trials) > 0 || p.full && !u.file.live {
			units = append(units, u)
		}
	}
	inner, stop := context.WithCancel(ctx)
	var group sync.WaitGroup
	defer func() {
		stop()
		group.Wait()
	}()
	// One place for each row group from its reading to its merging: what is read
	// ahead of a slow one is bounded, and there is something to do meanwhile.
	places := make(chan struct{}, p.audit.unmerged())
	var panics carried
	done := p.start(inner, units, startGates{&group, places, &panics})
	for i, u := range units {
		r, ok := <-done[i]
		if !ok {
			panics.again()
			return ctx.Err()
		}
		r.panics.again()
		p.merge(r)
		<-places
		p.audit.progress(r.unit)
		// A judged row group that the store does not give has failed everybody
		// who reads: waiting for the others would change nothing.
		lost := r.outside != nil && !u.file.live
		if err := ctx.Err(); err != nil || lost {
			stop()
			drain(done[i+1:])
			return err
		}
	}
	return nil
}

// drain waits for the row groups after a cancelled one.
func drain(done []chan *reading) {
	for _, d := range done {
		if _, ok := <-d; !ok {
			return
		}
	}
}

// read scans one row group. A broken column takes out the assertions that read
// it, and the rest is read again without it.
func (r *reading) read(ctx context.Context) {
	for {
		err := r.pass(ctx)
		var fault *scan.Error
		switch {
		case err == nil:
			return
		case !errors.As(err, &fault):
			r.outside = err
			return
		}
		r.setBroken(fault)
	}
}

// truster is an assertion that a producer's statistics can satisfy for a row
// group; with --trust-footer it is asked first. A nil state means that it has to
// read.
type truster interface{ trust(u *unit) state }

func (r *reading) trustFooter() {
	r.trusted = map[int]state{}
	r.trials = slices.DeleteFunc(slices.Clone(r.trials), func(t int) bool {
		if a, ok := r.p.trials[t].assertion.(truster); ok {
			if s := a.trust(r.unit); s != nil {
				r.trusted[t] = s
				return true
			}
		}
		return false
	})
}

// setBroken marks the fault's column, or all columns when it names none of those
// that were asked for or too many are broken already.
func (r *reading) setBroken(fault *scan.Error) {
	found := false
	for _, leaf := range r.leaves() {
		named := r.unit.file.scan.Columns()[leaf].Dotted == fault.Column
		if named && r.broken[leaf] == nil {
			r.broken[leaf], found = fault, true
		}
	}
	if found && len(r.broken) <= maxBroken {
		return
	}
	for _, leaf := range r.leaves() {
		if r.broken[leaf] == nil {
			r.broken[leaf] = fault
		}
	}
}

// leaves lists the leaves to read, those of broken columns included.
func (r *reading) leaves() []int {
	file, n := r.unit.file, len(r.unit.file.scan.Columns())
	wanted := make([]bool, n)
	for _, t := range r.trials {
		for _, slot := range r.p.trials[t].wants {
			wanted[file.refs[slot].Column] = true
		}
	}
	var list []int
	for leaf := range n {
		if wanted[leaf] || r.p.full && !file.live {
			list = append(list, leaf)
		}
	}
	return list
}

// pass reads the row group once, with what is not broken, from fresh states.
func (r *reading) pass(ctx context.Context) error {
	r.states = make([]state, len(r.trials))
	r.nulls, r.stats, r.badUTF8 = make([]int64, len(r.p.slots)), nil, nil
	for i, t := range r.trials {
		if r.whole(t) {
			r.states[i] = r.p.trials[t].assertion.open(r.unit)
		}
	}
	if err := r.prepare(); err != nil {
		return err
	}
	defer r.discard()
	for _, ask := range r.counted {
		if err := r.countLevels(ctx, ask); err != nil {
			return err
		}
	}
	return r.batches(ctx)
}

// batches reads the columns that are not counted.
func (r *reading) batches(ctx context.Context) error {
	file := r.unit.file
	checks := make([]*scan.StatisticsCheck, len(r.request.Columns))
	for i, c := range r.request.Columns {
		check, err := file.scan.CheckStatistics(r.unit.group, c.Column)
		if err != nil {
			return err
		}
		checks[i] = check
	}
	feed := newFeeder(r, r.unfed(), r.place)
	err := r.plan.Run(ctx, func(b *scan.Batch) error {
		for i := range b.Columns {
			checks[i].Observe(&b.Columns[i])
			r.lookAtText(b, &b.Columns[i])
		}
		feed.batch(b)
		return nil
	})
	if err != nil {
		return err
	}
	for i, c := range r.request.Columns {
		r.compare(checks[i], c.Column)
	}
	return nil
}

// compare notes statistics that disagree with the data.
func (r *reading) compare(check *scan.StatisticsCheck, leaf int) {
	file := r.unit.file
	if text := check.Result(); text != "" {
		r.stats = append(r.stats, fmt.Sprintf("%s: row group %d: column %s: %s",
			file.Key, r.unit.group, file.scan.Columns()[leaf].Dotted, text))
	}
}

// whole reports whether none of a trial's columns is broken.
func (r *reading) whole(trial int) bool {
	for _, slot := range r.p.trials[trial].wants {
		if r.broken[r.unit.file.refs[slot].Column] != nil {
			return false
		}
	}
	return true
}

// lookAtText notes texts that are not UTF-8, the first of each column and batch.
func (r *reading) lookAtText(b *scan.Batch, vec *scan.Vector) {
	if vec.BadUTF8 == 0 {
		return
	}
	group := int64(b.RowGroup)
	r.badUTF8 = append(r.badUTF8, fault{Failure: Failure{
		Cause: CauseData, File: r.unit.file.Key, Column: vec.Column.Dotted, RowGroup: &group,
		Message: fmt.Sprintf("row %d: the text is not UTF-8", b.FirstRow+int64(vec.RowOf(vec.FirstBadUTF8))),
	}})
}

// merge takes a row group's states in.
func (p *judgement) merge(r *reading) {
	for i, t := range r.trials {
		trial := p.trials[t]
		switch {
		case r.outside != nil:
			trial.fail(failureIn(r.unit.file, r.outside))
		case !r.whole(t):
			trial.fail(r.failureOf(t))
		case r.states[i] != nil && trial.failure == nil:
			trial.assertion.merge(r.states[i])
		}
	}
	for t, s := range r.trusted { // the order does not matter: each goes to its own
		if r.outside != nil {
			// Nothing after a lost row group is merged: what its footer says is
			// not all there is to know.
			p.trials[t].fail(failureIn(r.unit.file, r.outside))
		} else {
			p.trials[t].assertion.merge(s)
		}
	}
	if r.unit.file.live {
		return // the rest is about what is judged
	}
	if r.outside != nil {
		p.faults = append(p.faults, faultOf(r.unit.file, r.outside))
		return
	}
	for slot, n := range r.nulls {
		p.nulls[slot] += n
	}
	p.stats = append(p.stats, r.stats...)
	for _, leaf := range r.leaves() {
		if err := r.broken[leaf]; err != nil {
			p.faults = append(p.faults, faultOf(r.unit.file, err))
		}
	}
	p.faults = append(p.faults, r.badUTF8...)
}

// failureOf is why a trial lost one of its columns.
func (r *reading) failureOf(trial int) *Failure {
	for _, slot := range r.p.trials[trial].wants {
		if r.broken[r.unit.file.refs[slot].Column] != nil {
			return failureIn(r.unit.file, r.broken[r.unit.file.refs[slot].Column])
		}
	}
	return nil
}

// fail keeps the first failure; one of the data outranks one from outside, for
// it stays true on a retry.
func (t *trial) fail(f *Failure) {
	if t.failure == nil || t.failure.Cause == CauseOutside && f.Cause == CauseData {
		t.failure = f
	}
}
