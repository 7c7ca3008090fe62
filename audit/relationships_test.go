package audit

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/wap-cli/wap/manifest"
)

// publishedAs is one partition of a table, on the shelf.
func publishedAs(path string, files ...File) Partition {
	part, err := manifest.ParsePartition(path)
	if err != nil {
		panic(err)
	}
	return Partition{Partition: part, Files: files}
}

// countsText is what a test compares of a result that counts rows.
func countsText(a Result) string {
	text := summary(a)
	for _, c := range a.Counts {
		if c.Value != 0 {
			text += fmt.Sprintf(" %s=%d", c.Name, c.Value)
		}
	}
	return text
}

func repeat(value any, n int) []any {
	out := make([]any, n)
	for i := range out {
		out[i] = value
	}
	return out
}

func TestRelationships(t *testing.T) {
	shelf := &shelf{data: map[string][]Partition{
		"crm/customers": {
			publishedAs("crm/customers/region=eu", fileOf(t, "p1", longs("id", 1, 2, nil), strs("kind", "a", "b", "b"))),
			publishedAs("crm/customers/region=us", fileOf(t, "p2", longs("id", 3, 3), strs("kind", "a", "x"))),
		},
		"small":  {publishedAs("small", fileOf(t, "p3", leaf("id", parquet.Types.Int32, schema.NoLogicalType{}, 0, []any{1, 2})))},
		"empty":  {publishedAs("empty", fileOf(t, "p4", longs("id")))},
		"files":  {publishedAs("files")},
		"words":  {publishedAs("words", fileOf(t, "p5", strs("id", "1")))},
		"floats": {publishedAs("floats", fileOf(t, "p6", doubles("id", 0.0, math.NaN())))},
		"wide":   {publishedAs("wide", fileOf(t, "p7", decimals("id", 18, 2, 100, 250)))},
		"crm/customers/region=eu": {
			publishedAs("crm/customers/region=eu", fileOf(t, "p1", longs("id", 1, 2))),
		},
		"a.parquet,b.parquet": {publishedAs("x", fileOf(t, "a", longs("id", 1)), fileOf(t, "b", longs("id", 2)))},
	}}
	two := []File{fileOf(t, "a.parquet", longs("c", 1, 2, nil, 9)), fileOf(t, "b.parquet", longs("c", 9, 3, 8))}
	thousand := fileOf(t, "m.parquet", longs("c", append(repeat(7, 1000), ids(3)...)...))
	composite := fileOf(t, "k.parquet", longs("c", 1, 3, 2, 2, nil), strs("k", "a", "x", "b", "a", "a"))
	tests := []struct {
		to    string
		files []File
		want  string
	}{
		{"to: crm/customers, column: c", nil, "warn 0/0 vacuous"},
		{"to: {table: crm/customers, columns: [id]}, column: c", two, "fail 3/6 keys_without_parent=2 null_keys=1 parent_rows=5"},
		{"to: {table: crm/customers, columns: [id]}, column: c, fail_if: '> 50%'", two, "pass 3/6 keys_without_parent=2 null_keys=1 parent_rows=5"},
		{"to: {table: crm/customers, columns: [id]}, column: c, fail_if: '>= 50%'", two, "fail 3/6 keys_without_parent=2 null_keys=1 parent_rows=5"},
		{"to: {table: crm/customers, columns: [id]}, column: c, fail_if: '> 3', warn_if: '> 0'", two, "warn 3/6 keys_without_parent=2 null_keys=1 parent_rows=5"},
		{"to: {table: crm/customers, columns: [id]}, column: c, severity: warn", two, "warn 3/6 keys_without_parent=2 null_keys=1 parent_rows=5"},
		{"to: {table: crm/customers, columns: [id]}, column: c, where: c < 4", two, "pass 0/3 parent_rows=5 rows_outside_where=4"},
		{"to: {table: crm/customers, columns: [id], where: \"kind <> 'x'\"}, column: c, where: c < 4", two, "pass 0/3 parent_rows=4 rows_outside_where=4"},
		{"to: {table: crm/customers, columns: [id], where: \"kind = 'b'\"}, column: c, where: c < 4", two, "fail 2/3 keys_without_parent=2 parent_rows=2 rows_outside_where=4"},
		{"to: {table: crm/customers, columns: [id], where: \"region = 'eu'\"}, column: c, where: c < 4", two, "fail 1/3 keys_without_parent=1 parent_rows=3 rows_outside_where=4"},
		{"to: {table: crm/customers, columns: [id]}, column: c, where: c > 99", two, "warn 0/0 vacuous parent_rows=5 rows_outside_where=7"},
		{"to: {table: crm/customers, columns: [id]}, column: c", []File{fileOf(t, "n", longs("c", nil, nil))}, "warn 0/0 vacuous null_keys=2 parent_rows=5"},
		{"to: {table: crm/customers, columns: [id]}, column: c", []File{thousand}, "fail 1001/1003 keys_without_parent=2 parent_rows=5"},
		{"to: {table: crm/customers, columns: [id, kind]}, columns: [c, k]", []File{composite}, "fail 1/4 keys_without_parent=1 null_keys=1 parent_rows=5"},
		{"to: {partition: crm/customers/region=eu, columns: [id]}, column: c, where: c < 4", two, "fail 1/3 keys_without_parent=1 parent_rows=2 rows_outside_where=4"},
		{"to: {table: crm/customers, columns: [region]}, column: r", []File{fileOf(t, "r", strs("r", "eu", "us", "ap"))}, "fail 1/3 keys_without_parent=1 parent_rows=5"},
		{"to: {files: [a.parquet, b.parquet], columns: [id]}, column: c, where: c < 4", two, "fail 1/3 keys_without_parent=1 parent_rows=2 rows_outside_where=4"},
		{"to: {table: small, columns: [id]}, column: c, where: c < 4", two, "fail 1/3 keys_without_parent=1 parent_rows=2 rows_outside_where=4"},
		{"to: {table: empty, columns: [id]}, column: c", two, "fail 6/6 keys_without_parent=5 null_keys=1"},
		{"to: {table: files, columns: [id]}, column: c", two, "fail 6/6 keys_without_parent=5 null_keys=1"},
		{"to: {table: floats, columns: [id]}, column: c", []File{fileOf(t, "f", doubles("c", math.Copysign(0, -1), math.NaN(), 1.0))}, "fail 1/3 keys_without_parent=1 parent_rows=2"},
		{"to: {table: wide, columns: [id]}, column: c", []File{fileOf(t, "f", decimals("c", 30, 2, bigInt(t, "250"), bigInt(t, "1")))}, "fail 1/2 keys_without_parent=1 parent_rows=2"},
		{"to: {table: wide, columns: [id]}, column: c", []File{fileOf(t, "f", decimals("c", 18, 3, 2500))}, "error 0/0"},
		{"to: {table: words, columns: [id]}, column: c", two, "error 0/0"},
		{"to: {table: nowhere, columns: [id]}, column: c", two, "error 0/0"},
		{"to: {table: crm/customers, columns: [nr]}, column: c", two, "error 0/0"},
		{"to: {table: crm/customers}, column: c", two, "error 0/0"},
		{"to: {table: crm/customers, columns: [id], where: kind > 1}, column: c", two, "error 0/0"},
		{"to: {table: crm/customers, columns: [id]}, column: 'x[]'", []File{fileOf(t, "n", nestedLongs())}, "error 0/0"},
	}
	for _, tt := range tests {
		a := shelf.against(t, "relationships: {"+tt.to+"}", tt.files...)
		if got := countsText(a); got != tt.want {
			t.Errorf("%s: %s, want %s; %s", tt.to, got, tt.want, a.Message)
		}
		if a.Error != nil && (a.Error.Cause != CauseData || strings.Contains(a.Message, "\n")) {
			t.Errorf("%s: the data's failure is said to be %s", tt.to, a.Error.Cause)
		}
	}
	a := shelf.against(t, "relationships: {column: c, to: {table: crm/customers, columns: [id]}}", two...)
	want := "[{a.parquet 3 [{c 9 false}]} {b.parquet 2 [{c 8 false}]}]"
	if fmt.Sprint(a.Samples) != want || a.Expected != "every key is one of crm/customers(id)" {
		t.Errorf("samples %v, want %s; expected %s", a.Samples, want, a.Expected)
	}
	shelf.err = errors.New("no route")
	a = shelf.against(t, "relationships: {column: c, to: {table: crm/customers, columns: [id]}}", two...)
	if a.Outcome != Error || a.Error.Cause != CauseOutside {
		t.Errorf("a store that is away: %s, %+v", a.Outcome, a.Error)
	}
}

func TestMatches(t *testing.T) {
	rows := func(key string, a ...any) File { return fileOf(t, key, strs("a", a...)) }
	keyed := func(key string, a, b []any) File { return fileOf(t, key, longs("k", a...), strs("v", b...)) }
	shelf := &shelf{live: []Partition{publishedAs("orders/dt=2025-03-05", rows("l1", "A", "B"), rows("l2", "A"))},
		data: map[string][]Partition{
			"none":  {publishedAs("none")},
			"two":   {publishedAs("two", rows("t", "A", "A"))},
			"nulls": {publishedAs("nulls", rows("n", nil, nil, "A"))},
			"keyed": {publishedAs("keyed/x=1", keyed("k1", []any{1, 2, 3, 3}, []any{"a", "b", "c", "c"})), publishedAs("keyed/x=2", keyed("k2", []any{4, nil}, []any{"d", "e"}))},
			"lists": {publishedAs("lists", fileOf(t, "li", nestedLongs()))},
			"more":  {publishedAs("more", fileOf(t, "mo", strs("a", "A"), longs("z", 1)))},
		}}
	tests := []struct {
		with  string
		files []File
		want  string
	}{
		{"with: baseline", []File{rows("a", "A", "A"), rows("b", "B")}, "pass 0/3 rows_there=3"},
		{"with: baseline", []File{rows("a", "A", "B")}, "fail 1/3 missing_rows=1 rows_there=3"},
		{"with: baseline", []File{rows("a", "A", "B", "B", "A", "C")}, "fail 2/5 extra_rows=2 rows_there=3"},
		{"with: baseline, fail_if: '> 40%'", []File{rows("a", "A", "B", "B", "A", "C")}, "pass 2/5 extra_rows=2 rows_there=3"},
		{"with: baseline, warn_if: '> 0', fail_if: '> 2'", []File{rows("a", "A", "B", "B", "A", "C")}, "warn 2/5 extra_rows=2 rows_there=3"},
		{"with: baseline, where: \"a = 'B'\"", []File{rows("a", "A", "B")}, "pass 0/1 rows_there=1 rows_outside_where=1"},
		{"with: {partition: two}", nil, "fail 2/2 missing_rows=2 rows_there=2"},
		{"with: {partition: two}", []File{rows("e")}, "fail 2/2 missing_rows=2 rows_there=2"},
		{"with: {partition: none}", []File{rows("a", "A", "A")}, "fail 2/2 extra_rows=2"},
		{"with: {partition: none}", nil, "warn 0/0 vacuous"},
		{"with: {partition: nulls}", []File{rows("a", "A", nil)}, "fail 1/3 missing_rows=1 rows_there=3"},
		{"with: {partition: nulls}", []File{rows("a", nil, "A", nil)}, "pass 0/3 rows_there=3"},
		{"with: {table: keyed}, keys: [k]", []File{keyed("a", []any{4, 3, 2, 1, nil, 3}, []any{"d", "c", "b", "a", "e", "c"})}, "pass 0/6 rows_there=6"},
		{"with: {table: keyed}, keys: [k]", []File{keyed("a", []any{1, 2, 3, 5, nil}, []any{"a", "x", "c", "d", "f"})}, "fail 5/7 extra_rows=1 missing_rows=2 changed_rows=2 rows_there=6"},
		{"with: {table: keyed}, keys: [k], columns: [k]", []File{keyed("a", []any{1, 2, 3, 3, 4, nil}, []any{"x", "x", "x", "x", "x", "x"})}, "pass 0/6 rows_there=6"},
		{"with: {table: keyed}, columns: [v]", []File{keyed("a", []any{0, 0, 0, 0, 0, 0}, []any{"a", "b", "c", "c", "d", "e"})}, "pass 0/6 rows_there=6"},
		{"with: {table: lists}", []File{fileOf(t, "a", nestedLongs())}, "pass 0/4 rows_there=4"},
		{"with: {table: lists}, columns: [x]", []File{fileOf(t, "a", listOf(longs("x", 0, 1, 2, 3), []int16{3, 3, 1, 1, 3, 2, 3}, []int16{0, 1, 0, 0, 0, 1, 1}))}, "fail 2/5 extra_rows=1 missing_rows=1 rows_there=4"},
		{"with: {table: lists}, keys: ['x[]']", []File{fileOf(t, "a", nestedLongs())}, "error 0/0"},
		{"with: {table: more}", []File{rows("a", "A")}, "error 0/0"},
		{"with: {table: more}, columns: [a]", []File{rows("a", "A")}, "pass 0/1 rows_there=1"},
		{"with: {table: more}, columns: [b]", []File{rows("a", "A")}, "error 0/0"},
		{"with: {table: more}, columns: [a]", []File{fileOf(t, "a", longs("a", 1))}, "error 0/0"},
		{"with: {table: nowhere}", []File{rows("a", "A")}, "error 0/0"},
	}
	for _, tt := range tests {
		a := shelf.against(t, "matches: {"+tt.with+"}", tt.files...)
		if got := countsText(a); got != tt.want {
			t.Errorf("%s: %s, want %s; %s", tt.with, got, tt.want, a.Message)
		}
	}
	a := shelf.against(t, "matches: {with: {table: keyed}, keys: [k]}", keyed("a", []any{1, 2, 3, 5, nil}, []any{"a", "x", "c", "d", "f"}))
	if want := "[{a 1 [{k 2 false}]} {a 3 [{k 5 false}]} {a 4 [{k  true}]} {k1 2 [{k 3 false}]} {k2 0 [{k 4 false}]}]"; fmt.Sprint(a.Samples) != want {
		t.Errorf("samples %v, want %s", a.Samples, want)
	}
	shelf.live = nil
	for what, want := range map[string]Outcome{"warn": Warn, "skip": Skipped, "fail": Fail} {
		a := shelf.against(t, "matches: {with: baseline, on_no_baseline: "+what+"}", rows("a", "A"))
		if a.Outcome != want || a.Message != "nothing is published to compare with" {
			t.Errorf("%s: %s, %s", what, a.Outcome, a.Message)
		}
	}
}

// With little memory everything goes through the temporary file, and the counts
// are the same.
func TestTallySpills(t *testing.T) {
	const n = 40000
	var child, parent []any
	for i := range n {
		child = append(child, fmt.Sprintf("key-%d", i%(n/2)))
		parent = append(parent, fmt.Sprintf("key-%d", 2*i))
	}
	file, other := fileOf(t, "c", strs("c", child...)), fileOf(t, "p", strs("c", parent...))
	s := &shelf{data: map[string][]Partition{"p": {publishedAs("p", other)}}, live: []Partition{publishedAs("l", other)}}
	c := mustParse(t, checks("relationships: {column: c, to: p}", "matches: {with: baseline}"))
	for _, memory := range []int64{1 << 16, 0} {
		r := mustRun(t, c, Partition{Partition: day("2025-03-05"), Files: []File{file}}, Options{Published: s, Memory: memory})
		got := countsText(resultOf(t, r, "relationships(c)")) + "; " + countsText(resultOf(t, r, "matches"))
		want := "fail 20000/40000 keys_without_parent=10000 parent_rows=40000; " +
			"fail 60000/70000 extra_rows=30000 missing_rows=30000 rows_there=40000"
		if got != want {
			t.Errorf("memory %d: %s, want %s", memory, got, want)
		}
	}
	// One part alone is too much, and is spread again.
	set := &tally{budget: minTally}
	for i := range 20 * n {
		p := &pair{rows: [2]int64{1, 0}, first: [2]uint64{uint64(i), nowhere}}
		if err := set.put(fmt.Appendf(nil, "%d", i/2), p); err != nil {
			t.Fatal(err)
		}
	}
	seen, rows := 0, int64(0)
	err := set.each(func(_ []byte, p *pair) error {
		seen++
		rows += p.rows[judgedSide]
		if p.first[judgedSide]%2 != 0 {
			t.Errorf("the first of %+v", p)
		}
		return nil
	})
	if err = errors.Join(err, set.close()); err != nil || seen != 10*n || rows != 20*n {
		t.Errorf("%v: %d tuples, %d rows", err, seen, rows)
	}
}

func TestReferenceMistakes(t *testing.T) {
	for item, want := range map[string]string{
		"relationships: {columns: [a]}":                                       "relationships needs to",
		"relationships: {columns: [a], to: {tabel: x}}":                       `unknown key of to "tabel"`,
		"relationships: {columns: [a], to: {table: x, partition: y}}":         "to names both table and partition",
		"relationships: {columns: [a], to: {columns: [x]}}":                   "to names nothing",
		"relationships: {columns: [a], to: {table: x, columns: [b, c]}}":      "to names 2 columns for a key of 1",
		"relationships: {columns: [a], to: {files: []}}":                      "files is empty",
		"relationships: {columns: [a], to: {table: x, where: 'a >'}}":         "",
		"relationships: {to: x}":                                              "relationships names no column",
		"relationships: {columns: [a], to: baseline}":                         "to is one of table, partition, files",
		"matches: {keys: [a]}":                                                "matches needs with",
		"matches: {with: basline}":                                            `with is one of baseline, partition, table, files, not "basline"`,
		"matches: {with: {table: x}, keys: [a, a]}":                           "column a stands twice",
		"matches: {with: {baseline: false}}":                                  "baseline: false says nothing",
		"matches: {with: {control: x}}":                                       `unknown key of with "control"`,
		"matches: {with: {table: x, where: a > 1}}":                           `unknown key of with "where"`,
		"foreign_key: {columns: [a], to: {table: x}, fail_if: '> 200%'}":      "can never be reached",
		"relationships: {columns: [a], to: {table: x}, where: a > 'x' and 1}": "",
	} {
		_, err := Parse("c.yaml", []byte(checks(item)), Vars{})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "c.yaml:3:") {
			t.Errorf("%s: %v, want %s", item, err, want)
		}
	}
}
