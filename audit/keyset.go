package audit

import (
	"slices"
	"sync"
	"sync/atomic"
)

// keyset finds the hashes that were added at least twice. It keeps eight bytes a
// hash, spread over parts by their top bits; above its budget the parts go to an
// unlinked temporary file.
//
// The low bits of an entry are not the hash's: they name the unit it came from,
// so that who confirms a candidate knows where to look. Of one hash no more than
// two entries of each unit are kept, so that one value in a billion rows takes
// no more than in two of every row group.
type keyset struct {
	budget int64 // bytes held in memory, about
	// unitBits is how many low bits name the unit. Whoever has more units than
	// that gives several the same name.
	unitBits uint

	spilling sync.RWMutex // held for writing while parts are cut and written
	held     atomic.Int64
	parts    [keyParts]keyPart
	spill    spillFile
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
	segments []segment // of the spill file
}

// entry puts a unit's name in place of a hash's low bits.
func (k *keyset) entry(hash uint64, unit int) uint64 { return k.head(hash) | uint64(unit) }

// head is what is left of a hash.
func (k *keyset) head(hash uint64) uint64 { return hash >> k.unitBits << k.unitBits }

// unit is the name in an entry.
func (k *keyset) unit(entry uint64) int { return int(entry & (1<<k.unitBits - 1)) }

// add takes entries in, in any order and from any goroutine. It orders them by
// part, in place of scratch, which must be as long. The error is the temporary
// file's.
func (k *keyset) add(entries, scratch []uint64) error {
	var ends [keyParts]int
	for _, e := range entries {
		ends[e>>(64-keyPartBits)]++
	}
	sum := 0
	for i, n := range ends {
		ends[i], sum = sum, sum+n
	}
	scratch = scratch[:len(entries)]
	for _, e := range entries {
		at := &ends[e>>(64-keyPartBits)]
		scratch[*at] = e
		*at++
	}
	k.spilling.RLock()
	start := 0
	for i, end := range ends {
		if start < end {
			k.held.Add(k.parts[i].push(scratch[start:end]))
		}
		start = end
	}
	k.spilling.RUnlock()
	if k.held.Load() <= k.budget {
		return nil
	}
	k.spilling.Lock()
	defer k.spilling.Unlock()
	if k.held.Load() <= k.budget {
		return nil
	}
	return k.shrink()
}

// push appends entries and returns how many bytes that took.
func (p *keyPart) push(entries []uint64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	took := 0
	for len(entries) > 0 {
		last := len(p.blocks) - 1
		switch {
		case last < 0:
			// The first grows with what comes: most sets are small.
			p.blocks, last = append(p.blocks, nil), 0
		case len(p.blocks[last]) >= keyBlock:
			p.blocks, last = append(p.blocks, make([]uint64, 0, keyBlock)), last+1
			took += keyBlock
		}
		b := p.blocks[last]
		n, before := min(len(entries), keyBlock-len(b)), cap(b)
		b = append(b, entries[:n]...)
		took += cap(b) - before
		p.blocks[last], entries = b, entries[n:]
	}
	return int64(took) * 8
}

// take empties a part's memory into dst.
func (p *keyPart) take(dst []uint64) []uint64 {
	for _, b := range p.blocks {
		dst = append(dst, b...)
	}
	p.blocks = nil
	return dst
}

// shrink cuts parts, and writes out those that stay larger than half, until half
// of the budget is free.
func (k *keyset) shrink() error {
	var s sorter
	for i := range k.parts {
		if k.held.Load() <= k.budget/2 {
			return nil
		}
		p := &k.parts[i]
		for _, b := range p.blocks {
			k.held.Add(-int64(cap(b)) * 8)
		}
		s.list = p.take(s.list[:0])
		n := len(s.list)
		k.cut(&s)
		if len(s.list) <= n/2 {
			k.held.Add(p.push(s.list))
			continue
		}
		if err := k.spill.write(p, s.list); err != nil {
			return err
		}
	}
	return nil
}

// cut sorts and keeps at most two of equal entries.
func (k *keyset) cut(s *sorter) {
	s.sort()
	list, n := s.list, 0
	for _, e := range list {
		if n >= 2 && list[n-1] == e && list[n-2] == e {
			continue
		}
		list[n] = e
		n++
	}
	s.list = list[:n]
}

// candidates are hashes, without their low bits, that were added at least twice.
type candidates struct {
	heads []uint64
	units []bool // by name: who has one of them
}

// repeated calls fn with the candidates, in rising order, in pieces of at most
// limit. It looks through as many parts at once as are asked for, and no more
// may be added.
func (k *keyset) repeated(limit, parallel int, fn func(c candidates) error) error {
	parallel = max(1, min(parallel, keyParts))
	sorters, errs := make([]sorter, parallel), make([]error, parallel)
	found := k.none()
	for first := 0; first < keyParts; first += parallel {
		var group sync.WaitGroup
		round := k.parts[first:min(first+parallel, keyParts)]
		for i := range round {
			group.Go(func() { errs[i] = k.search(&round[i], &sorters[i]) })
		}
		group.Wait()
		for i := range round {
			if errs[i] != nil {
				return errs[i]
			}
			for _, e := range sorters[i].list {
				head := k.head(e)
				if n := len(found.heads); n == 0 || found.heads[n-1] != head {
					if n == limit {
						if err := fn(found); err != nil {
							return err
						}
						found = k.none()
					}
					found.heads = append(found.heads, head)
				}
				found.units[k.unit(e)] = true
			}
		}
	}
	if len(found.heads) == 0 {
		return nil
	}
	return fn(found)
}

func (k *keyset) none() candidates { return candidates{units: make([]bool, 1<<k.unitBits)} }

// search leaves the entries of a part whose hash stands there more than once.
func (k *keyset) search(p *keyPart, s *sorter) error {
	if err := k.load(p, s); err != nil {
		return err
	}
	s.sort()
	list, n := s.list, 0
	for from := 0; from < len(list); {
		to := from + 1
		for head := k.head(list[from]); to < len(list) && k.head(list[to]) == head; {
			to++
		}
		if to > from+1 {
			n += copy(list[n:], slices.Compact(list[from:to]))
		}
		from = to
	}
	s.list = list[:n]
	return nil
}

// load brings a part together, cutting it whenever it has doubled.
func (k *keyset) load(p *keyPart, s *sorter) error {
	s.list = p.take(s.list[:0])
	kept := len(s.list)
	var err error
	for _, seg := range p.segments {
		if s.list, err = k.spill.read(s.list, seg); err != nil {
			return err
		}
		if len(s.list) > 2*kept+keyBlock {
			k.cut(s)
			kept = len(s.list)
		}
	}
	p.segments = nil
	return nil
}

// close frees the temporary file.
func (k *keyset) close() error { return k.spill.close() }
