package scan

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

var (
	req = parquet.Repetitions.Required
	opt = parquet.Repetitions.Optional
	rpt = parquet.Repetitions.Repeated
)

// schemaOf opens a file without rows that has the given fields.
func schemaOf(t *testing.T, fields ...schema.Node) *File {
	t.Helper()
	root := schema.MustGroup(schema.NewGroupNode("schema", req, fields, -1))
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, root)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return openBytes(t, buf.Bytes(), Options{})
}

func logical(name string, lt schema.LogicalType, p parquet.Type, size int) schema.Node {
	return schema.MustPrimitive(schema.NewPrimitiveNodeLogical(name, opt, lt, p, size, -1))
}

func group(name string, rep parquet.Repetition, fields ...schema.Node) schema.Node {
	return schema.MustGroup(schema.NewGroupNode(name, rep, fields, -1))
}

func annotated(name string, rep parquet.Repetition, lt schema.LogicalType, fields ...schema.Node) schema.Node {
	return schema.MustGroup(schema.NewGroupNodeLogical(name, rep, fields, lt, -1))
}

func TestTypeNames(t *testing.T) {
	types := parquet.Types
	tests := []struct {
		want string
		node schema.Node
	}{
		{"bool", schema.NewBooleanNode("x", opt, -1)},
		{"int32", schema.NewInt32Node("x", opt, -1)},
		{"int64", schema.NewInt64Node("x", opt, -1)},
		{"float", schema.NewFloat32Node("x", opt, -1)},
		{"double", schema.NewFloat64Node("x", opt, -1)},
		{"binary", schema.NewByteArrayNode("x", opt, -1)},
		{"fixed_size_binary[5]", schema.NewFixedLenByteArrayNode("x", opt, 5, -1)},
		{"timestamp[ns, tz=UTC]", schema.NewInt96Node("x", opt, -1)},
		{"string", logical("x", schema.StringLogicalType{}, types.ByteArray, 0)},
		{"enum", logical("x", schema.EnumLogicalType{}, types.ByteArray, 0)},
		{"json", logical("x", schema.JSONLogicalType{}, types.ByteArray, 0)},
		{"bson", logical("x", schema.BSONLogicalType{}, types.ByteArray, 0)},
		{"uuid", logical("x", schema.UUIDLogicalType{}, types.FixedLenByteArray, 16)},
		{"halffloat", logical("x", schema.Float16LogicalType{}, types.FixedLenByteArray, 2)},
		{"date32", logical("x", schema.DateLogicalType{}, types.Int32, 0)},
		{"time32[ms]", logical("x", schema.NewTimeLogicalType(true, schema.TimeUnitMillis), types.Int32, 0)},
		{"time64[us]", logical("x", schema.NewTimeLogicalType(false, schema.TimeUnitMicros), types.Int64, 0)},
		{"time64[ns]", logical("x", schema.NewTimeLogicalType(false, schema.TimeUnitNanos), types.Int64, 0)},
		{"timestamp[ms, tz=UTC]", logical("x", schema.NewTimestampLogicalType(true, schema.TimeUnitMillis), types.Int64, 0)},
		{"timestamp[us]", logical("x", schema.NewTimestampLogicalType(false, schema.TimeUnitMicros), types.Int64, 0)},
		{"timestamp[ns]", logical("x", schema.NewTimestampLogicalType(false, schema.TimeUnitNanos), types.Int64, 0)},
		{"int8", logical("x", schema.NewIntLogicalType(8, true), types.Int32, 0)},
		{"uint16", logical("x", schema.NewIntLogicalType(16, false), types.Int32, 0)},
		{"uint32", logical("x", schema.NewIntLogicalType(32, false), types.Int32, 0)},
		{"uint64", logical("x", schema.NewIntLogicalType(64, false), types.Int64, 0)},
		{"decimal128(9, 2)", logical("x", schema.NewDecimalLogicalType(9, 2), types.Int32, 0)},
		{"decimal128(38, 0)", logical("x", schema.NewDecimalLogicalType(38, 0), types.FixedLenByteArray, 16)},
		{"decimal256(50, 9)", logical("x", schema.NewDecimalLogicalType(50, 9), types.ByteArray, 0)},
		{"null", logical("x", schema.NullLogicalType{}, types.Int32, 0)},
	}
	for _, test := range tests {
		c := schemaOf(t, test.node).Columns()[0]
		if got := c.Type.String(); got != test.want {
			t.Errorf("type %s, want %s", got, test.want)
		}
		if c.Type.Kind == Null {
			continue
		}
		if parsed, err := ParseType(test.want); err != nil || !parsed.Equal(c.Type) {
			t.Errorf("ParseType(%q) = %v, %v", test.want, parsed, err)
		}
	}
}

func TestParseTypeAliases(t *testing.T) {
	same := map[string]string{
		"boolean": "bool", "float16": "halffloat", "float32": "float", "float64": "double", "utf8": "string",
		"large_string": "string", "date": "date32", "decimal(18,2)": "decimal128(18, 2)", "decimal(5)": "decimal128(5, 0)",
		"decimal(40,1)": "decimal256(40, 1)", "timestamp[us, UTC]": "timestamp[us, tz=UTC]", "timestamp(ms)": "timestamp[ms]",
		"time32": "time32[ms]", " int64 ": "int64", "fixed_size_binary(16)": "fixed_size_binary[16]",
	}
	for alias, want := range same {
		if got, err := ParseType(alias); err != nil || got.String() != want {
			t.Errorf("ParseType(%q) = %v, %v, want %s", alias, got, err, want)
		}
	}
	for _, bad := range []string{"", "int", "Int64", "int64[3]", "decimal", "decimal(0, 0)", "decimal(77)", "decimal(2, 3)", "decimal(2, -1)",
		"timestamp", "timestamp[s]", "timestamp[us, tz=Europe/Berlin]", "time64[ms]", "fixed_size_binary[0]", "list<int64>"} {
		if got, err := ParseType(bad); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", bad)) {
			t.Errorf("ParseType(%q) = %v, %v", bad, got, err)
		}
	}
}

func TestPathsAndRefs(t *testing.T) {
	leaf := func(name string) schema.Node { return schema.NewInt32Node(name, opt, -1) }
	key := logical("k", schema.StringLogicalType{}, parquet.Types.ByteArray, 0)
	f := schemaOf(t,
		leaf("a.b"), leaf("A.B"), leaf(`q"[]`),
		group("s", opt, leaf("x"), group("t", req, leaf("y"))),
		annotated("items", opt, schema.ListLogicalType{}, group("list", rpt, group("element", opt, leaf("sku")))),
		annotated("old", req, schema.ListLogicalType{}, schema.NewInt32Node("item", rpt, -1)),
		annotated("tup", req, schema.ListLogicalType{}, group("tup_tuple", rpt, leaf("z"))),
		annotated("attrs", opt, schema.MapLogicalType{}, group("entries", rpt, key, leaf("v"))),
		schema.NewInt32Node("bare", rpt, -1),
	)
	want := []Ref{
		{Path: `"a.b"`, Column: 0, NonNull: 1},
		{Path: `"A.B"`, Column: 1, NonNull: 1},
		{Path: `"q""[]"`, Column: 2, NonNull: 1},
		{Path: "s", Column: 3, NonNull: 1},
		{Path: "s.x", Column: 3, NonNull: 2},
		{Path: "s.t", Column: 4, NonNull: 1},
		{Path: "s.t.y", Column: 4, NonNull: 2},
		{Path: "items", Column: 5, NonNull: 1},
		{Path: "items[]", Column: 5, Rep: 1, Exists: 2, NonNull: 3},
		{Path: "items[].sku", Column: 5, Rep: 1, Exists: 2, NonNull: 4},
		{Path: "old", Column: 6},
		{Path: "old[]", Column: 6, Rep: 1, Exists: 1, NonNull: 1},
		{Path: "tup", Column: 7},
		{Path: "tup[]", Column: 7, Rep: 1, Exists: 1, NonNull: 1},
		{Path: "tup[].z", Column: 7, Rep: 1, Exists: 1, NonNull: 2},
		{Path: "attrs", Column: 8, NonNull: 1},
		{Path: "attrs{}.key", Column: 8, Rep: 1, Exists: 2, NonNull: 3},
		{Path: "attrs{}.value", Column: 9, Rep: 1, Exists: 2, NonNull: 3},
		{Path: "bare", Column: 10},
		{Path: "bare[]", Column: 10, Rep: 1, Exists: 1, NonNull: 1},
	}
	if n := len(f.Paths()); n != len(want) {
		t.Errorf("%d paths, want %d: %q", n, len(want), f.Paths())
	}
	for _, w := range want {
		got, err := f.Resolve(w.Path)
		got.Type = Type{}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(w) {
			t.Errorf("Resolve(%s) = %v, %v, want %v", w.Path, got, err, w)
		}
	}
	for _, bad := range []string{"", "a.b", "S", "items.sku", "items[].SKU", "attrs{}"} {
		if r, err := f.Resolve(bad); err == nil {
			t.Errorf("Resolve(%q) = %v", bad, r)
		}
	}
	const types = `list<struct<sku: int32>>|list<int32 not null> not null|map<string, int32>`
	items, old, attrs := f.Schema().Fields[4], f.Schema().Fields[5], f.Schema().Fields[7]
	if got := fmt.Sprintf("%s|%s not null|%s", items.Type, old.Type, attrs.Type); got != types {
		t.Errorf("types %s, want %s", got, types)
	}
}

func TestSchemaGuards(t *testing.T) {
	deep := func(levels int) schema.Node {
		n := schema.Node(schema.NewInt32Node("leaf", opt, -1))
		for range levels {
			n = group("g", opt, n)
		}
		return n
	}
	if f := schemaOf(t, deep(maxSchemaDepth-1)); f.Columns()[0].MaxDef != maxSchemaDepth {
		t.Errorf("levels %d", f.Columns()[0].MaxDef)
	}
	var buf bytes.Buffer
	root := schema.MustGroup(schema.NewGroupNode("schema", req, schema.FieldList{deep(maxSchemaDepth)}, -1))
	w := file.NewParquetWriter(&buf, root)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	wantReason(t, readAll(buf.Bytes()), BadFooter, "nested deeper")
}
