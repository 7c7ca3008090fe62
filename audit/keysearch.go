package audit

import (
	"math/bits"
	"slices"
	"sync"
)

// candidates are hashes, without their low bits, that were added at least twice.
type candidates struct {
	heads []uint64
	units []bool // by name: who has one of them
}

// repeated calls fn with the candidates, in rising order, in pieces of at most
// limit. It looks through as many parts at once as are asked for, and no more
// may be added. What is in memory is let go.
func (k *keyset) repeated(limit, parallel int, fn func(c candidates) error) error {
	if k.failure != nil {
		return k.failure
	}
	k.spare = nil
	parallel = max(1, min(parallel, keyParts))
	searchers, errs := make([]searcher, parallel), make([]error, parallel)
	for i := range searchers {
		searchers[i].share = k.budget / int64(max(8, parallel))
	}
	found := k.none()
	for first := 0; first < keyParts; first += parallel {
		var group sync.WaitGroup
		var panics carried
		round := k.parts[first:min(first+parallel, keyParts)]
		for i := range round {
			group.Go(func() {
				defer panics.catch()
				errs[i] = k.search(&round[i], &searchers[i])
			})
		}
		group.Wait()
		panics.again()
		for i := range round {
			if errs[i] != nil {
				return errs[i]
			}
			for _, e := range searchers[i].found {
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

func (k *keyset) none() candidates {
	c := candidates{units: make([]bool, 1<<k.unitBits)}
	for i := range c.units {
		c.units[i] = k.anywhere.Load()
	}
	return c
}

// searcher looks for what repeats in parts, one after the other.
type searcher struct {
	sorter
	share  int64 // bytes of entries that it brings together
	seen   []seenBits
	loaded []uint64
	found  []uint64
}

// seenBits are places of which entries were seen once, and more than once.
type seenBits struct{ once, again uint64 }

// seenPlaces is how many places there are for an entry, at least: the fewer, the
// more entries share one by chance.
const seenPlaces = 12

// search finds the entries of a part whose hash stands there more than once. A
// part that is too large to be brought together is read several times, each time
// for those with other bits.
func (k *keyset) search(p *keyPart, s *searcher) error {
	s.found, s.more = s.found[:0], 0
	if len(p.segments) == 0 {
		s.collect(p.blocks)
		s.repeats(k)
		p.blocks, p.bytes = nil, 0
		return nil
	}
	n := p.bytes
	for _, seg := range p.segments {
		n += seg.length
	}
	for n>>s.more > s.share && s.more < maxRounds {
		s.more++
	}
	for round := range uint64(1) << s.more {
		if err := k.load(p, s, round); err != nil {
			return err
		}
		s.collect([][]uint64{s.loaded})
		s.repeats(k)
	}
	p.blocks, p.bytes, p.segments = nil, 0, nil
	return nil
}

// maxRounds is how many bits of its entries a part is divided by at most.
const maxRounds = 10

// repeats moves the entries of list whose hash stands there more than once to
// found, in order.
func (s *searcher) repeats(k *keyset) {
	s.sort()
	list := s.list
	for from := 0; from < len(list); {
		to := from + 1
		for head := k.head(list[from]); to < len(list) && k.head(list[to]) == head; {
			to++
		}
		if to > from+1 {
			s.found = append(s.found, slices.Compact(list[from:to])...)
		}
		from = to
	}
}

// load brings the entries of one round together, cutting them when they have
// doubled.
func (k *keyset) load(p *keyPart, s *searcher, round uint64) error {
	s.list = s.list[:0]
	kept := int(k.budget / 64)
	add := func(entries []uint64) {
		for _, e := range entries {
			if e<<keyPartBits>>(64-s.more) == round {
				s.list = append(s.list, e)
			}
		}
		if len(s.list) > 2*kept+keyBlock {
			s.cut()
			kept = max(kept, len(s.list))
		}
	}
	for _, b := range p.blocks {
		add(b)
	}
	for _, seg := range p.segments {
		if err := k.spill.read(seg, add); err != nil {
			return err
		}
	}
	s.list, s.loaded = s.loaded, s.list
	return nil
}

// collect puts the entries into list that share their place with another: all
// that have an equal hash, and a few that do not.
func (s *searcher) collect(blocks [][]uint64) {
	n := 0
	for _, b := range blocks {
		n += len(b)
	}
	s.list = s.list[:0]
	if n < insertionMost {
		s.list = appendBlocks(s.list, blocks)
		return
	}
	// More would be the unit's bits.
	skip := keyPartBits + s.more
	width := min(max(6, uint(bits.Len(uint(n*seenPlaces)))), 64-skip-maxUnitBits)
	words := 1 << (width - 6)
	s.seen = slices.Grow(s.seen[:0], words)[:words]
	clear(s.seen)
	shift := 64 - width
	for _, b := range blocks {
		for _, e := range b {
			place := e << skip >> shift
			at, bit := &s.seen[place>>6], uint64(1)<<(place&63)
			at.again |= at.once & bit
			at.once |= bit
		}
	}
	for _, b := range blocks {
		for _, e := range b {
			place := e << skip >> shift
			if s.seen[place>>6].again>>(place&63)&1 != 0 {
				s.list = append(s.list, e)
			}
		}
	}
}

// close frees the temporary file.
func (k *keyset) close() error { return k.spill.close() }
