package audit

import "bytes"

// pairs maps tuples to pairs: a hash table with open addressing, of which the
// garbage collector sees three slices. The zero value is empty.
type pairs struct {
	slots []int32 // number of the entry plus one, or 0; as many as a power of two
	list  []countedTuple
	arena []byte
}

type countedTuple struct {
	pair
	hash       uint64
	start, end int // in the arena
}

const firstSlots = 64

// of returns the pair of a tuple, a new one where there was none. It is valid
// until the next call.
func (t *pairs) of(hash uint64, tuple []byte) *pair {
	if len(t.list)*4 >= len(t.slots)*3 {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		n := t.slots[at]
		if n == 0 {
			start := len(t.arena)
			t.arena = append(t.arena, tuple...)
			t.list = append(t.list, countedTuple{
				pair: pair{first: [2]uint64{nowhere, nowhere}}, hash: hash, start: start, end: len(t.arena),
			})
			t.slots[at] = int32(len(t.list))
			return &t.list[len(t.list)-1].pair
		}
		if c := &t.list[n-1]; c.hash == hash && bytes.Equal(t.tuple(c), tuple) {
			return &c.pair
		}
	}
}

func (t *pairs) tuple(c *countedTuple) []byte { return t.arena[c.start:c.end] }

func (t *pairs) grow() {
	t.slots = make([]int32, max(firstSlots, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for i := range t.list {
		at := t.list[i].hash & mask
		for t.slots[at] != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = int32(i + 1)
	}
}

// size is what it takes, about.
func (t *pairs) size() int64 { return int64(len(t.arena)) + int64(len(t.list))*tallyCost }

// clear empties it and keeps the memory.
func (t *pairs) clear() {
	clear(t.slots)
	t.list, t.arena = t.list[:0], t.arena[:0]
}
