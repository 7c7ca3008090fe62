package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
)

// trial is one check on its way through a partition.
type trial struct {
	check     *Check
	assertion assertion
	wants     []int
	needs     fileNeed
	spansLive bool
	failure   *Failure
	vacuous   bool // no file to bind to
}

// judgement is the audit of one partition.
type judgement struct {
	part   *Partition
	config *Config
	audit  *audit

	files  []*openFile // in the order given
	live   []*openFile
	rows   int64 // of files, by their footers
	drifts *Failure
	trials []*trial
	slots  []slot
	consts []*scan.Vector // by slot; nil for a stored column
	full   bool           // integrity decodes every column
	faults []fault
	stats  []string // disagreements of footers and data
	nulls  []int64  // by slot
}

// fault is something that integrity holds against a file.
type fault struct {
	Failure
	undecodable bool // an error; else a failed assertion
}

// judge audits one partition. The error is the context's.
func (a *audit) judge(ctx context.Context, part *Partition, config *Config) (*judged, error) {
	p := &judgement{part: typedKeys(part, config), config: config, audit: a}
	if err := p.open(ctx); err != nil {
		return nil, err
	}
	p.compareSchemas()
	p.bind()
	if err := p.scan(ctx); err != nil {
		return nil, err
	}
	results, metrics := p.finish(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return p.report(results, metrics), nil
}

// typedKeys gives keys that no table has typed yet the types that the checks
// declare.
func typedKeys(part *Partition, config *Config) *Partition {
	out := *part
	out.Keys = slices.Clone(part.Keys)
	for i := range out.Keys {
		if declared, ok := config.ColumnType(out.Keys[i].Name); ok && out.Keys[i].Type == "" {
			out.Keys[i].Type = declared
		}
	}
	return &out
}

// failureIn tells a fault of the file from one of the way to it.
func failureIn(f *openFile, err error) *Failure {
	var fault *scan.Error
	if !errors.As(err, &fault) {
		out := &Failure{Cause: CauseOutside, Message: err.Error(), File: f.Key}
		var read *scan.SourceError
		if errors.As(err, &read) {
			group := int64(read.RowGroup)
			out.Column, out.RowGroup = read.Column, &group
		}
		return out
	}
	out := &Failure{Cause: CauseData, Message: fault.Error(), File: f.Key, Column: fault.Column}
	if fault.RowGroup >= 0 {
		group := int64(fault.RowGroup)
		out.RowGroup = &group
	}
	return out
}

// failureOf is the failure of something that is not about a file's bytes unless
// it says so.
func (p *judgement) failureOf(err error) *Failure {
	var failure *fileFailure
	if errors.As(err, &failure) {
		return failureIn(failure.file, failure.err)
	}
	return &Failure{Cause: CauseOutside, Message: err.Error()}
}

// fileFailure is an error met in a file.
type fileFailure struct {
	file *openFile
	err  error
}

func (e *fileFailure) Error() string { return fmt.Sprintf("read %q: %s", e.file.Key, e.err) }
func (e *fileFailure) Unwrap() error { return e.err }

// compareSchemas looks for the first file whose schema is not the first one's.
func (p *judgement) compareSchemas() {
	var first *openFile
	for _, f := range p.files {
		switch {
		case f.scan == nil:
		case first == nil:
			first = f
		case f.scan.SameSchema(first.scan):
		default:
			if column, message := drift(first, f); message != "" {
				p.drifts = &Failure{Cause: CauseData, Message: message, File: f.Key, Column: column}
				return
			}
		}
	}
}

// unopened is the failure of the first file that did not open.
func (p *judgement) unopened() *Failure {
	for _, f := range p.files {
		if f.failure != nil {
			return f.failure
		}
	}
	return nil
}

// bind prepares every assertion, built-ins first.
func (p *judgement) bind() {
	opened := slices.DeleteFunc(slices.Clone(p.files), func(f *openFile) bool { return f.scan == nil })
	b := &binding{part: p.part, files: opened, zone: p.config.timezone}
	for _, c := range slices.Concat(p.config.builtins, p.config.checks) {
		switch {
		case c.Off || !c.kind.applies(p.part):
		case c.Type == "partition_values":
			if t := p.otherKeys(c); t != nil {
				p.trials = append(p.trials, t)
			}
			for _, one := range p.partitionChecks(c, b) {
				p.trials = append(p.trials, p.try(one, b))
			}
		default:
			p.trials = append(p.trials, p.try(c, b))
		}
	}
	p.slots, p.full = b.slots, b.full
	p.consts = make([]*scan.Vector, len(p.slots))
	for i, s := range p.slots {
		if s.key != nil {
			// Bound once already, so that it cannot fail here.
			p.consts[i], _ = constantOf(*s.key)
		}
	}
	p.nulls = make([]int64, len(p.slots))
	p.resolve(slices.Concat(opened, p.live))
	p.checkFiles()
	p.shareMemory()
}

// applies reports whether a built-in has something to look at.
func (k *kind) applies(part *Partition) bool {
	switch k.name {
	case "shrink":
		return part.Mode == manifest.ModeOverwrite && part.Previous != nil
	case "no_duplicate_content":
		return part.Mode == manifest.ModeAppend
	}
	return true
}

// otherKeys is a failed trial when the checks declare other partition keys than
// the partition has. Files that are judged outside of any folder have none.
func (p *judgement) otherKeys(c *Check) *trial {
	var have []string
	for _, k := range p.part.Keys {
		have = append(have, k.Name)
	}
	want := p.config.partition
	if len(have) == 0 || len(want) == 0 || slices.Equal(have, want) {
		return nil
	}
	return &trial{check: c, failure: &Failure{Cause: CauseData, Message: fmt.Sprintf(
		"the partition has the keys %s, the checks declare %s", strings.Join(have, ", "), strings.Join(want, ", "))}}
}

// try binds one check. What it would need and cannot have is its failure.
func (p *judgement) try(c *Check, b *binding) *trial {
	b.wants, b.needs, b.spansLive, b.fileless = nil, needNothing, false, false
	t := &trial{check: c}
	assertion, err := c.kind.bind(c, b)
	if err == nil {
		assertion, err = b.filter(c, assertion)
	}
	t.assertion, t.wants, t.needs, t.spansLive = assertion, slices.Clone(b.wants), b.needs, b.spansLive
	switch failed := p.unopened(); {
	case b.needs > needNothing && failed != nil:
		t.failure = notEvaluated(failed)
	case b.needs == needSchema && p.drifts != nil:
		t.failure = notEvaluated(p.drifts)
	case b.needs == needSchema && len(b.files) == 0:
		t.vacuous = true
	case err != nil:
		t.failure = &Failure{Cause: CauseData, Message: err.Error(), Column: strings.Join(c.Columns, ",")}
	}
	return t
}

func notEvaluated(why *Failure) *Failure {
	out := *why
	out.Message = "not evaluated: " + why.Message
	return &out
}

// alike reports whether values of both types can be judged together. Of
// what is inside a group nobody reads values by the group's path.
func alike(a, b scan.Type) bool {
	if a.IsLeaf() && b.IsLeaf() {
		return a.Equal(b)
	}
	return a.Kind == b.Kind
}

// checkFiles fails the assertions that need a file, live or not, which cannot be
// had or lacks one of their columns.
func (p *judgement) checkFiles() {
	for _, t := range p.trials {
		files := p.files
		if t.spansLive {
			files = slices.Concat(p.files, p.live)
		}
		for _, f := range files {
			if t.failure != nil || len(t.wants) == 0 {
				break
			}
			t.failure = p.lacking(t, f)
		}
	}
}

// lacking is what a trial misses in a file, or nil.
func (p *judgement) lacking(t *trial, f *openFile) *Failure {
	if f.failure != nil {
		return notEvaluated(f.failure)
	}
	for _, slot := range t.wants {
		if err := f.absent[slot]; err != nil {
			return &Failure{Cause: CauseData, Message: err.Error(), File: f.Key, Column: p.slots[slot].path}
		}
	}
	return nil
}

// keeper is an assertion that keeps something for every row.
type keeper interface {
	// plan is told what is going to be read, and returns how many bytes that
	// takes, about.
	plan(units []*unit) int64
	// limit says how many bytes it may take. What it reports must not depend on
	// how many states share them: only how often something is written out.
	limit(memory memoryShare)
}

// memoryShare is what an assertion may take, in all.
type memoryShare struct {
	bytes  int64
	states int64 // how many there are at once, at most
}

// shareMemory divides what rows may take among the assertions that keep them.
// Where there is not enough, who needs less than an equal share gets it whole.
func (p *judgement) shareMemory() {
	var keepers []keeper
	units := p.units()
	needs := map[keeper]int64{}
	for _, t := range p.trials {
		if k, ok := t.assertion.(keeper); ok && t.failure == nil && !t.vacuous {
			keepers, needs[k] = append(keepers, k), k.plan(units)
		}
	}
	slices.SortStableFunc(keepers, func(a, b keeper) int { return cmp.Compare(needs[a], needs[b]) })
	left := p.audit.keyMemory
	for i, k := range keepers {
		needs[k] = min(needs[k], left/int64(len(keepers)-i))
		left -= needs[k]
	}
	for _, k := range keepers {
		k.limit(memoryShare{needs[k] + left/int64(len(keepers)), int64(p.audit.unmerged())})
	}
}

// repeated reports whether a slot's path can have several values a row.
func (p *judgement) repeated(slot int) bool {
	for _, f := range p.files {
		if f.scan != nil {
			return f.refs[slot].Rep > 0
		}
	}
	return false
}
