package audit

import (
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// requiredElements is an optional list of a required element.
func requiredElements(c testColumn, def, rep []int16) testColumn {
	p := c.node.(*schema.PrimitiveNode)
	element := schema.MustPrimitive(schema.NewPrimitiveNodeLogical("element", parquet.Repetitions.Required,
		p.LogicalType(), p.PhysicalType(), p.TypeLength(), -1))
	repeated := schema.MustGroup(schema.NewGroupNode("list", parquet.Repetitions.Repeated, schema.FieldList{element}, -1))
	node := schema.MustGroup(schema.NewGroupNodeLogical(c.node.Name(), parquet.Repetitions.Optional,
		schema.FieldList{repeated}, schema.ListLogicalType{}, -1))
	return testColumn{node: node, values: c.values, def: def, rep: rep}
}

// requiredField is an optional struct with a required column.
func requiredField(name string, c testColumn, def []int16) testColumn {
	p := c.node.(*schema.PrimitiveNode)
	field := schema.MustPrimitive(schema.NewPrimitiveNodeLogical(p.Name(), parquet.Repetitions.Required,
		p.LogicalType(), p.PhysicalType(), p.TypeLength(), -1))
	node := schema.MustGroup(schema.NewGroupNode(name, parquet.Repetitions.Optional, schema.FieldList{field}, -1))
	return testColumn{node: node, values: c.values, def: def, rep: make([]int16, len(def))}
}

// What is absent is the same thing in files that differ in what may be NULL, and
// never another.
func TestAbsentAcrossSchemas(t *testing.T) {
	one := func(def int16, values ...any) testColumn {
		return listOf(strs("l", values...), []int16{def}, []int16{0})
	}
	req := func(def int16, values ...any) testColumn {
		return requiredElements(strs("l", values...), []int16{def}, []int16{0})
	}
	field := func(def int16, values ...any) testColumn { return structOf("s", longs("n", values...), []int16{def}) }
	must := func(def int16, values ...any) testColumn {
		return requiredField("s", longs("n", values...), []int16{def})
	}
	for _, family := range [][]struct {
		row    string
		column testColumn
	}{
		{
			{"NULL", one(0)}, {"[]", one(1)}, {"[NULL]", one(2)}, {"[a]", one(3, "a")},
			{"NULL", req(0)}, {"[]", req(1)}, {"[a]", req(2, "a")},
		},
		{
			{"NULL", field(0)}, {"{NULL}", field(1)}, {"{1}", field(2, 1)},
			{"NULL", must(0)}, {"{1}", must(1, 1)},
		},
	} {
		for i, a := range family {
			for j, b := range family {
				shelf := &shelf{data: map[string][]Partition{"there": {publishedAs("there", fileOf(t, "b", b.column))}}}
				got := shelf.against(t, "matches: {with: {partition: there}}", fileOf(t, "a", a.column))
				if want := a.row == b.row; got.Outcome == Error || want != (got.Outcome == Pass) {
					t.Errorf("%d %s against %d %s: %s %s", i, a.row, j, b.row, got.Outcome, got.Message)
				}
			}
		}
	}
}
