package scan

// streamSplit is BYTE_STREAM_SPLIT: the first bytes of all values, then the
// second ones, and so on.
type streamSplit struct {
	column *Column
	data   []byte
	count  int
	used   int
	joined []byte
}

func newStreamSplit(c *Column, data []byte) (decoder, error) {
	if len(data)%c.width() != 0 {
		return nil, faultf(BadPage, "%d bytes of split streams for values of %d", len(data), c.width())
	}
	return &streamSplit{column: c, data: data, count: len(data) / c.width()}, nil
}

func (d *streamSplit) decode(dst *Values, n int) error {
	if have := d.count - d.used; n > have {
		return short(n - have)
	}
	w := d.column.width()
	if cap(d.joined) < n*w {
		d.joined = make([]byte, n*w)
	}
	joined := d.joined[:n*w]
	for k := range w {
		stream := d.data[k*d.count+d.used:][:n]
		for i, b := range stream {
			joined[i*w+k] = b
		}
	}
	dst.appendFixed(d.column, joined)
	d.used += n
	return nil
}
