package scan

import "math/bits"

// flat counts the levels of a page of a column that is not repeated, a run at a
// time.
func (t *tally) flat(p *page) error {
	for p.left > 0 {
		n, err := t.flatRun(&p.def, p.left)
		if err != nil {
			return err
		}
		p.left -= n
	}
	t.nullRows = t.rows - t.counts[0][t.column.MaxDef]
	return nil
}

// flatRun counts entries of one run, most of them at most, and returns how many.
func (t *tally) flatRun(s *levelStream, most int) (int, error) {
	level, n, err := s.repeats(most)
	switch {
	case err != nil:
		return 0, err
	case n > 0:
		for i := range min(n, t.room(level)) {
			t.places[level] = append(t.places[level], t.rows+int64(i))
		}
		t.counts[0][level] += int64(n)
		t.rows += int64(n)
		s.pass(n)
		return n, nil
	case s.legacy == nil && s.max == 1:
		return t.flatBits(&s.hybrid, most), nil
	}
	part := t.def[:min(most, entryStep)]
	if err := s.read(part); err != nil {
		return 0, err
	}
	for i, v := range part {
		t.counts[0][v]++
		if t.room(v) > 0 {
			t.places[v] = append(t.places[v], t.rows+int64(i))
		}
	}
	t.rows += int64(len(part))
	return len(part), nil
}

// room is how many more places of a level are wanted.
func (t *tally) room(level uint8) int {
	if level >= t.column.MaxDef {
		return 0
	}
	return t.most - len(t.places[level])
}

// flatBits counts a bit-packed run of levels 0 and 1. Where the zeros stand is
// looked up in a copy, if anybody wants to know.
func (t *tally) flatBits(h *hybrid, most int) int {
	n, again := min(most, h.run), *h
	ones := h.ones(n)
	t.counts[0][1] += int64(ones)
	t.counts[0][0] += int64(n - ones)
	for at := 0; at < n && ones < n && t.room(0) > 0; {
		part := t.def[:min(n-at, entryStep)]
		unpack(&again, part)
		for i, v := range part {
			if v == 0 && t.room(0) > 0 {
				t.places[0] = append(t.places[0], t.rows+int64(at+i))
			}
		}
		at += len(part)
	}
	t.rows += int64(n)
	return n
}

// ones counts set bits among the next n values of a bit-packed run of width 1.
func (h *hybrid) ones(n int) int {
	h.run -= n
	count := 0
	for ; n > 0 && h.bit&7 != 0; n-- {
		count += int(h.packed[h.bit>>3] >> (h.bit & 7) & 1)
		h.bit++
	}
	whole := h.packed[h.bit>>3:][:n>>3]
	for _, b := range whole {
		count += bits.OnesCount8(b)
	}
	h.bit += n &^ 7
	for n &= 7; n > 0; n-- {
		count += int(h.packed[h.bit>>3] >> (h.bit & 7) & 1)
		h.bit++
	}
	return count
}
