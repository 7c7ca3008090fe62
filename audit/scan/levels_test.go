package scan

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// The format's own examples: 0 to 7 in three bits, in both orders of bits.
func TestBitOrders(t *testing.T) {
	want := []uint8{0, 1, 2, 3, 4, 5, 6, 7}
	tests := []struct {
		name     string
		encoding int32
		body     []byte
	}{
		{"bit-packed", encBitPacked, []byte{0x05, 0x39, 0x77, 0xee}},
		{"hybrid", encRLE, []byte{4, 0, 0, 0, 3, 0x88, 0xc6, 0xfa, 0xee}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, rest, err := levelsV1(test.body, test.encoding, 7, len(want))
			if err != nil || !bytes.Equal(rest, []byte{0xee}) {
				t.Fatalf("rest %x, %v", rest, err)
			}
			again, counts := s, newTally(&Column{MaxDef: 7}, 1)
			got := make([]uint8, len(want))
			if err := s.read(got); err != nil || !bytes.Equal(got, want) {
				t.Errorf("levels %v, %v", got, err)
			}
			err = counts.page(&page{def: again, left: len(want)})
			if err != nil || !slices.Equal(counts.counts[0], []int64{1, 1, 1, 1, 1, 1, 1, 1}) || !slices.Equal(counts.places[6], []int64{6}) {
				t.Errorf("counts %v, places %v, %v", counts.counts, counts.places, err)
			}
		})
	}
}

func TestBadLevels(t *testing.T) {
	tests := []struct {
		name     string
		encoding int32
		body     []byte
		max      uint8
	}{
		{"no length", encRLE, []byte{1, 0, 0}, 1},
		{"length beyond the page", encRLE, []byte{3, 0, 0, 0, 2, 1}, 1},
		{"no run", encRLE, []byte{0, 0, 0, 0}, 1},
		{"run without a value", encRLE, []byte{1, 0, 0, 0, 16}, 1},
		{"run too short", encRLE, []byte{2, 0, 0, 0, 14, 1}, 1},
		{"run above the maximum", encRLE, []byte{2, 0, 0, 0, 16, 3}, 2},
		{"run wider than its bits", encRLE, []byte{2, 0, 0, 0, 16, 9}, 2},
		{"packed above the maximum", encRLE, []byte{3, 0, 0, 0, 3, 0xff, 0xff}, 2},
		{"packed cut off", encRLE, []byte{1, 0, 0, 0, 3}, 1},
		{"bit-packed cut off", encBitPacked, []byte{1}, 3},
		{"bit-packed above the maximum", encBitPacked, []byte{0xff, 0xff}, 2},
		{"another encoding", encPlain, []byte{1, 2, 3, 4, 5, 6, 7, 8}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			read := func(use func(levelStream) error) error {
				s, _, err := levelsV1(test.body, test.encoding, test.max, 8)
				if err != nil {
					return err
				}
				return use(s)
			}
			got := make([]uint8, 8)
			if err := read(func(s levelStream) error { return s.read(got) }); err == nil {
				t.Errorf("levels %v", got)
			}
			counts := newTally(&Column{MaxDef: test.max}, 1)
			if err := read(func(s levelStream) error { return counts.page(&page{def: s, left: 8}) }); err == nil {
				t.Errorf("counts %v", counts.counts)
			}
		})
	}
}

// pack writes values least significant bit first.
func pack(values []uint32, width int) []byte {
	out := make([]byte, (len(values)*width+7)/8)
	for i, v := range values {
		for b := range width {
			out[(i*width+b)/8] |= byte(v>>b&1) << ((i*width + b) % 8)
		}
	}
	return out
}

// Every width, read in pieces that begin and end anywhere.
func TestUnpackEveryWidth(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for width := 1; width <= 32; width++ {
		values := make([]uint32, 8*20)
		for i := range values {
			values[i] = r.Uint32() >> (32 - width)
		}
		h := newHybrid(append([]byte{20<<1 | 1}, pack(values, width)...), width)
		var got []uint32
		for len(got) < len(values) {
			part := make([]uint32, min(1+r.IntN(30), len(values)-len(got)))
			if err := h.indices(part, 1<<31); err != nil && width < 32 {
				t.Fatal(err)
			}
			got = append(got, part...)
		}
		if !slices.Equal(got, values) {
			t.Errorf("width %d: values differ", width)
		}
	}
}
