package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wap-cli/wap/audit/scan"
	"golang.org/x/sync/semaphore"
)

// openFile is a file whose footer was read, or the reason why it was not.
type openFile struct {
	File
	live    bool
	scan    *scan.File
	failure *Failure
	faults  []fault // what integrity holds against footer and magic

	refs   []scan.Ref     // by slot
	leaves []*scan.Column // by slot: the leaf with the path's name and type
	absent []error        // by slot: why a live file cannot stand in
}

func (f *openFile) key() string { return f.Key }

// open reads the footers of all files, several at once.
func (p *judgement) open(ctx context.Context) error {
	for _, f := range p.part.Files {
		p.files = append(p.files, &openFile{File: f})
	}
	for _, f := range p.part.Live {
		p.live = append(p.live, &openFile{File: f, live: true})
	}
	p.openAll(ctx, slices.Concat(p.files, p.live))
	for _, f := range p.files {
		if f.scan != nil {
			p.rows += f.scan.Footer().Rows
		}
		p.faults = append(p.faults, f.faults...)
	}
	return ctx.Err()
}

const (
	// openSmall is the size up to which a file's footer is bounded by smallFooter
	// in memory, so that many can be opened at once; of larger ones a few.
	openSmall   = 4 << 20
	smallFooter = 16 << 20
	opensAtOnce = 32
	largeOpen   = opensAtOnce / 4
	// keepSmall is the size up to which a file is read once and kept, as long as
	// what is kept fits.
	keepSmall = 256 << 10
)

// openAll opens files, many at once: their requests take longer than they do.
// Which are kept in memory depends on the order of files alone.
func (p *judgement) openAll(ctx context.Context, files []*openFile) {
	seats := semaphore.NewWeighted(opensAtOnce)
	kept := p.audit.keep
	var group sync.WaitGroup
	var panics carried
	for _, f := range files {
		opts, weight, size := p.audit.scan, int64(largeOpen), f.Source.Size()
		if size <= openSmall {
			opts.FooterBudget, weight = smallFooter, 1
		}
		if size <= min(keepSmall, kept) {
			opts.Keep = size
			kept -= size
		}
		if seats.Acquire(ctx, weight) != nil {
			break
		}
		group.Go(func() {
			defer seats.Release(weight)
			defer panics.catch()
			f.open(ctx, p.audit.counted(f.Source), opts)
		})
	}
	group.Wait()
	panics.again()
}

func (f *openFile) open(ctx context.Context, src scan.Source, opts scan.Options) {
	file, err := scan.Open(ctx, src, opts)
	if err != nil {
		f.failure = failureIn(f, err)
		f.faults = append(f.faults, faultOf(f, err))
		return
	}
	f.scan = file
	if err := file.CheckRows(); err != nil {
		f.faults = append(f.faults, faultOf(f, err))
	}
	if err := file.CheckHead(ctx); err != nil {
		f.faults = append(f.faults, faultOf(f, err))
	}
}

// resolve finds the slots' paths in all files; those of one schema share what
// was found.
func (p *judgement) resolve(files []*openFile) {
	var last *openFile
	for _, f := range files {
		switch {
		case f.scan == nil:
		case last != nil && f.scan.SameSchema(last.scan):
			f.refs, f.leaves, f.absent = last.refs, last.leaves, last.absent
		default:
			f.resolve(p.slots, p.consts)
			if !slices.ContainsFunc(f.absent, func(err error) bool { return err != nil }) {
				last = f // an error names its file
			}
		}
	}
}

// resolve finds the slots' paths in one file.
func (f *openFile) resolve(slots []slot, consts []*scan.Vector) {
	f.refs = make([]scan.Ref, len(slots))
	f.leaves = make([]*scan.Column, len(slots))
	f.absent = make([]error, len(slots))
	for i, s := range slots {
		if s.key != nil {
			f.leaves[i] = consts[i].Column
			// The first leaf carries the constant: its rows are there, the
			// footer's are a claim.
			if len(f.scan.Columns()) == 0 {
				f.absent[i] = errors.New("the file has no column to count its rows by")
			}
			f.refs[i] = scan.Ref{Path: s.path, Column: 0, Type: s.typ, NonNull: 1}
			continue
		}
		ref, err := f.scan.Resolve(s.path)
		if err == nil && !alike(ref.Type, s.typ) {
			err = fmt.Errorf("column %s is %s in %s and %s elsewhere", s.path, ref.Type, f.Key, s.typ)
		}
		if err != nil {
			f.absent[i] = err
			continue
		}
		leaf := f.scan.Columns()[ref.Column]
		leaf.Type, leaf.Dotted = ref.Type, s.path
		f.refs[i], f.leaves[i] = ref, &leaf
	}
}
