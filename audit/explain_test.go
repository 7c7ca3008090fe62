package audit

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The long form, read again, is the same file.
func TestExplain(t *testing.T) {
	text := `
version: 1
partition: [dt]
timezone: UTC
defaults: {severity: warn, redact: [mail]}
determinism: {ignore: [loaded_at]}
shrink: false
integrity: {mode: full}
partition_values: {map: {dt: date(at), area: region}}
checks:
  - row_count: {min: 1, where: "status = 'it''s' and x > 1"}
  - accepted_values: {columns: [a, b], values: [NO, "1", 1, 2.50, true, .nan, '$${x}', '${partition.dt}'], nulls: fail}
  - accepted_range: {column: a, min: 1e3, exclusive_max: 18446744073709551616, mostly: 0.99, warn_if: "> 0"}
  - unique: [dt, a]
  - exec: {command: ["./x", "-a b"], timeout: 90s}
  - schema: {columns: [{name: q, type: int64, nullable: false}, r], forbidden: [z]}
  - expression: {id: e, expr: "a >= b", samples: 3}
  - null_rate: {column: a, max: 5%}
  - sum: {column: a, equals: 1.5, tolerance: 0.25}
  - file_size: {max: 1GiB}
  - freshness: {column: at, max_age: 6h}
columns:
  - {name: a, type: "decimal(18,2)", nullable: true, checks: [not_null]}
`
	c := mustParse(t, text)
	var long strings.Builder
	if err := c.WriteYAML(&long); err != nil {
		t.Fatal(err)
	}
	again, err := Parse("long.yaml", []byte(long.String()), Vars{})
	if err != nil {
		t.Fatalf("%v\n%s", err, long.String())
	}
	// Checks of columns move behind the others only in what is written.
	byID := func(a, b *Check) int { return strings.Compare(a.ID, b.ID) }
	slices.SortFunc(c.checks, byID)
	slices.SortFunc(again.checks, byID)
	if c.Digest() != again.Digest() {
		t.Errorf("the long form means something else:\n%s\n%s\n%s", canonicalJSON(c.canonical()), canonicalJSON(again.canonical()), long.String())
	}
	var twice strings.Builder
	if err := mustParse(t, long.String()).WriteYAML(&twice); err != nil || twice.String() != long.String() {
		t.Errorf("%v: the long form of the long form differs:\n%s", err, twice.String())
	}
	body, err := json.Marshal(c)
	if err != nil || digest(json.RawMessage(body)) != digest(c.canonical()) {
		t.Errorf("%v: the JSON is not what the digest is taken of", err)
	}
}

// Every assertion of README.md's catalogue is exported, and no other.
func TestAssertions(t *testing.T) {
	data, err := os.ReadFile("../README.md")
	if os.IsNotExist(err) {
		t.Skip("there is no README.md to compare with")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), "<!-- catalogue -->")
	section, _, _ := strings.Cut(rest, "<!-- /catalogue -->")
	var want, got []string
	for line := range strings.SplitSeq(section, "\n") {
		cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, m := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(cell, -1) {
			want = append(want, m[1])
		}
	}
	for _, a := range Assertions() {
		got = append(got, a.Name)
		for _, key := range a.Required {
			if !slices.Contains(a.Keys, key) {
				t.Errorf("%s requires %s, which it does not take", a.Name, key)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("assertions\n%s\nREADME.md\n%s", got, want)
	}
}
