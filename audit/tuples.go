package audit

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/wap-cli/wap/audit/scan"
)

// tuples writes the rows of views as bytes that are equal exactly when the rows
// are: see rowEncoder.
type tuples struct {
	rowEncoder
	slots []int
	null  []bool // by row: one of its columns is NULL
}

// read encodes a view; what it returns is valid until the next call.
func (t *tuples) read(v *view) [][]byte {
	t.start(v.rows)
	if cap(t.null) < v.rows {
		t.null = make([]bool, v.rows)
	}
	t.null = t.null[:v.rows]
	clear(t.null)
	for _, slot := range t.slots {
		vec := v.cols[slot]
		t.column(vec)
		if vec.Def == nil || vec.Column.MaxRep > 0 {
			continue
		}
		for row := range vec.Entries {
			if vec.IsNull(row) {
				t.null[row] = true
			}
		}
	}
	return t.rows[:v.rows]
}

// head is the part of a tuple that its first n columns make; none of them has
// several values a row.
func head(tuple []byte, n int) []byte {
	rest := tuple
	for range n {
		if rest[0] == 0 {
			size, width := binary.Uvarint(rest[1:])
			rest = rest[1+width+int(size):]
		} else {
			rest = rest[1:]
		}
		rest = rest[1:] // endOfColumn
	}
	return tuple[:len(tuple)-len(rest)]
}

// sameValues reports whether equal values of two columns are equal keys. Widths
// do not matter, nor how a number is stored.
func sameValues(a, b *scan.Column) error {
	x, y := a.Type, b.Type
	same := x.Kind == y.Kind
	whole := func(c *scan.Column) bool {
		return (classOf(c) == signed || classOf(c) == unsigned) && c.Type.Kind != scan.Date && c.Type.Kind != scan.Time &&
			c.Type.Kind != scan.Timestamp && c.Type.Kind != scan.Decimal
	}
	text := []scan.Kind{scan.String, scan.Enum, scan.JSON}
	switch {
	case whole(a) && whole(b):
		// The largest unsigned integers look like negative ones.
		same = x.Kind == y.Kind || x.Kind != scan.Uint64 && y.Kind != scan.Uint64
	case classOf(a) == floating && classOf(b) == floating:
		same = true
	case slices.Contains(text, x.Kind) && slices.Contains(text, y.Kind):
		same = true
	case same:
		same = scaleOf(a) == scaleOf(b) && x.UTC == y.UTC
	}
	if !same {
		return fmt.Errorf("column %s is %s, and what it is compared with, %s, is %s", a.Dotted, x, b.Dotted, y)
	}
	if a.MaxRep != b.MaxRep {
		return fmt.Errorf("column %s is nested otherwise than what it is compared with, %s", a.Dotted, b.Dotted)
	}
	return nil
}

// least keeps the n first of the places that it is shown.
type least struct {
	n    int
	list []uint64
}

func (l *least) add(place uint64) {
	if l.n == 0 || len(l.list) == l.n && place >= l.list[l.n-1] {
		return
	}
	at, _ := slices.BinarySearch(l.list, place)
	l.list = slices.Insert(l.list, at, place)
	l.list = l.list[:min(len(l.list), l.n)]
}
