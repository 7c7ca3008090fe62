package manifest

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The golden files are the format: a change of one is a new format.
func TestGolden(t *testing.T) {
	for _, s := range allStored() {
		t.Run(s.name, func(t *testing.T) {
			got, err := Encode(s.sample(t))
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", s.name+".json")
			if *update {
				if err := os.WriteFile(file, got, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("encoded\n%s\nwant\n%s", got, want)
			}
			back := s.empty()
			if err := Decode(want, back); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(back, s.sample(t)) {
				t.Errorf("decoded\n%+v\nwant\n%+v", back, s.sample(t))
			}
		})
	}
}

// Whatever single byte of a stored object changes, it is refused, or it is the
// canonical form of what it now says.
func TestDecodeTampered(t *testing.T) {
	for _, s := range allStored() {
		t.Run(s.name, func(t *testing.T) {
			data, err := Encode(s.sample(t))
			if err != nil {
				t.Fatal(err)
			}
			refused := 0
			for i := range data {
				for _, flip := range []byte{0x01, 0x20, 0x80} {
					changed := bytes.Clone(data)
					changed[i] ^= flip
					v := s.empty()
					if err := Decode(changed, v); err != nil {
						refused++
						continue
					}
					again, err := Encode(v)
					if err != nil || !bytes.Equal(again, changed) {
						t.Fatalf("byte %d: decoded %q, which encodes to %q, %v", i, changed, again, err)
					}
				}
			}
			if s.name == "pointer" && refused != 3*len(data) {
				t.Errorf("%d of %d changes of the pointer are refused", refused, 3*len(data))
			}
			for n := range data {
				if err := Decode(data[:n], s.empty()); err == nil {
					t.Errorf("the first %d bytes alone are accepted", n)
				}
			}
		})
	}
}

func TestEncodeText(t *testing.T) {
	type text struct {
		S string `json:"s"`
	}
	tests := []struct{ in, want string }{
		{"", `""`},
		{`quote " backslash \ slash /`, `"quote \" backslash \\ slash /"`},
		{"<html>&amp;\u2028\u2029", "\"<html>&amp;\u2028\u2029\""},
		{"\x00\x01\b\t\n\f\r\x1f\x7f", `"\u0000\u0001\b\t\n\f\r\u001f` + "\x7f\""},
		{"ä€😀", `"ä€😀"`},
	}
	for _, tt := range tests {
		got, err := Encode(text{tt.in})
		want := `{"s":` + tt.want + "}\n"
		if err != nil || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", tt.in, got, err, want)
		}
		var back text
		if err := Decode(got, &back); err != nil || back.S != tt.in {
			t.Errorf("%q: back %q, %v", tt.in, back.S, err)
		}
	}
}

func TestEncodeValues(t *testing.T) {
	type inner struct {
		Z int64 `json:"z"`
		B uint8 `json:"b"`
	}
	type all struct {
		List  []string  `json:"list"`
		Null  *inner    `json:"null"`
		Some  *inner    `json:"a_some"`
		Gone  string    `json:"gone,omitempty"`
		Kept  string    `json:"kept,omitempty"`
		Time  time.Time `json:"time"`
		Max   int64     `json:"max"`
		Min   int64     `json:"min"`
		Yes   bool      `json:"yes"`
		Plain int
		inner2
	}
	v := all{
		Some: &inner{Z: -1, B: 255}, Kept: "k", Max: 1 << 53, Min: -(1 << 53), Yes: true, inner2: inner2{Flat: 2},
		Time: time.Date(2025, 3, 5, 1, 0, 0, 120, time.FixedZone("CET", 3600)),
	}
	got, err := Encode(v)
	want := `{"Plain":0,"a_some":{"b":255,"z":-1},"flat":2,"kept":"k","list":[],"max":9007199254740992,` +
		`"min":-9007199254740992,"null":null,"time":"2025-03-05T00:00:00.00000012Z","yes":true}` + "\n"
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

type inner2 struct {
	Flat int64 `json:"flat"`
}

func TestEncodeRefuses(t *testing.T) {
	big := int64(1<<53) + 1
	tests := map[string]any{
		"nil":       nil,
		"float":     1.5,
		"NaN":       math.NaN(),
		"map":       map[string]int{},
		"bytes":     []byte("x"),
		"array":     [2]int{},
		"interface": struct{ V any }{V: 1},
		"big":       big,
		"small":     -big,
		"unsigned":  uint64(big),
		"UTF-8":     "a\xff",
		"year":      time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		"option": struct {
			V int `json:"v,string"`
		}{},
		"extension name": struct {
			V int `json:"x_v"`
		}{},
		"name twice": struct {
			inner2
			W int `json:"flat"`
		}{},
		"extensions twice": struct {
			Tag
			Extensions
		}{},
		"depth": deep(maxDepth + 1),
	}
	for name, v := range tests {
		if got, err := Encode(v); err == nil {
			t.Errorf("%s: encoded to %s", name, got)
		}
	}
}

type nested struct {
	In *nested `json:"in"`
}

func deep(n int) *nested {
	if n == 0 {
		return nil
	}
	return &nested{In: deep(n - 1)}
}

func TestDecodeStrict(t *testing.T) {
	const ok = `{"format":1,"generation":2,"run":"r"}` + "\n"
	tests := []struct {
		name, data, path, reason string
		offset                   int
	}{
		{"unknown field", `{"format":1,"generation":2,"more":1,"run":"r"}` + "\n", "more", "unknown field", 34},
		{"wrong case", `{"Format":1,"format":1,"generation":2,"run":"r"}` + "\n", "Format", "unknown field", 10},
		{"missing field", `{"format":1,"run":"r"}` + "\n", "", `field "generation" is missing`, 0},
		{"twice", `{"format":1,"format":1,"generation":2,"run":"r"}` + "\n", "", `field "format" twice`, 12},
		{"order", `{"generation":2,"format":1,"run":"r"}` + "\n", "", `field "format" stands after "generation"`, 16},
		{"space", `{"format": 1,"generation":2,"run":"r"}` + "\n", "format", "not an integer", 10},
		{"no newline", strings.TrimSpace(ok), "", "no newline at the end", 37},
		{"two newlines", ok + "\n", "", "more after the end of the object", 37},
		{"two objects", ok + ok, "", "more after the end of the object", 37},
		{"float", `{"format":1.0,"generation":2,"run":"r"}` + "\n", "format", `"1.0" is not an integer in canonical form`, 10},
		{"exponent", `{"format":1e0,"generation":2,"run":"r"}` + "\n", "format", `"1e0" is not an integer in canonical form`, 10},
		{"minus zero", `{"format":-0,"generation":2,"run":"r"}` + "\n", "format", `"-0" is not an integer in canonical form`, 10},
		{"leading zero", `{"format":01,"generation":2,"run":"r"}` + "\n", "format", `"01" is not an integer in canonical form`, 10},
		{"too large", `{"format":1,"generation":9007199254740993,"run":"r"}` + "\n", "generation", "integer 9007199254740993 is beyond ±2^53", 25},
		{"null", `{"format":null,"generation":2,"run":"r"}` + "\n", "format", "not an integer", 10},
		{"escape", `{"format":1,"generation":2,"run":"\u0072"}` + "\n", "run", "string is not in canonical form", 33},
		{"surrogate", `{"format":1,"generation":2,"run":"\ud800"}` + "\n", "run", "string is not in canonical form", 33},
		{"broken escape", `{"format":1,"generation":2,"run":"\q"}` + "\n", "run", "string with a broken escape", 33},
		{"UTF-8", "{\"format\":1,\"generation\":2,\"run\":\"\xff\"}\n", "run", "not UTF-8", 33},
		{"control", "{\"format\":1,\"generation\":2,\"run\":\"\n\"}\n", "run", "control character in a string", 34},
		{"open string", `{"format":1,"generation":2,"run":"r`, "run", "string without an end", 33},
		{"a list", "[]\n", "", "not an object", 0},
		{"nothing", "", "", "not an object", 0},
	}
	var m OpenMark
	if err := Decode([]byte(ok), &m); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		m := OpenMark{Run: "before"}
		err := Decode([]byte(tt.data), &m)
		var e *FormatError
		if !errors.As(err, &e) || e.Path != tt.path || e.Reason != tt.reason || e.Offset != tt.offset {
			t.Errorf("%s: %#v, want path %q, offset %d, %s", tt.name, err, tt.path, tt.offset, tt.reason)
		}
		if m != (OpenMark{Run: "before"}) {
			t.Errorf("%s: the value has changed to %+v", tt.name, m)
		}
	}
}

// What no reader would accept is not written, however it is passed.
func TestEncodeValidates(t *testing.T) {
	m := OpenMark{Format: 1, Run: "r"}
	var e *FormatError
	for _, v := range []any{m, &m} {
		if got, err := Encode(v); !errors.As(err, &e) || e.Path != "generation" {
			t.Errorf("%T: %s, %v", v, got, err)
		}
	}
}

func TestDecodePath(t *testing.T) {
	data, err := Encode(sampleSeal(t))
	if err != nil {
		t.Fatal(err)
	}
	broken := bytes.Replace(data, []byte(`"rows":5}`), []byte(`"rows":""}`), 1)
	var e *FormatError
	if err := Decode(broken, &Seal{}); !errors.As(err, &e) || e.Path != "partitions[0].files[0].row_groups[1].rows" {
		t.Errorf("%v", err)
	}
	type short struct {
		N []int8 `json:"n"`
	}
	if err := Decode([]byte(`{"n":[1,128]}`+"\n"), &short{}); !errors.As(err, &e) || e.Path != "n[1]" {
		t.Errorf("%v", err)
	}
	if err := Decode([]byte("{}\n"), OpenMark{}); err == nil {
		t.Error("decoded into a value")
	}
}

func TestDecodeDepth(t *testing.T) {
	data := strings.Repeat(`{"in":`, maxDepth+1) + "null" + strings.Repeat("}", maxDepth+1) + "\n"
	var e *FormatError
	if err := Decode([]byte(data), &nested{}); !errors.As(err, &e) || !strings.Contains(e.Reason, "nested deeper") {
		t.Errorf("%v", err)
	}
	list := `{"format":1,"generation":1,"run":"r","x_deep":` + strings.Repeat("[", 1<<20)
	if err := Decode([]byte(list), &OpenMark{}); !errors.As(err, &e) || !strings.Contains(e.Reason, "nested deeper") {
		t.Errorf("%v", err)
	}
}

// A later version's object is told as such although its fields are unknown.
func TestDecodeNewer(t *testing.T) {
	for _, data := range []string{
		`{"format":2,"generation":1,"run":"r"}` + "\n",
		`{"format":2,"generation":1,"lease":[],"run":"r"}` + "\n",
	} {
		var e *NewerFormatError
		if err := Decode([]byte(data), &OpenMark{}); !errors.As(err, &e) || e.Have != 2 || e.Max != 1 {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func TestRefCheck(t *testing.T) {
	data := []byte("data\n")
	r := Ref{Key: "_wap/k", SHA256: SHA256Hex(data)}
	if err := r.Check(data); err != nil {
		t.Error(err)
	}
	var e *ChecksumError
	err := r.Check([]byte("date\n"))
	want := ChecksumError{Key: "_wap/k", Want: SHA256Hex(data), Got: SHA256Hex([]byte("date\n"))}
	if !errors.As(err, &e) || *e != want {
		t.Errorf("%v, want %v", err, &want)
	}
	if (Ref{}).IsZero() != true || r.IsZero() {
		t.Error("IsZero")
	}
}
