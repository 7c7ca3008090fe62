package scan

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// oneColumn writes a file of one row group and column.
func oneColumn(t *testing.T, node schema.Node, fill func(file.ColumnChunkWriter) error, props ...parquet.WriterProperty) []byte {
	t.Helper()
	root := schema.MustGroup(schema.NewGroupNode("schema", req, schema.FieldList{node}, -1))
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, root, file.WithWriterProps(parquet.NewWriterProperties(props...)))
	rg, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	cw, err := rg.NextColumn()
	if err != nil {
		t.Fatal(err)
	}
	if err := fill(cw); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{cw.Close(), rg.Close(), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return buf.Bytes()
}

// batches copies what a test looks at: the vector itself goes with its batch.
func batches(t *testing.T, f *File, need Need) (out []string) {
	t.Helper()
	req := Request{Columns: []ColumnNeed{{Column: 0, Need: need}}}
	err := f.ScanRowGroup(context.Background(), 0, req, func(b *Batch) error {
		v := &b.Columns[0]
		out = append(out, fmt.Sprintf("row %d +%d: %d of %d, def %v rep %v, dict %v, bad %d at %d",
			b.FirstRow, b.Rows, v.Present, v.Entries, v.Def, v.Rep, v.Dict != nil, v.BadUTF8, v.FirstBadUTF8))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func compareLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// [[0,1], null, [], [2,null,3]] is where other tools lose count.
func TestNestedNulls(t *testing.T) {
	list := optionalList("items", schema.NewInt64Node("element", opt, -1))
	data := oneColumn(t, list, func(cw file.ColumnChunkWriter) error {
		_, err := cw.(*file.Int64ColumnChunkWriter).WriteBatch([]int64{0, 1, 2, 3},
			[]int16{3, 3, 0, 1, 3, 2, 3}, []int16{0, 1, 0, 0, 0, 1, 1})
		return err
	})
	f := openBytes(t, data, Options{})
	c, err := f.CountLevels(context.Background(), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	lists, err := f.Resolve("items")
	if err != nil {
		t.Fatal(err)
	}
	rows, nullLists := c.Of(lists)
	elements, nullElements := c.Of(f.Columns()[0].Ref)
	got := fmt.Sprint(rows, nullLists, c.Counts[0][1], elements, nullElements, c.NullRows)
	if want := "4 1 1 5 1 1"; got != want {
		t.Errorf("rows, NULL lists, empty, elements, NULL elements, rows with one: %s, want %s", got, want)
	}
	compareLines(t, batches(t, f, ReadLevels), "row 0 +4: 4 of 7, def [3 3 0 1 3 2 3] rep [0 1 0 0 0 1 1], dict false, bad 0 at 0")
	compareLines(t, batches(t, openBytes(t, data, Options{BatchRows: 3}), ReadValues),
		"row 0 +3: 2 of 4, def [3 3 0 1] rep [0 1 0 0], dict false, bad 0 at 0",
		"row 3 +1: 2 of 3, def [3 2 3] rep [0 1 1], dict false, bad 0 at 0")
}

func TestLevelsAreNilWithoutNulls(t *testing.T) {
	data := oneColumn(t, schema.NewInt64Node("n", opt, -1), func(cw file.ColumnChunkWriter) error {
		_, err := cw.(*file.Int64ColumnChunkWriter).WriteBatch([]int64{1, 2, 3, 4, 5}, []int16{1, 1, 1, 1, 0, 1}, nil)
		return err
	})
	compareLines(t, batches(t, openBytes(t, data, Options{BatchRows: 4}), ReadLevels),
		"row 0 +4: 4 of 4, def [] rep [], dict false, bad 0 at 0",
		"row 4 +2: 1 of 2, def [0 1] rep [], dict false, bad 0 at 0")
}

func TestBadUTF8(t *testing.T) {
	strings := []parquet.ByteArray{[]byte("ok"), []byte("é"), {0xff}, []byte("x"), {'a', 0xc3}, {0xff}}
	node := schema.MustPrimitive(schema.NewPrimitiveNodeLogical("s", req, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1))
	binary := schema.NewByteArrayNode("s", req, -1)
	fill := func(cw file.ColumnChunkWriter) error {
		_, err := cw.(*file.ByteArrayColumnChunkWriter).WriteBatch(strings, nil, nil)
		return err
	}
	for _, dict := range []bool{true, false} {
		data := oneColumn(t, node, fill, parquet.WithDictionaryDefault(dict), parquet.WithDictionaryCostFallbackFor("s", false))
		compareLines(t, batches(t, openBytes(t, data, Options{}), ReadValues),
			fmt.Sprintf("row 0 +6: 6 of 6, def [] rep [], dict %v, bad 3 at 2", dict))
		data = oneColumn(t, binary, fill, parquet.WithDictionaryDefault(dict), parquet.WithDictionaryCostFallbackFor("s", false))
		compareLines(t, batches(t, openBytes(t, data, Options{}), ReadValues),
			fmt.Sprintf("row 0 +6: 6 of 6, def [] rep [], dict %v, bad 0 at 0", dict))
	}
}

func TestRowOf(t *testing.T) {
	v := Vector{Column: &Column{MaxDef: 2, MaxRep: 1}, Entries: 6, Def: []uint8{2, 0, 1, 2, 2, 2}, Rep: []uint8{0, 0, 0, 1, 1, 0}}
	for n, want := range []int{0, 2, 2, 3} {
		if got := v.RowOf(n); got != want {
			t.Errorf("value %d is of row %d, want %d", n, got, want)
		}
	}
}

// The wrong bounds of a fixed-length decimal, as a known writer makes them.
func TestStatisticsCheck(t *testing.T) {
	node := logicalRequired("d", schema.NewDecimalLogicalType(4, 1), parquet.Types.FixedLenByteArray, 2)
	values := []parquet.FixedLenByteArray{{0xff, 0xff}, {0, 0}, {0, 5}, {0xff, 0xf6}}
	for _, dict := range []bool{true, false} {
		data := oneColumn(t, node, func(cw file.ColumnChunkWriter) error {
			_, err := cw.(*file.FixedLenByteArrayColumnChunkWriter).WriteBatch(values, nil, nil)
			return err
		}, parquet.WithDictionaryDefault(dict))
		f := openBytes(t, data, Options{})
		st, err := f.Statistics(0, 0)
		if err != nil || !st.Comparable || !bytes.Equal(st.Min, values[3]) || !bytes.Equal(st.Max, values[2]) || *st.NullCount != 0 {
			t.Fatalf("statistics %+v, %v", st, err)
		}
		if got := checkStatistics(t, f, func(*Statistics) {}); got != "" {
			t.Errorf("true statistics disagree: %s", got)
		}
		got := checkStatistics(t, f, func(s *Statistics) { s.Min, s.Max = []byte{0, 0}, []byte{0xff, 0xff} })
		if want := "2 values are below the statistics' minimum"; got != want {
			t.Errorf("inverted bounds: %q, want %q", got, want)
		}
		got = checkStatistics(t, f, func(s *Statistics) { s.Max = []byte{0, 4} })
		if want := "1 values are above the statistics' maximum"; got != want {
			t.Errorf("low maximum: %q, want %q", got, want)
		}
		two := int64(2)
		got = checkStatistics(t, f, func(s *Statistics) { s.NullCount = &two })
		if want := "statistics say 2 NULLs, there are 0"; got != want {
			t.Errorf("wrong NULL count: %q, want %q", got, want)
		}
		if got := checkStatistics(t, f, func(s *Statistics) { *s = Statistics{} }); got != "" {
			t.Errorf("absent statistics disagree: %s", got)
		}
	}
}

func logicalRequired(name string, lt schema.LogicalType, p parquet.Type, size int) schema.Node {
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, req, lt, p, size, -1))
}

func checkStatistics(t *testing.T, f *File, change func(*Statistics)) string {
	t.Helper()
	s, err := f.CheckStatistics(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	change(&s.claim)
	err = f.ScanRowGroup(context.Background(), 0, Request{Columns: []ColumnNeed{{0, ReadValues}}}, func(b *Batch) error {
		s.Observe(&b.Columns[0])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.Result()
}

// Each way of comparing, on the same three values with every bound around them.
func TestStatisticsCheckByType(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		column   Column
		values   Values
		min, max []byte
		want     string
	}{
		{Column{Physical: PhysInt32}, Values{Int32s: []int32{-1, 0, 5}}, int32Bytes(-1), int32Bytes(5), ""},
		{Column{Physical: PhysInt32}, Values{Int32s: []int32{-1, 0, 5}}, int32Bytes(0), int32Bytes(5), "1 values are below the statistics' minimum"},
		{Column{Physical: PhysInt32, Type: Type{Kind: Uint32}}, Values{Int32s: []int32{-1, 0, 5}}, int32Bytes(0), int32Bytes(-1), ""},
		{Column{Physical: PhysInt32, Type: Type{Kind: Uint32}}, Values{Int32s: []int32{-1, 0, 5}}, int32Bytes(0), int32Bytes(5), "1 values are above the statistics' maximum"},
		{Column{Physical: PhysDouble}, Values{Doubles: []float64{1, nan, 3}}, doubleBytes(1), doubleBytes(3), ""},
		{Column{Physical: PhysDouble}, Values{Doubles: []float64{1, nan, 3}}, doubleBytes(1), doubleBytes(2), "1 values are above the statistics' maximum"},
		{Column{Physical: PhysDouble}, Values{Doubles: []float64{1, nan, 3}}, nil, doubleBytes(2), "1 values are above the statistics' maximum"},
		{Column{Physical: PhysBytes}, Values{Bytes: bytesOf("a", "a\x00", "same prefix, then b")}, []byte("a"), []byte("same prefix, then b"), ""},
		{Column{Physical: PhysBytes}, Values{Bytes: bytesOf("a", "a\x00", "same prefix, then b")}, []byte("a\x00"), []byte("same prefix, then a"), "1 values are below the statistics' minimum"},
		{Column{Physical: PhysBytes}, Values{Bytes: bytesOf("b", "same prefix, then b")}, []byte("a"), []byte("same prefix, then a"), "1 values are above the statistics' maximum"},
	}
	for _, test := range tests {
		s := StatisticsCheck{column: &test.column, claim: Statistics{Min: test.min, Max: test.max, Comparable: true}}
		n := len(test.values.Int32s) + len(test.values.Doubles) + test.values.Bytes.Len()
		s.Observe(&Vector{Column: &test.column, Need: ReadValues, Entries: n, Present: n, Values: test.values})
		if got := s.Result(); got != test.want {
			t.Errorf("%s in %x to %x: %q, want %q", test.column.Physical, test.min, test.max, got, test.want)
		}
	}
}

func int32Bytes(n int32) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

func doubleBytes(x float64) []byte {
	return binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))
}

func bytesOf(texts ...string) (b Bytes) {
	for _, s := range texts {
		b.append([]byte(s))
	}
	return b
}
