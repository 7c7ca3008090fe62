package audit

import (
	"encoding/binary"
	"sync"

	"github.com/wap-cli/wap/audit/scan"
)

// denseKeys finds repeated integers in a range that is not much larger than
// there are rows: one bit for each.
//
// The range is a guess, made from the files' statistics. A wrong one costs time
// and no more: integers outside of it are hashed like any other key.
type denseKeys struct {
	first uint64 // in the form that is hashed
	width uint64 // how many integers
	shift uint   // of an integer's distance from the first, to its part
	parts []densePart
}

type densePart struct {
	mu    sync.Mutex
	words []uint64
}

const (
	// denseBits is how many bits a row may take; a hash takes 64.
	denseBits     = 32
	maxDenseParts = 256
	minDenseShift = 12
	maxDenseShift = 30
	// maxDenseRun is how many integers a part gets at once, at most: large parts
	// get as many as half of their words, so that processors do not fight over
	// them.
	maxDenseRun = 1024
	lineInts    = 16 // in a cache line
)

// intRange is a range of integers, in the form that is hashed, and so in two's
// complement when they are signed.
type intRange struct{ first, last uint64 }

// width is how many integers there are, 0 for all.
func (r intRange) width() uint64 { return r.last - r.first + 1 }

// denseRange guesses the range of a column of integers from its statistics. ok
// is false when a bit for each would be too much for as many rows.
func denseRange(units []*unit, slot int) (r intRange, ok bool) {
	var order uint64 // turns two's complement into an order of unsigned numbers
	for _, u := range units {
		leaf := u.file.leaves[slot]
		if leaf == nil || leaf.Index < 0 {
			return r, false // a partition key
		}
		switch classOf(leaf) {
		case signed:
			order = 1 << 63
		case unsigned:
		default:
			// A decimal of the same column may be stored as bytes, and is hashed.
			return r, false
		}
		claim, err := u.file.scan.Statistics(u.group, u.file.refs[slot].Column)
		if err != nil || !claim.Comparable || claim.Min == nil || claim.Max == nil {
			continue
		}
		first, last := plainInteger(leaf, claim.Min)^order, plainInteger(leaf, claim.Max)^order
		switch {
		case first > last:
		case !ok:
			r, ok = intRange{first, last}, true
		default:
			r = intRange{min(r.first, first), max(r.last, last)}
		}
	}
	r = intRange{r.first ^ order, r.last ^ order}
	w := r.width()
	return r, ok && w > 0 && w/denseBits <= uint64(rowsOf(units)) && w>>maxDenseShift < maxDenseParts
}

// plainInteger reads an integer as statistics have it.
func plainInteger(c *scan.Column, b []byte) uint64 {
	switch {
	case len(b) == 8:
		return binary.LittleEndian.Uint64(b)
	case classOf(c) == unsigned:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return uint64(int64(int32(binary.LittleEndian.Uint32(b))))
}

// bytes is what a range takes, about.
func (r intRange) bytes() int64 { return int64(r.width()/8) + 1<<minDenseShift/8 }

func newDenseKeys(r intRange) *denseKeys {
	d := &denseKeys{first: r.first, width: r.width(), shift: minDenseShift}
	for d.width>>d.shift >= maxDenseParts {
		d.shift++
	}
	d.parts = make([]densePart, d.width>>d.shift+1)
	for i := range d.parts {
		d.parts[i].words = make([]uint64, 1<<d.shift/64)
	}
	return d
}

// set marks integers of one part, given by their distance from its first, and
// calls again with those that were marked before.
func (d *denseKeys) set(part int, list []uint32, again func(integer uint64)) {
	p := &d.parts[part]
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, at := range list {
		word, bit := &p.words[at/64], uint64(1)<<(at%64)
		if *word&bit != 0 {
			again(d.first + uint64(part)<<d.shift + uint64(at))
		}
		*word |= bit
	}
}

// denseWriter gathers integers by part. It is for one goroutine.
type denseWriter struct {
	of  *denseKeys
	run uint32
	// stride is a cache line more than a run, so that the places of all parts
	// that are written to next do not compete for the same few lines.
	stride uint32
	fill   []uint32
	slots  []uint32 // distances from the part's first integer
	out    *keyWriter
}

func newDenseWriter(d *denseKeys, out *keyWriter) *denseWriter {
	run := min(maxDenseRun, uint32(1)<<d.shift/128)
	return &denseWriter{
		of: d, run: run, stride: run + lineInts, out: out,
		fill: make([]uint32, len(d.parts)), slots: make([]uint32, len(d.parts)*int(run+lineInts)),
	}
}

// add takes in integers. Those outside of the range go where hashes go.
func (w *denseWriter) add(integers []uint64, unit int) {
	first, width, shift := w.of.first, w.of.width, w.of.shift
	for _, x := range integers {
		off := x - first
		if off >= width {
			w.out.put(w.out.set.entry(spread(x), unit))
			continue
		}
		part := off >> shift
		n := w.fill[part]
		w.slots[uint32(part)*w.stride+n] = uint32(off & (1<<shift - 1))
		w.fill[part]++
		if n+1 == w.run {
			w.flush(int(part))
		}
	}
}

// again makes an integer a candidate. Where it was before is not known.
func (w *denseWriter) again(integer uint64) {
	set := w.out.set
	set.anywhere.Store(true)
	e := set.entry(spread(integer), 0)
	w.out.put(e)
	w.out.put(e)
}

func (w *denseWriter) finish() {
	for part := range w.fill {
		w.flush(part)
	}
}

func (w *denseWriter) flush(part int) {
	w.of.set(part, w.slots[part*int(w.stride):][:w.fill[part]], w.again)
	w.fill[part] = 0
}
