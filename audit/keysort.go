package audit

import (
	"math/bits"
	"slices"
)

// sorter sorts entries of one part of a keyset: they share their top bits, and
// the next ones are as good as random.
type sorter struct {
	list   []uint64
	spare  []uint64
	bucket []uint32
	more   uint // bits beyond the part's that all have in common
}

const (
	bucketSize    = 8 // entries, on average
	maxBucketBits = 16
	insertionMost = 32
)

// sort orders list. One pass puts entries into buckets of a few by their next
// bits, which is most of the order; what has no random bits is only slower.
func (s *sorter) sort() {
	if len(s.list) <= insertionMost {
		insertionSort(s.list)
		return
	}
	width := min(bits.Len(uint(len(s.list)/bucketSize)), maxBucketBits)
	place := func(e uint64) uint64 { return e << (keyPartBits + s.more) >> (64 - width) }
	if cap(s.bucket) < 1<<width {
		s.bucket = make([]uint32, 1<<width)
	}
	ends := s.bucket[:1<<width]
	clear(ends)
	for _, e := range s.list {
		ends[place(e)]++
	}
	sum := uint32(0)
	for i, n := range ends {
		ends[i], sum = sum, sum+n
	}
	s.spare = slices.Grow(s.spare[:0], len(s.list))[:len(s.list)]
	for _, e := range s.list {
		at := &ends[place(e)]
		s.spare[*at] = e
		*at++
	}
	start := uint32(0)
	for _, end := range ends {
		if b := s.spare[start:end]; len(b) <= insertionMost {
			insertionSort(b)
		} else {
			slices.Sort(b)
		}
		start = end
	}
	s.list, s.spare = s.spare, s.list
}

func insertionSort(list []uint64) {
	for i := 1; i < len(list); i++ {
		x, j := list[i], i
		for ; j > 0 && list[j-1] > x; j-- {
			list[j] = list[j-1]
		}
		list[j] = x
	}
}

// cut sorts and keeps at most two of equal entries.
func (s *sorter) cut() {
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
