package scan

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// nesting is a shape that leaves are put into.
type nesting struct {
	name string
	wrap func(leaf func(parquet.Repetition) schema.Node, name string) schema.Node
	path string // of the leaf in the written file, below name
	row  func(r *rand.Rand) (def, rep []int16)
	max  int16
}

func optionalList(name string, element schema.Node) schema.Node {
	repeated := schema.MustGroup(schema.NewGroupNode("list", parquet.Repetitions.Repeated, schema.FieldList{element}, -1))
	return schema.MustGroup(schema.NewGroupNodeLogical(name, parquet.Repetitions.Optional, schema.FieldList{repeated}, schema.ListLogicalType{}, -1))
}

func nestings() []nesting {
	return []nesting{
		{name: "required", max: 0,
			wrap: func(leaf func(parquet.Repetition) schema.Node, _ string) schema.Node {
				return leaf(parquet.Repetitions.Required)
			},
			row: func(*rand.Rand) ([]int16, []int16) { return []int16{0}, []int16{0} }},
		{name: "optional", max: 1,
			wrap: func(leaf func(parquet.Repetition) schema.Node, _ string) schema.Node {
				return leaf(parquet.Repetitions.Optional)
			},
			row: func(r *rand.Rand) ([]int16, []int16) { return []int16{int16(min(1, r.IntN(4)))}, []int16{0} }},
		{name: "list", max: 3, path: ".list.element",
			wrap: func(leaf func(parquet.Repetition) schema.Node, name string) schema.Node {
				return optionalList(name, leaf(parquet.Repetitions.Optional))
			},
			row: listRow},
		{name: "deep", max: 6, path: ".list.element.b.list.element",
			wrap: func(leaf func(parquet.Repetition) schema.Node, name string) schema.Node {
				inner := optionalList("b", leaf(parquet.Repetitions.Optional))
				element := schema.MustGroup(schema.NewGroupNode("element", parquet.Repetitions.Optional, schema.FieldList{inner}, -1))
				return optionalList(name, element)
			},
			row: deepRow},
	}
}

// listRow is one row of list<optional>: NULL, empty, or elements.
func listRow(r *rand.Rand) (def, rep []int16) {
	n := r.IntN(6)
	if n < 2 {
		return []int16{int16(n)}, []int16{0}
	}
	for i := range n {
		def = append(def, int16(2+min(1, r.IntN(5))))
		rep = append(rep, int16(min(1, i)))
	}
	return def, rep
}

// deepRow is one row of list<optional struct<b: list<optional>>>.
func deepRow(r *rand.Rand) (def, rep []int16) {
	n := r.IntN(5)
	if n < 2 {
		return []int16{int16(n)}, []int16{0}
	}
	for i := range n {
		inner := r.IntN(6)
		if inner < 3 {
			def, rep = append(def, int16(2+inner)), append(rep, int16(min(1, i)))
			continue
		}
		for j := range inner {
			level := int16(min(1, i))
			if j > 0 {
				level = 2
			}
			def, rep = append(def, int16(5+r.IntN(2))), append(rep, level)
		}
	}
	return def, rep
}

// written is what a generated column holds, as the scan must give it back.
type written struct {
	path string
	leafData
	rows int
}

var allPhysical = []Physical{PhysBool, PhysInt32, PhysInt64, PhysInt96, PhysFloat, PhysDouble, PhysBytes, PhysFixed}

const fixedWidth = 7

func leafNode(p Physical, name string) func(parquet.Repetition) schema.Node {
	return func(rep parquet.Repetition) schema.Node {
		if name == "" {
			name = "element"
		}
		if p == PhysBytes {
			return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, rep, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1))
		}
		return schema.MustPrimitive(schema.NewPrimitiveNode(name, rep, parquet.Type(p), -1, fixedWidth))
	}
}

// arrowFile writes rows rows in two row groups, each physical type in each
// nesting, and returns the bytes and the content by row group and column.
func arrowFile(t testing.TB, rows int, types []Physical, props ...parquet.WriterProperty) ([]byte, [][]written) {
	t.Helper()
	var fields schema.FieldList
	for _, n := range nestings() {
		for _, p := range types {
			name := fmt.Sprintf("%s_%s", n.name, p)
			leaf := leafNode(p, "")
			if n.path == "" {
				leaf = leafNode(p, name)
			}
			fields = append(fields, n.wrap(leaf, name))
		}
	}
	root := schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1))
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, root, file.WithWriterProps(parquet.NewWriterProperties(props...)))
	r := rand.New(rand.NewPCG(1, uint64(rows)))
	var groups [][]written
	for range 2 {
		groups = append(groups, generator{rows: rows, types: types, r: r}.group(t, w))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), groups
}

// generator makes up the content of a row group.
type generator struct {
	rows  int
	types []Physical
	r     *rand.Rand
}

func (g generator) group(t testing.TB, w *file.Writer) (group []written) {
	t.Helper()
	rg, err := w.AppendRowGroupChecked()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nestings() {
		for _, p := range g.types {
			cw, err := rg.NextColumn()
			if err != nil {
				t.Fatal(err)
			}
			c := written{path: fmt.Sprintf("%s_%s", n.name, p), rows: g.rows}
			slots := g.slots(n, &c)
			c.values = slots.write(t, cw, g.r)
			if err := cw.Close(); err != nil {
				t.Fatal(err)
			}
			group = append(group, c)
		}
	}
	if err := rg.Close(); err != nil {
		t.Fatal(err)
	}
	return group
}

// slots are levels, and the number of values they announce.
type slots struct {
	present  int
	def, rep []int16
}

// slots makes up levels and notes them in c as the scan must give them back.
func (g generator) slots(n nesting, c *written) (s slots) {
	for range g.rows {
		def, rep := n.row(g.r)
		s.def, s.rep = append(s.def, def...), append(s.rep, rep...)
	}
	for i, d := range s.def {
		c.def = append(c.def, uint8(d))
		if n.max > 1 {
			c.rep = append(c.rep, uint8(s.rep[i]))
		}
		if d == n.max {
			s.present++
		}
	}
	if n.max == 0 {
		s.def = nil
	}
	if n.max < 2 {
		s.rep = nil
	}
	return s
}

// write makes up values, writes them, and returns their texts.
func (s slots) write(t testing.TB, cw file.ColumnChunkWriter, r *rand.Rand) (values []string) {
	t.Helper()
	var err error
	switch cw := cw.(type) {
	case *file.BooleanColumnChunkWriter:
		values, err = write(s, cw.WriteBatch, func() bool { return r.IntN(3) == 0 }, textOf)
	case *file.Int32ColumnChunkWriter:
		values, err = write(s, cw.WriteBatch, func() int32 { return int32(skewed(r)) }, textOf)
	case *file.Int64ColumnChunkWriter:
		values, err = write(s, cw.WriteBatch, func() int64 { return skewed(r) }, textOf)
	case *file.Int96ColumnChunkWriter:
		values, err = write(s, cw.WriteBatch, func() (v parquet.Int96) {
			copy(v[:], fmt.Sprintf("%012d", r.IntN(900)))
			return v
		}, func(v parquet.Int96) string { return string(v[:]) })
	case *file.Float32ColumnChunkWriter:
		values, err = write(s, cw.WriteBatch, func() float32 { return float32(skewed(r)) / 8 }, textOf)
	case *file.Float64ColumnChunkWriter:
		values, err = write(s, cw.WriteBatch, func() float64 { return float64(skewed(r)) / 3 }, textOf)
	case *file.ByteArrayColumnChunkWriter:
		values, err = write(s, cw.WriteBatch, func() parquet.ByteArray {
			return []byte(fmt.Sprintf("naïve-%d", r.IntN(500)*r.IntN(2)))
		}, func(v parquet.ByteArray) string { return string(v) })
	case *file.FixedLenByteArrayColumnChunkWriter:
		values, err = write(s, cw.WriteBatch, func() parquet.FixedLenByteArray {
			return []byte(fmt.Sprintf("%0*d", fixedWidth, r.IntN(800)))
		}, func(v parquet.FixedLenByteArray) string { return string(v) })
	default:
		t.Fatalf("no generator for %T", cw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func textOf[T any](v T) string { return fmt.Sprint(v) }

// skewed is mostly small, sometimes of any size.
func skewed(r *rand.Rand) int64 {
	switch r.IntN(20) {
	case 0:
		return math.MinInt64 + r.Int64N(1000)
	case 1:
		return math.MaxInt64 - r.Int64N(1000)
	}
	return r.Int64N(700) - 300
}

func write[T any](s slots, batch func([]T, []int16, []int16) (int64, error), next func() T, text func(T) string) ([]string, error) {
	values, texts := make([]T, s.present), make([]string, s.present)
	for i := range values {
		values[i] = next()
		texts[i] = text(values[i])
	}
	_, err := batch(values, s.def, s.rep)
	return texts, err
}
