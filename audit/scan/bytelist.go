package scan

import "slices"

// Bytes either points into a page, or owns its data, which then has no gaps.
// The owned buffer is kept over resets.

func (b *Bytes) reset() {
	if b.own {
		b.buffer = b.Data[:0]
	}
	*b = Bytes{buffer: b.buffer, Offsets: b.Offsets[:0]}
}

// inPage reports whether strings point into a page, and so go with it.
func (b *Bytes) inPage() bool { return b.count > 0 && !b.own }

// detach makes the list independent of the page.
func (b *Bytes) detach() {
	if b.own {
		return
	}
	from := *b
	b.Data, b.own = b.buffer[:0], true
	if from.Width > 0 {
		b.Data = append(b.Data, from.Data[:from.count*from.Width]...)
		return
	}
	b.Gap = 0
	if from.count == 0 {
		b.Offsets = append(b.Offsets[:0], 0)
		return
	}
	// Offsets shrink in place: string i is read before offset i+1 is written.
	begin := from.Offsets[0]
	b.Offsets[0] = 0
	for i := range from.count {
		end := from.Offsets[i+1]
		b.Data = append(b.Data, from.Data[begin+from.Gap:end]...)
		begin = end
		b.Offsets[i+1] = uint32(len(b.Data))
	}
}

// append adds a copy of s.
func (b *Bytes) append(s []byte) {
	b.detach()
	b.Data = append(b.Data, s...)
	b.Offsets = append(b.Offsets, uint32(len(b.Data)))
	b.count++
}

// appendFixed adds copies of the strings of one width that make up src.
func (b *Bytes) appendFixed(src []byte, width int) {
	b.Width, b.Offsets = width, nil
	b.detach()
	b.Data = append(b.Data, src...)
	b.count += len(src) / width
}

func (b *Bytes) prefix(n int) Bytes {
	p := Bytes{Data: b.Data, Gap: b.Gap, Width: b.Width, count: n}
	if b.Width == 0 {
		p.Offsets = b.Offsets[:min(n+1, len(b.Offsets))]
	}
	return p
}

func (b *Bytes) drop(n int) {
	b.count -= n
	switch {
	case b.count == 0:
		b.reset()
	case b.Width > 0 && b.own:
		b.Data = drop(b.Data, n*b.Width)
	case b.Width > 0:
		b.Data = b.Data[n*b.Width:]
	case b.own:
		first := b.Offsets[n]
		b.Data = drop(b.Data, int(first))
		b.Offsets = drop(b.Offsets, n)
		for i := range b.Offsets {
			b.Offsets[i] -= first
		}
	default:
		b.Offsets = drop(b.Offsets, n)
	}
}

// growOffsets makes room for n more strings and their list's first offset.
func (b *Bytes) growOffsets(n int) { b.Offsets = slices.Grow(b.Offsets, n+1) }
