package scan

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// footerOf wraps serialized metadata in the smallest file around it.
func footerOf(meta []byte) []byte {
	data := append([]byte(magic), meta...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(meta)))
	return append(data, magic...)
}

// Lengths in the footer that lie are found before a decoder allocates by them.
func TestFooterLengths(t *testing.T) {
	huge := []byte{0xff, 0xff, 0xff, 0xff, 0x07}
	nested := bytes.Repeat([]byte{0x1c}, 5000)
	tests := []struct {
		name string
		meta []byte
		says string
	}{
		{"schema of two billion elements", append([]byte{0x29, 0xfc}, huge...), "list of 2147483647 elements"},
		{"row groups of the wrong type", []byte{0x49, 0x15, 1, 0}, "list of type 5, expected 12"},
		{"schema that is a number", []byte{0x26, 2, 0}, "field 2 has type 6, expected 9"},
		{"string of two billion bytes", append([]byte{0x68}, huge...), "string of 2147483647 bytes"},
		{"map of two billion entries", append([]byte{0xfb}, huge...), "map of 2147483647 entries"},
		{"structs in structs", append([]byte{0xf0 | 0x0c}, nested...), "nested deeper"},
		{"endless number", append([]byte{0x15}, bytes.Repeat([]byte{0xff}, 50)...), "number too long"},
		{"nothing", []byte{}, "truncated"},
		// A root with one child that has two billion children of its own.
		{"children that are not there", append(append([]byte{0x29, 0x2c, 0x48, 1, 'r', 0x15, 2, 0, 0x48, 1, 'g', 0x15}, 0xfe, 0xff, 0xff, 0xff, 0x0f), 0, 0),
			"schema element 1 has 2147483647 children"},
		{"elements outside the root", []byte{0x29, 0x3c, 0x48, 1, 'r', 0x15, 2, 0, 0x48, 1, 'a', 0, 0x48, 1, 'b', 0, 0}, "outside its root"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			wantReason(t, readAll(footerOf(test.meta)), BadFooter, test.says)
		})
	}
}

// A logical type of the future leaves the physical one.
func TestUnknownLogicalType(t *testing.T) {
	f := schemaOf(t, logical("id", schema.UUIDLogicalType{}, parquet.Types.FixedLenByteArray, 16))
	if got := f.Columns()[0].Type.String(); got != "uuid" {
		t.Fatalf("type %s before the change", got)
	}
	data := make([]byte, f.src.Size())
	if err := f.src.ReadRange(t.Context(), data, 0); err != nil {
		t.Fatal(err)
	}
	meta := data[len(magic) : len(data)-trailerSize]
	// Member 14 of the union, in the short form, becomes member 19, in the long.
	meta = bytes.Replace(meta, []byte{0xec, 0, 0}, []byte{0x0c, 38, 0, 0}, 1)
	c := openBytes(t, footerOf(meta), Options{}).Columns()[0]
	if c.Type.String() != "fixed_size_binary[16]" || c.Logical != "" || c.Dotted != "id" {
		t.Errorf("column %+v", c)
	}
}

func TestPageHeaders(t *testing.T) {
	// type, uncompressed and compressed size, and a V1 header.
	good := []byte{0x15, 0, 0x15, 20, 0x15, 18, 0x2c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0}
	head, err := parsePageHeader(append(bytes.Clone(good), 1, 2, 3))
	want := pageHeader{size: len(good), uncompressed: 10, compressed: 9, values: 3, defEncoding: encRLE, repEncoding: encRLE}
	if err != nil || head != want {
		t.Errorf("header %+v, %v, want %+v", head, err, want)
	}
	for n := range good {
		if _, err := parsePageHeader(good[:n]); err == nil {
			t.Errorf("%d bytes of a header are one", n)
		}
	}
	bad := map[string][]byte{
		"negative size":     {0x15, 0, 0x15, 19, 0x15, 18, 0x2c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0},
		"negative values":   {0x15, 0, 0x15, 20, 0x15, 18, 0x2c, 0x15, 5, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0},
		"no detail":         {0x15, 0, 0x15, 20, 0x15, 18, 0},
		"detail of another": {0x15, 4, 0x15, 20, 0x15, 18, 0x2c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0},
		"no encoding":       {0x15, 0, 0x15, 20, 0x15, 18, 0x2c, 0x15, 6, 0, 0},
		"levels beyond the page": {0x15, 6, 0x15, 20, 0x15, 18, 0x5c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 0, 0x15, 20,
			0x15, 0, 0, 0},
	}
	for name, buf := range bad {
		if head, err := parsePageHeader(buf); err == nil {
			t.Errorf("%s: %+v", name, head)
		}
	}
}
