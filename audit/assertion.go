package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wap-cli/wap/audit/scan"
	"github.com/wap-cli/wap/manifest"
)

// assertion judges one partition. It is fed row groups and asked for a verdict
// after the last.
type assertion interface {
	// open returns an empty state for one row group of a file; several may be
	// open at once.
	open(u *unit) state
	// merge takes in the state of a finished row group. Calls come one at a
	// time, in the order of files and row groups.
	merge(s state)
	// finish is called once, after the last merge.
	finish(ctx context.Context, p *judgement) verdict
}

// state gathers what one row group says. A nil state reads nothing.
type state interface {
	add(v *view)
}

// view is a batch as assertions see it.
type view struct {
	unit  *unit
	first int64 // the batch's first row, in the file
	rows  int
	cols  []*scan.Vector // by slot; nil where the slot is not read
	// places are the rows in the batch where not all of it is shown.
	places []int32
}

// place is a row's number in the file.
func (v *view) place(row int) int64 {
	if v.places != nil {
		row = int(v.places[row])
	}
	return v.first + int64(row)
}

// unit is one row group of one file.
type unit struct {
	file   *openFile
	index  int // among all units of the partition
	group  int
	rows   int64
	first  int64 // row in the file
	trials []int // who is fed
}

// slot is a path that assertions of a partition read.
type slot struct {
	path   string
	values bool // not levels alone
	key    *manifest.KeyValue
	typ    scan.Type
}

// verdict is what an assertion found. Either it counted violating rows, and its
// thresholds decide, or it says itself whether it holds.
type verdict struct {
	counted    bool
	violations int64
	tested     int64
	rows       int64 // total to report when it is not the partition's

	holds    bool
	warning  bool // does not hold, but never blocks
	skipped  bool // there was nothing to compare with, and that was allowed for
	noValue  bool // an aggregate over no rows
	observed string
	expected string
	message  string
	grade    Grade
	counts   []Count
	samples  []Sample
	metrics  []manifest.Metric
	failure  *Failure
	stderr   string
}

// binding is what an assertion can ask for while it is prepared for a partition.
type binding struct {
	part  *Partition
	files []*openFile // judged ones that opened; their schemas agree
	slots []slot
	// wants are the slots of the assertion being bound.
	wants []int
	needs fileNeed
	full  bool           // every column is to be decoded
	zone  *time.Location // of the checks file, may be nil
	// spansLive is set by an assertion that is also fed the live files.
	spansLive bool
	// fileless is set by an assertion that is judged without a file to bind to,
	// by what the other side has.
	fileless bool
}

// fileNeed says what must be in order before an assertion can be judged.
type fileNeed uint8

const (
	needNothing fileNeed = iota
	needFooters          // every file opened
	needSchema           // and all share one schema
)

func (b *binding) need(n fileNeed) { b.needs = max(b.needs, n) }

// column finds a path, or a partition key that the files do not store, and asks
// for its levels, with values for its values too. It returns the slot and, of
// the first file, the leaf with the path's type.
func (b *binding) column(path string, values bool) (int, *scan.Column, error) {
	b.need(needSchema)
	s := slot{path: path, values: values}
	leaf, err := b.resolve(&s)
	if err != nil {
		return 0, nil, err
	}
	if values && !leaf.Type.IsLeaf() {
		return 0, nil, fmt.Errorf("column %s is %s: name a column inside it", path, leaf.Type)
	}
	for i, have := range b.slots {
		if have.path == path {
			b.slots[i].values = have.values || values
			b.wants = append(b.wants, i)
			return i, leaf, nil
		}
	}
	b.slots = append(b.slots, s)
	b.wants = append(b.wants, len(b.slots)-1)
	return len(b.slots) - 1, leaf, nil
}

// resolve fills in what a path stands for.
func (b *binding) resolve(s *slot) (*scan.Column, error) {
	if len(b.files) == 0 {
		return nil, fmt.Errorf("no file to look for column %s in", s.path)
	}
	file := b.files[0].scan
	ref, err := file.Resolve(s.path)
	if err == nil {
		leaf := file.Columns()[ref.Column]
		leaf.Type, leaf.Dotted, s.typ = ref.Type, s.path, ref.Type
		return &leaf, nil
	}
	if key := b.key(s.path); key != nil {
		constant, err := constantOf(*key)
		if err != nil {
			return nil, err
		}
		s.key, s.typ = key, constant.Column.Type
		return constant.Column, nil
	}
	for _, p := range file.Paths() {
		if p == s.path {
			return nil, err // there, but more than once
		}
	}
	err = fmt.Errorf("no column %s", s.path)
	if near, ok := nearestPath(s.path, file.Paths()); ok {
		err = fmt.Errorf("%w, did you mean %s?", err, near)
	}
	return nil, err
}

func (b *binding) key(name string) *manifest.KeyValue {
	for i := range b.part.Keys {
		if b.part.Keys[i].Name == name {
			return &b.part.Keys[i]
		}
	}
	return nil
}

// nearestPath also finds a name that differs by case alone.
func nearestPath(path string, known []string) (string, bool) {
	for _, k := range known {
		if strings.EqualFold(k, path) {
			return k, true
		}
	}
	return Nearest(path, known)
}

// literals settles values that a variable gave: keys of the partition are filled
// in, and what is compared with anything but text or time is read as if it were
// written without quotes.
func (b *binding) literals(c *scan.Column, list []literal) ([]literal, error) {
	out := slices.Clone(list)
	for i := range out {
		lit, err := b.literal(c, out[i])
		if err != nil {
			return nil, err
		}
		out[i] = lit
	}
	return out, nil
}

func (b *binding) literal(c *scan.Column, lit literal) (literal, error) {
	if !lit.open {
		return lit, nil
	}
	text, err := b.substitute(lit.text)
	if err != nil {
		return lit, err
	}
	switch {
	case classOf(c) == texts, c.Type.Kind == scan.Date, c.Type.Kind == scan.Time, c.Type.Kind == scan.Timestamp:
		return literal{kind: litText, text: text}, nil
	}
	return literal{kind: litText, text: text, open: true}.plain(), nil
}

// substitute replaces the marks that the parser left for ${partition.KEY}.
func (b *binding) substitute(text string) (string, error) {
	return b.substituteAs(text, func(value string) string { return value })
}

// substituteAs writes values in a way of their place.
func (b *binding) substituteAs(text string, write func(value string) string) (string, error) {
	parts := strings.Split(text, partitionMark)
	for i := 1; i < len(parts); i += 2 {
		key := b.key(parts[i])
		if key == nil {
			return "", fmt.Errorf("${partition.%s}: the partition has no key %s", parts[i], parts[i])
		}
		parts[i] = write(key.Value)
	}
	return strings.Join(parts, ""), nil
}
