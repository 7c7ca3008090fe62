package scan

import "bytes"

// Batch is a run of whole rows of one row group. It and everything it points to
// is valid only during the callback that receives it; dictionaries aside, which
// live until ScanRowGroup returns.
type Batch struct {
	RowGroup int
	FirstRow int64 // in the file, from 0
	Rows     int   // at least 1
	Columns  []Vector
}

// Vector is one column of a batch.
//
// When the column was asked for as ReadLevels, there are no values. Otherwise either
// Dict is set and Indices[i] is value i's position in it, or Values holds the
// values; Lookup reads both forms.
type Vector struct {
	Column *Column
	Need   Need

	Entries int // slots, equal to the batch's rows unless the column is repeated
	Present int // entries that hold a value; Entries−Present are NULLs or absent

	// Def and Rep hold a level an entry. Def is nil when every entry is at
	// Column.MaxDef, so when MaxDef is 0 or no value of the batch is missing;
	// Rep is nil when MaxRep is 0.
	Def, Rep []uint8

	Dict    *Dictionary
	Indices []uint32 // Present of them when Dict is set; each below Dict.Len
	Values  Values   // Present of them when Dict is nil

	// BadUTF8 counts values of a STRING column that are not UTF-8; FirstBadUTF8
	// is the first one's position among the values. Only where Need is ReadValues.
	BadUTF8      int
	FirstBadUTF8 int
}

// Dictionary holds the values that a column chunk's pages refer to. It is the
// same pointer in all batches of a chunk, so results can be kept by it. Not
// every value need occur.
type Dictionary struct {
	Len    int
	Values Values

	bad []bool // which values are not UTF-8; nil when all are
}

// Values holds present values in order, in the one slice that fits the physical
// type: Bools for BOOLEAN, Int32s, Int64s, Int96s, Floats, Doubles, and Bytes
// for BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY.
type Values struct {
	Bools   []bool
	Int32s  []int32
	Int64s  []int64
	Int96s  []Int96
	Floats  []float32
	Doubles []float64
	Bytes   Bytes
}

// Bytes is a list of byte strings in one piece of memory.
type Bytes struct {
	Data []byte
	// Offsets has one more element than there are strings: string i stands in
	// Data from Offsets[i]+Gap to Offsets[i+1]. It is empty when Width is set.
	Offsets []uint32
	Gap     uint32
	Width   int // bytes of each string when all have the same; else 0
	count   int

	own    bool   // Data belongs to the list, not to a page
	buffer []byte // memory for owning, kept while Data is a page's
}

// Len is the number of strings.
func (b *Bytes) Len() int { return b.count }

// At returns string i, of which the caller must not change or keep the bytes.
func (b *Bytes) At(i int) []byte {
	if b.Width > 0 {
		return b.Data[i*b.Width : (i+1)*b.Width : (i+1)*b.Width]
	}
	end := b.Offsets[i+1]
	return b.Data[b.Offsets[i]+b.Gap : end : end]
}

// IsNull reports whether entry i holds no value.
func (v *Vector) IsNull(i int) bool { return v.Def != nil && v.Def[i] != v.Column.MaxDef }

// RowOf returns the row, from 0 in the batch, of present value n.
func (v *Vector) RowOf(n int) int {
	row := -1
	for i := range v.Entries {
		if v.Rep == nil || v.Rep[i] == 0 {
			row++
		}
		if v.IsNull(i) {
			continue
		}
		if n == 0 {
			return row
		}
		n--
	}
	return row
}

// countPresent counts the entries at level max.
func countPresent(def []uint8, max uint8) int { return bytes.Count(def, []byte{max}) }
