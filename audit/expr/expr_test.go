package expr

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/wap-cli/wap/audit/scan"
)

// testColumn is a column of five rows, nil for NULL.
type testColumn struct {
	path     string
	typ      scan.Type
	physical scan.Physical
	values   []any
}

func testColumns() []testColumn {
	day := int64(86400 * 1e6)
	return []testColumn{
		{"i", scan.Type{Kind: scan.Int64}, scan.PhysInt64, []any{1, -2, nil, math.MaxInt64, 0}},
		{"j", scan.Type{Kind: scan.Int32}, scan.PhysInt32, []any{1, 1, 1, 1, nil}},
		{"u", scan.Type{Kind: scan.Uint64}, scan.PhysInt64, []any{-1, 0, 7, nil, 1}}, // -1 is 2^64-1
		{"d", scan.Type{Kind: scan.Decimal, Precision: 18, Scale: 2}, scan.PhysInt64, []any{100, -250, nil, 12345, 5}},
		{"f", scan.Type{Kind: scan.Double}, scan.PhysDouble, []any{0.1, math.NaN(), nil, math.Inf(1), -2.5}},
		{"s", scan.Type{Kind: scan.String}, scan.PhysBytes, []any{"a", "Bär", nil, "", " 12 "}},
		{"b", scan.Type{Kind: scan.Bool}, scan.PhysBool, []any{true, false, nil, true, false}},
		{"t", scan.Type{Kind: scan.Timestamp, Unit: scan.Micro, UTC: true}, scan.PhysInt64, []any{0, -1, nil, day, day - 1}},
		{"l", scan.Type{Kind: scan.Timestamp, Unit: scan.Milli}, scan.PhysInt64, []any{0, -1, nil, 86400000, 5}},
		{"day", scan.Type{Kind: scan.Date}, scan.PhysInt32, []any{0, 20152, nil, -1, 1}},
		{"a.b", scan.Type{Kind: scan.Int64}, scan.PhysInt64, []any{1, 2, 3, 4, 5}},
		{"order", scan.Type{Kind: scan.Int64}, scan.PhysInt64, []any{1, 2, 3, 4, 5}},
		{"gone", scan.Type{Kind: scan.Int64}, scan.PhysInt64, []any{nil, nil, nil, nil, nil}},
	}
}

func (c testColumn) vector(dictionary bool) *scan.Vector {
	vec := &scan.Vector{Column: &scan.Column{Type: c.typ, Physical: c.physical, MaxDef: 1}, Entries: len(c.values)}
	v := &vec.Values
	v.Bytes.Offsets = []uint32{0}
	for _, x := range c.values {
		vec.Def = append(vec.Def, 0)
		if x == nil {
			continue
		}
		vec.Def[len(vec.Def)-1] = 1
		vec.Indices = append(vec.Indices, uint32(vec.Present))
		vec.Present++
		switch x := x.(type) {
		case int:
			v.Int64s, v.Int32s = append(v.Int64s, int64(x)), append(v.Int32s, int32(x))
		case int64:
			v.Int64s, v.Int32s = append(v.Int64s, x), append(v.Int32s, int32(x))
		case float64:
			v.Doubles = append(v.Doubles, x)
		case bool:
			v.Bools = append(v.Bools, x)
		case string:
			v.Bytes.Data = append(v.Bytes.Data, x...)
			v.Bytes.Offsets = append(v.Bytes.Offsets, uint32(len(v.Bytes.Data)))
		}
	}
	if c.physical == scan.PhysInt32 {
		v.Int64s = nil
	} else {
		v.Int32s = nil
	}
	if dictionary {
		vec.Dict = &scan.Dictionary{Len: vec.Present, Values: *v}
		vec.Values = scan.Values{}
	} else {
		vec.Indices = nil
	}
	return vec
}

func typesOf(t *testing.T) func(string) Type {
	return func(path string) Type {
		for _, c := range testColumns() {
			if c.path == path {
				typ, _ := TypeOf(c.typ)
				return typ
			}
		}
		t.Fatalf("no column %q", path)
		return Type{}
	}
}

// show writes what each row comes to.
func show(p *Program, v *Vec, rows int) string {
	var out []string
	for i := range rows {
		switch m := v.mark(i); {
		case m == null:
			out = append(out, "-")
		case m >= failedMark:
			out = append(out, "!")
		case p.root.typ.Kind == Bool:
			out = append(out, map[uint8]string{1: "T", 0: "F"}[v.Bits[i]])
		case p.root.typ.Kind == Float:
			out = append(out, floatText(v.Floats[i], p.root.typ))
		case p.root.typ.Kind.bytes():
			out = append(out, string(v.Texts[i]))
		case p.root.typ.Kind == Number:
			out = append(out, decimal{v.big(i), p.root.typ.Scale}.String())
		default:
			text, _ := timeText(p.root.typ, decimal{v.big(i), p.root.typ.Scale})
			out = append(out, text)
		}
	}
	return strings.Join(out, ",")
}

// Each expression over five rows, from plain values and from dictionaries, in
// two batches.
func TestEvaluate(t *testing.T) {
	tests := []struct{ text, want string }{
		{"i > 0", "T,F,-,T,F"},
		{"0 < i", "T,F,-,T,F"},
		{"i >= 9223372036854775807", "F,F,-,T,F"},
		{"i < 9223372036854775808", "T,T,-,T,T"},
		{"i = 1.5 or i <> 1.5", "T,T,-,T,T"},
		{"i > -1.5", "T,F,-,T,T"},
		{"i + 1", "2,-1,-,9223372036854775808,1"},
		{"i * i", "1,4,-,85070591730234615847396907784232501249,0"},
		{"i - -1 = 9223372036854775808", "F,F,-,T,F"},
		{"-i", "-1,2,-,-9223372036854775807,0"},
		{"i % 2", "1,0,-,1,0"},
		{"1 % i", "0,1,-,1,-"},
		{"1 / i", "1,-0.5,-,1.0842021724855044e-19,-"},
		{"i = f", "F,F,-,F,F"},
		{"i <> f", "T,T,-,T,T"},
		{"u = 18446744073709551615", "T,F,F,-,F"},
		{"u in (18446744073709551615, 7)", "T,F,T,-,F"},
		{"u > i", "T,T,-,-,T"},
		{"d", "1.00,-2.50,-,123.45,0.05"},
		{"d = 1", "T,F,-,F,F"},
		{"d > 0.045", "T,F,-,T,T"},
		{"d in (1, 0.05, 0.051)", "T,F,-,F,T"},
		{"d * 1.1", "1.100,-2.750,-,135.795,0.055"},
		{"d + i", "2.00,-4.50,-,9223372036854775930.45,0.05"},
		{"round(d, 1)", "1.0,-2.5,-,123.5,0.1"},
		{"round(d)", "1,-3,-,123,0"},
		{"abs(d)", "1.00,2.50,-,123.45,0.05"},
		{"f > 0", "T,F,-,T,F"},
		{"f <> 0", "T,T,-,T,T"},
		{"f = 0.1", "T,F,-,F,F"},
		{"f in (0.1, -2.5)", "T,F,-,F,T"},
		{"round(f)", "0,NaN,-,Infinity,-3"},
		{"f + 1", "1.1,NaN,-,Infinity,-1.5"},
		{"s = 'a'", "T,F,-,F,F"},
		{"s in ('a', '')", "T,F,-,T,F"},
		{"s not in ('a', '')", "F,T,-,F,T"},
		{"s in ('a', null)", "T,-,-,-,-"},
		{"s not in ('a', null)", "F,-,-,-,-"},
		{"length(s)", "1,3,-,0,4"},
		{"upper(s)", "A,BÄR,-,, 12 "},
		{"trim(s)", "a,Bär,-,,12"},
		{"substr(s, 2)", ",är,-,,12 "},
		{"substr(s, 0, 2)", "a,B,-,, "},
		{"substr(s, 1, i)", "a,-,-,,"},
		{"s like '%r'", "F,T,-,F,F"},
		{"s like 'B_r' or s like 'a'", "T,T,-,F,F"},
		{"s like '!%' escape '!'", "F,F,-,F,F"},
		{"regexp_like(s, 'a|b')", "T,F,-,F,F"},
		{"s is null", "F,F,T,F,F"},
		{"s is not null and i is not null", "T,T,F,T,T"},
		{"coalesce(s, 'none')", "a,Bär,none,, 12 "},
		{"coalesce(i, d, 0.001)", "1.000,-2.000,0.001,9223372036854775807.000,0.000"},
		{"b", "T,F,-,T,F"},
		{"b and null", "-,F,-,-,F"},
		{"b or null", "T,-,-,T,-"},
		{"not b", "F,T,-,F,T"},
		{"b and i > 0 or s = ''", "T,F,-,T,F"},
		{"i between -2 and 1", "T,T,-,F,T"},
		{"i not between -2 and 1", "F,F,-,T,F"},
		{"t >= '1970-01-01T00:00:00Z'", "T,F,-,T,T"},
		{"t < '1970-01-01T01:00:00+01:00'", "F,T,-,F,F"},
		{"date(t)", "1970-01-01,1970-01-01,-,1970-01-02,1970-01-02"}, // the zone is 14 hours ahead
		{"date(l)", "1970-01-01,1969-12-31,-,1970-01-02,1970-01-01"},
		{"l = '1970-01-01 00:00:00.005'", "F,F,-,F,T"},
		{"day > '1970-01-01'", "F,T,-,F,T"},
		{"day = date '2025-03-05'", "F,T,-,F,F"},
		{"cast(i as int32)", "1,-2,-,!,0"},
		{"cast(d as decimal(4, 1))", "1.0,-2.5,-,123.5,0.1"},
		{"cast(s as int64)", "!,!,-,!,!"},
		{"cast(trim(s) as bigint)", "!,!,-,!,12"},
		{"cast(i as varchar)", "1,-2,-,9223372036854775807,0"},
		{"cast(f as decimal(10, 1))", "0.1,!,-,!,-2.5"},
		{"cast(d as double)", "1,-2.5,-,123.45,0.05"},
		{"cast(b as int)", "1,0,-,1,0"},
		{"case when s = '' then 0 when i > 0 then i else d end", "1.00,-2.50,-,0.00,0.05"},
		{"case s when 'a' then 1 when 'Bär' then 2 end", "1,2,-,-,-"},
		{"case when s like ' %' then cast(trim(s) as int) end = 12", "-,-,-,-,T"},
		{"cast(s as int) > 0 and i = 1", "!,F,-,F,F"},
		{"a.b = 2", "F,T,F,F,F"},
		{`"order" > 2`, "F,F,T,T,T"},
		{"gone > 0", "-,-,-,-,-"},
		{"gone is null and coalesce(gone, 1) = 1", "T,T,T,T,T"},
		{"gone in (1, 2) or true", "T,T,T,T,T"},
		{"null is null", "T,T,T,T,T"},
		{"'O''Neil' = 'O''Neil'", "T,T,T,T,T"},
		{"j = 1", "T,T,T,T,-"},
		{"1.0 = 1 and 1e2 = 100", "T,T,T,T,T"},
	}
	zone := time.FixedZone("far", 14*3600)
	for _, tt := range tests {
		for _, dictionary := range []bool{false, true} {
			p, err := Compile(tt.text, typesOf(t), zone)
			if err != nil {
				t.Errorf("%s: %v", tt.text, err)
				continue
			}
			var vectors []*scan.Vector
			for _, path := range p.columns {
				for _, c := range testColumns() {
					if c.path == path {
						vectors = append(vectors, c.vector(dictionary))
					}
				}
			}
			e := p.NewEvaluator()
			for batch := range 2 {
				if got := show(p, e.Eval(5, vectors), 5); got != tt.want {
					t.Errorf("%s: dictionary %v, batch %d: %s, want %s", tt.text, dictionary, batch, got, tt.want)
				}
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	tests := []struct {
		text   string
		offset int
		want   string
	}{
		{"", 0, "the expression is empty"},
		{"i >", 3, "expected a value, not the end"},
		{"i > 1 j", 6, `unexpected "j"`},
		{"(i > 1", 6, `expected ")", not the end`},
		{"i > 'x", 4, "' has no end"},
		{"i > 'x'", 0, "a number cannot be compared with a text"},
		{"s > 1", 0, "a text cannot be compared with a number"},
		{"not i", 4, "not takes a boolean, this is a number"},
		{"b and i", 6, "and takes a boolean, this is a number"},
		{"b > true", 0, "booleans have no order"},
		{"lower(i)", 6, "lower takes a text, this is a number"},
		{"lowr(s)", 0, `unknown function "lowr"`},
		{"substr(s)", 0, "substr does not take 1 arguments"},
		{"s + 1", 0, "arithmetic takes a number, this is a text"},
		{"t > '2025-03-05'", 4, "'2025-03-05' is not an instant, which needs its offset"},
		{"t > l", 0, "an instant cannot be compared with a local timestamp"},
		{"day = '2025-02-30'", 6, "'2025-02-30' is not a date"},
		{"regexp_like(s, '(')", 15, "the pattern does not compile"},
		{"items[].sku = 1", 5, "elements of lists and maps cannot stand in an expression"},
		{"cast(s as nothing)", 10, `unknown type "nothing"`},
		{"cast(day as int)", 0, "a date cannot be cast to int"},
		{"i is 3", 5, `expected "null", not "3"`},
		{"and", 0, `expected a value, not "and"`},
		{"i not 3", 6, "expected in, between or like"},
		{"case end", 5, `expected a value, not "end"`},
		{"case i end", 7, `expected "when", not "end"`},
		{"case when b then 1 else 'x' end", 24, "case is a text here and a number there"},
		{"i ? 1", 2, "unexpected character '?'"},
		{strings.Repeat("(", 200) + "1", 100, "the expression nests deeper than 100 levels"},
	}
	for _, tt := range tests {
		_, err := Compile(tt.text, typesOf(t), nil)
		var e *Error
		if !errors.As(err, &e) || e.Offset != tt.offset || !strings.HasPrefix(e.Message, tt.want) {
			t.Errorf("%s: %v, offset %d; want %s at %d", tt.text, err, e.Offset, tt.want, tt.offset)
		}
	}
	if _, err := Condition("i + 1", typesOf(t), nil); err == nil || !strings.Contains(err.Error(), "is true or false") {
		t.Errorf("a condition that is a number: %v", err)
	}
}

// A column of unknown type agrees with everything; what is wrong without it is.
func TestUnknownTypes(t *testing.T) {
	unknown := func(string) Type { return Type{} }
	for _, text := range []string{"x > 1", "x > 'a'", "lower(x) = 'a'", "x and y", "x + y > 2.5", "case when x then y else 1 end = 1",
		"x in ('a', 'b')", "coalesce(x, 1) < y / 2", "date(x) = '2025-03-05'", "x * 2 between 1 and y"} {
		if _, err := Condition(text, unknown, nil); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"x > 1 and lower(1) = 'a'", "x and 1", "length(x) = 'a'"} {
		if _, err := Condition(text, unknown, nil); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, text := range []string{"i + 1 > d", "case s when 'a' then f end is null", "cast(trim(s) as int) in (1, 2, null)",
		"t >= '1970-01-01T00:00:00Z' or not b", "round(d * 1.5, 1) = -i % 7"} {
		f.Add(text)
	}
	columns := map[string]testColumn{}
	for _, c := range testColumns() {
		columns[c.path] = c
	}
	types := func(path string) Type {
		typ, _ := TypeOf(columns[path].typ)
		return typ
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Compile(text, types, nil)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(text) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		results := map[bool]string{}
		for _, dictionary := range []bool{false, true} {
			var vectors []*scan.Vector
			for _, path := range p.columns {
				c, ok := columns[path]
				if !ok {
					return
				}
				vectors = append(vectors, c.vector(dictionary))
			}
			results[dictionary] = show(p, p.NewEvaluator().Eval(5, vectors), 5)
		}
		if results[true] != results[false] {
			t.Errorf("%q: plain %s, dictionary %s", text, results[false], results[true])
		}
	})
}

func TestFailure(t *testing.T) {
	p, err := Compile("cast(s as int) > 0", typesOf(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.Failure(failedMark), "|", p.Failure(null)); got != "a cast to int has no value|" {
		t.Errorf("%s", got)
	}
}
