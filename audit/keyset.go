package audit

import (
	"sync"
	"sync/atomic"
)

// keyset finds the hashes that were added at least twice. It keeps eight bytes a
// hash, spread over parts by their top bits; above its budget the parts go to an
// unlinked temporary file.
//
// The low bits of an entry are not the hash's: they name the unit it came from,
// so that who confirms a candidate knows where to look. Of one hash no more than
// two entries of each unit need be kept, so that one value in a billion rows
// takes no more than in two of every row group.
type keyset struct {
	budget int64 // bytes held in memory, about
	// unitBits is how many low bits name the unit. Whoever has more units than
	// that gives several the same name.
	unitBits uint

	// anywhere: it is not known where the first of a candidate's entries came
	// from.
	anywhere atomic.Bool

	held  atomic.Int64
	parts [keyParts]keyPart

	// writing is held by who moves parts to the spill file.
	writing sync.Mutex
	spill   spillFile
	sorter  sorter
	failure error
	failed  atomic.Bool // failure is set: what is added is dropped

	mu    sync.Mutex
	spare [][]uint64 // blocks whose entries are in the spill file
}

const (
	keyParts    = 256
	keyPartBits = 8
	// keyBlock is how many entries a part takes memory for at once.
	keyBlock = 2048
	// maxUnitBits leaves 48 bits to the hash: of 10^9 rows some 2,000 pairs have
	// equal ones by chance, and cost a look in the second pass.
	maxUnitBits = 16
)

type keyPart struct {
	mu       sync.Mutex
	blocks   [][]uint64
	bytes    int64     // of the blocks
	segments []segment // of the spill file
}

// entry puts a unit's name in place of a hash's low bits.
func (k *keyset) entry(hash uint64, unit int) uint64 { return k.head(hash) | uint64(unit) }

// head is what is left of a hash.
func (k *keyset) head(hash uint64) uint64 { return hash >> k.unitBits << k.unitBits }

// unit is the name in an entry.
func (k *keyset) unit(entry uint64) int { return int(entry & (1<<k.unitBits - 1)) }

// push adds entries of one part, from any goroutine.
func (k *keyset) push(part int, entries []uint64) {
	if k.failed.Load() {
		return
	}
	if took := k.store(&k.parts[part], entries); took > 0 && k.held.Add(took) > k.budget {
		k.relieve()
	}
}

// store appends entries to a part and returns how many bytes that took.
func (k *keyset) store(p *keyPart, entries []uint64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.bytes
	for len(entries) > 0 {
		last := len(p.blocks) - 1
		switch {
		case last < 0:
			// The first grows with what comes: most sets are small.
			p.blocks, last = append(p.blocks, nil), 0
		case len(p.blocks[last]) >= keyBlock:
			p.blocks, last = append(p.blocks, k.block()), last+1
			p.bytes += keyBlock * 8
		}
		b := p.blocks[last]
		n, size := min(len(entries), keyBlock-len(b)), cap(b)
		b = append(b, entries[:n]...)
		p.bytes += int64(cap(b)-size) * 8
		p.blocks[last], entries = b, entries[n:]
	}
	return p.bytes - before
}

// block is an empty one.
func (k *keyset) block() []uint64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.spare); n > 0 {
		b := k.spare[n-1]
		k.spare = k.spare[:n-1]
		return b
	}
	return make([]uint64, 0, keyBlock)
}

// relieve moves parts to the spill file, the largest first, until the budget is
// kept. While one goroutine does, the others go on until an eighth of the budget
// is owed.
func (k *keyset) relieve() {
	if k.held.Load() > k.budget+k.budget/8 {
		k.writing.Lock()
	} else if !k.writing.TryLock() {
		return
	}
	defer k.writing.Unlock()
	for k.held.Load() > k.budget && k.failure == nil {
		if err := k.evict(k.largest()); err != nil {
			k.failure = err
			k.failed.Store(true)
		}
	}
}

// largest is the part that holds most.
func (k *keyset) largest() *keyPart {
	best, most := &k.parts[0], int64(-1)
	for i := range k.parts {
		p := &k.parts[i]
		p.mu.Lock()
		if p.bytes > most {
			best, most = p, p.bytes
		}
		p.mu.Unlock()
	}
	return best
}

// evict takes a part out of memory. One that repeats itself is cut, and stays if
// that has halved it; else it is written.
func (k *keyset) evict(p *keyPart) error {
	p.mu.Lock()
	blocks, bytes := p.blocks, p.bytes
	p.blocks, p.bytes = nil, 0
	p.mu.Unlock()
	defer k.held.Add(-bytes)
	list := blocks
	if k.repetitive(blocks[0]) {
		s := &k.sorter
		s.list = appendBlocks(s.list[:0], blocks)
		n := len(s.list)
		s.cut()
		if len(s.list) <= n/2 {
			k.held.Add(k.store(p, s.list))
			return nil
		}
		list = [][]uint64{s.list}
	}
	if err := k.spill.write(p, list); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, b := range blocks {
		if cap(b) == keyBlock {
			k.spare = append(k.spare, b[:0])
		}
	}
	return nil
}

// repetitive reports whether cutting would halve some entries.
func (k *keyset) repetitive(sample []uint64) bool {
	s := &k.sorter
	s.list = append(s.list[:0], sample...)
	s.cut()
	return len(s.list) <= len(sample)/2
}

func appendBlocks(dst []uint64, blocks [][]uint64) []uint64 {
	for _, b := range blocks {
		dst = append(dst, b...)
	}
	return dst
}
