package audit

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// tally counts tuples on two sides, exactly. Tuples are spread over parts by
// their hash; above the budget all parts go to an unlinked temporary file, and
// are brought together one by one, those that are too large for the budget after
// being spread again. It may be added to from any goroutine.
type tally struct {
	budget int64 // bytes held in memory, about
	depth  uint  // how often the tuples were spread already
	states int64 // batches at once; 0: few

	file     runFile
	spilling sync.RWMutex // held for writing while parts are written out
	held     atomic.Int64
	parts    [tallyParts]tallyPart
}

const (
	tallyParts = 1 << tallyBits
	tallyBits  = 6
	// tallyCost is what a tuple takes beside its bytes, about.
	tallyCost = 96
	// tallyDepth leaves no bit of a hash unused.
	tallyDepth = 64/tallyBits - 1
	// minTally keeps what is written at once worth writing.
	minTally = 64 << 10
	// tallyWrite is how much of a part is written at once.
	tallyWrite = 1 << 20
)

type tallyPart struct {
	mu      sync.Mutex
	counts  pairs
	written []stretch
}

// pair is how often a tuple stands on either side, and where first.
type pair struct {
	rows  [2]int64
	first [2]uint64 // a place, or nowhere
}

// The sides of a tally.
const (
	judgedSide = iota
	otherSide
)

// nowhere is after every place.
const nowhere = math.MaxUint64

// placeOf packs a row into a number that orders rows as they stand.
func placeOf(unit int, row int64) uint64 { return uint64(unit)<<40 | uint64(row)&(1<<40-1) }

func unpack(place uint64) (unit int, row int64) { return int(place >> 40), int64(place & (1<<40 - 1)) }

func (p *pair) join(o *pair) {
	for side := range p.rows {
		p.rows[side] += o.rows[side]
		p.first[side] = min(p.first[side], o.first[side])
	}
}

// batch gathers the tuples of one row group. The tally gets them by flush alone:
// a row group may be given up and read again. What is too much for memory waits
// in the tally's file.
type batch struct {
	of      *tally
	counts  pairs
	stashed []stretch
	failure error
}

// limit says how many bytes are held in memory, about, and as much again by so
// many batches together.
func (t *tally) limit(budget, states int64) { t.budget, t.states = budget, states }

func (t *tally) batch() *batch { return &batch{of: t} }

// add counts a row of one side. After a failure nothing can come of it.
func (b *batch) add(tuple []byte, side int, place uint64) {
	if b.failure != nil {
		return
	}
	p := b.counts.of(xxh3.Hash(tuple), tuple)
	p.rows[side]++
	p.first[side] = min(p.first[side], place)
	if b.counts.size() > max(b.of.budget/max(16, b.of.states), minTally) {
		b.stash()
	}
}

// stash writes everything out. Errors are kept for the end.
func (b *batch) stash() {
	var buf []byte
	for i := range b.counts.list {
		c := &b.counts.list[i]
		buf = c.put(buf, b.counts.tuple(c))
	}
	at, err := b.of.file.write(buf)
	if b.stashed = append(b.stashed, at); b.failure == nil {
		b.failure = err
	}
	b.counts.clear()
}

// flush passes everything on.
func (b *batch) flush() error {
	for i := 0; i < len(b.counts.list) && b.failure == nil; i++ {
		c := &b.counts.list[i]
		b.failure = b.of.put(b.counts.tuple(c), &c.pair)
	}
	b.counts = pairs{}
	if b.failure == nil {
		b.failure = b.of.records(b.stashed, b.of.put)
	}
	return b.failure
}

// put counts a tuple in.
func (t *tally) put(tuple []byte, p *pair) error {
	hash := xxh3.Hash(tuple)
	t.spilling.RLock()
	part := &t.parts[hash<<(tallyBits*t.depth)>>(64-tallyBits)]
	part.mu.Lock()
	before := part.counts.size()
	part.counts.of(hash, tuple).join(p)
	t.held.Add(part.counts.size() - before)
	part.mu.Unlock()
	t.spilling.RUnlock()
	if t.held.Load() <= max(t.budget, minTally) {
		return nil
	}
	return t.spill()
}

// spill writes all parts out.
func (t *tally) spill() error {
	t.spilling.Lock()
	defer t.spilling.Unlock()
	if t.held.Load() <= max(t.budget, minTally) {
		return nil // somebody else did
	}
	var buf []byte
	for i := range t.parts {
		part := &t.parts[i]
		for i := range part.counts.list {
			c := &part.counts.list[i]
			buf = c.put(buf, part.counts.tuple(c))
			if len(buf) >= tallyWrite {
				if err := t.write(part, buf); err != nil {
					return err
				}
				buf = buf[:0]
			}
		}
		if err := t.write(part, buf); err != nil {
			return err
		}
		buf = buf[:0]
		part.counts.clear()
	}
	t.held.Store(0)
	return nil
}

func (t *tally) write(part *tallyPart, buf []byte) error {
	if len(buf) == 0 {
		return nil
	}
	at, err := t.file.write(buf)
	part.written = append(part.written, at)
	return err
}

// put appends a record.
func (p *pair) put(dst, tuple []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(tuple)))
	dst = append(dst, tuple...)
	for side := range p.rows {
		dst = binary.AppendUvarint(dst, uint64(p.rows[side]))
		dst = binary.LittleEndian.AppendUint64(dst, p.first[side])
	}
	return dst
}

// records calls fn with what was written.
func (t *tally) records(written []stretch, fn func(tuple []byte, p *pair) error) error {
	var tuple []byte
	var place [8]byte
	var p pair
	for _, at := range written {
		from := bufio.NewReaderSize(io.NewSectionReader(t.file.file, at.offset, at.length), 64<<10)
		for {
			n, err := binary.ReadUvarint(from)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				tuple = slices.Grow(tuple[:0], int(n))[:n]
				_, err = io.ReadFull(from, tuple)
			}
			for side := range p.rows {
				var rows uint64
				if err == nil {
					rows, err = binary.ReadUvarint(from)
				}
				if err == nil {
					_, err = io.ReadFull(from, place[:])
				}
				p.rows[side], p.first[side] = int64(rows), binary.LittleEndian.Uint64(place[:])
			}
			if err != nil {
				return fmt.Errorf("read temporary file for values: %w", err)
			}
			if err := fn(tuple, &p); err != nil {
				return err
			}
		}
	}
	return nil
}

// each calls fn once for every tuple, in no order; neither may be kept, and
// nothing may be added any more. The error is fn's or the temporary file's.
func (t *tally) each(fn func(tuple []byte, p *pair) error) error {
	for i := range t.parts {
		part := &t.parts[i]
		if err := t.bring(part, fn); err != nil {
			return err
		}
		part.counts, part.written = pairs{}, nil
	}
	return nil
}

func (t *tally) bring(part *tallyPart, fn func(tuple []byte, p *pair) error) error {
	size := int64(0)
	for _, at := range part.written {
		size += at.length
	}
	if size*2 > max(t.budget, minTally) && t.depth < tallyDepth {
		below := &tally{budget: t.budget, depth: t.depth + 1}
		err := t.spread(part, below)
		if err == nil {
			err = below.each(fn)
		}
		return cmp.Or(err, below.close())
	}
	err := t.records(part.written, func(tuple []byte, p *pair) error {
		part.counts.of(xxh3.Hash(tuple), tuple).join(p)
		return nil
	})
	for i := 0; err == nil && i < len(part.counts.list); i++ {
		c := &part.counts.list[i]
		err = fn(part.counts.tuple(c), &c.pair)
	}
	return err
}

// spread puts a part's tuples into the parts of another tally.
func (t *tally) spread(part *tallyPart, below *tally) error {
	for i := range part.counts.list {
		c := &part.counts.list[i]
		if err := below.put(part.counts.tuple(c), &c.pair); err != nil {
			return err
		}
	}
	return t.records(part.written, below.put)
}

// close frees the temporary file.
func (t *tally) close() error { return t.file.close() }
