package scan

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Statistics is what the footer says about the values of one column chunk. It
// is the writer's claim; it decides nothing, and is there to be compared.
type Statistics struct {
	NullCount     *int64 // nil: the writer did not say; never to be read as 0
	DistinctCount *int64
	Min, Max      []byte // PLAIN, a BYTE_ARRAY without its length; nil: not given
	MinExact      bool   // the writer says that Min occurs; else it may be a bound
	MaxExact      bool
	// Comparable reports whether Min and Max have a defined order that this
	// package knows, so whether a [StatisticsCheck] judges them. INT96 never has.
	Comparable bool
}

// Statistics returns the footer's statistics of a column chunk; the zero value
// when it has none.
func (f *File) Statistics(rg, column int) (Statistics, error) {
	if _, err := f.chunk(rg, column); err != nil {
		return Statistics{}, err
	}
	return f.chunks[rg*len(f.columns)+column].statistics, nil
}

// claims reads the statistics of a chunk from the decoded footer.
func (f *File) claims(meta *metadata.FileMetaData, rg, column int) Statistics {
	c := &f.columns[column]
	st := meta.RowGroups[rg].Columns[column].MetaData.Statistics
	if st == nil {
		return Statistics{}
	}
	out := Statistics{NullCount: st.NullCount, DistinctCount: st.DistinctCount}
	order := meta.Schema.Column(column).SortOrder()
	switch {
	case st.MinValue != nil || st.MaxValue != nil:
		out.Min, out.Max = st.MinValue, st.MaxValue
		out.MinExact = st.IsMinValueExact != nil && *st.IsMinValueExact
		out.MaxExact = st.IsMaxValueExact != nil && *st.IsMaxValueExact
		out.Comparable = order != schema.SortUNKNOWN && typeDefinedOrder(meta, column)
	default:
		// The deprecated pair was always compared as signed numbers.
		out.Min, out.Max = st.Min, st.Max
		out.Comparable = order == schema.SortSIGNED && c.boundWidth() > 0 && c.Physical != PhysFixed
	}
	if c.Physical == PhysInt96 || !c.ordered() {
		out.Comparable = false
	}
	if w := c.boundWidth(); w > 0 && (out.Min != nil && len(out.Min) != w || out.Max != nil && len(out.Max) != w) {
		out.Comparable = false
	}
	return out
}

// boundWidth is the size of a minimum or maximum in bytes; 0 when it varies.
func (c *Column) boundWidth() int {
	if c.Physical == PhysBool {
		return 1
	}
	return c.width()
}

// typeDefinedOrder reports whether the footer declares the order of min_value
// and max_value. Without a declaration it is the type's, as all writers mean.
func typeDefinedOrder(meta *metadata.FileMetaData, column int) bool {
	orders := meta.ColumnOrders
	return len(orders) == 0 || column < len(orders) && orders[column].IsSetTYPE_ORDER()
}

// ordered reports whether compare knows the column's order.
func (c *Column) ordered() bool {
	switch c.Type.Kind {
	case Null, Interval, Variant, Geometry, Geography:
		return false
	}
	return true
}

// compare orders two values, PLAIN, of a column as statistics do. NaN is equal
// to everything: callers leave it out.
func (c *Column) compare(a, b []byte) int {
	switch c.Physical {
	case PhysBool:
		return cmp.Compare(a[0], b[0])
	case PhysInt32:
		x, y := binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b)
		if c.unsigned() {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(int32(x), int32(y))
	case PhysInt64:
		x, y := binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b)
		if c.unsigned() {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(int64(x), int64(y))
	case PhysFloat, PhysDouble:
		return compareFloats(c.float(a), c.float(b))
	}
	switch c.Type.Kind {
	case Decimal:
		return compareDecimals(a, b)
	case Float16:
		return compareFloats(c.float(a), c.float(b))
	}
	return bytes.Compare(a, b)
}

func (c *Column) unsigned() bool {
	switch c.Type.Kind {
	case Uint8, Uint16, Uint32, Uint64:
		return true
	}
	return false
}

func (c *Column) float(b []byte) float64 {
	switch c.Physical {
	case PhysFloat:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b)))
	case PhysDouble:
		return math.Float64frombits(binary.LittleEndian.Uint64(b))
	}
	return float16(binary.LittleEndian.Uint16(b))
}

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareDecimals orders big-endian two's complement numbers of any lengths.
func compareDecimals(a, b []byte) int {
	x, okX := int128(a)
	y, okY := int128(b)
	if okX && okY {
		return x.Cmp(y)
	}
	return bigDecimal(a).Cmp(bigDecimal(b))
}
