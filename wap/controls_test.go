package wap

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A control file of a size that is allowed names no gigabytes: a name is written
// out for each value below it.
func TestControlsBounded(t *testing.T) {
	long := strings.Repeat("n", 1000)
	wide := strings.TrimSuffix(strings.Repeat("0,", 20_000), ",")
	nested := func(depth int) string { // objects in objects, with a number inside
		return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
	}
	for name, c := range map[string]struct{ body, want string }{
		"as deep as it may":  {nested(maxControlDepth), ""},
		"one level too deep": {nested(maxControlDepth + 1), `at "a.a.a`},
		"as deep as fits":    {nested(9_000), "deeper than 32 levels"},
		"lists, too":         {`{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}", `at "a.0.0`},
		"many values":        {`{"a":[` + wide + `]}`, ""},
		"many long names":    {fmt.Sprintf(`{%q:[%s]}`, long, wide), "longer than 8388608 bytes"},
	} {
		if len(c.body) > maxControl {
			t.Fatalf("%s: too large a file", name)
		}
		found, err := parseControls([]byte(c.body), "totals.json", "main")
		switch {
		case c.want == "" && (err != nil || len(found) == 0):
			t.Errorf("%s: %d values, %v", name, len(found), err)
		case c.want != "" && (!isKind(err, KindOutputRefused) || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300):
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// At a URL such a file closes the gate: it will not be another one later.
func TestControlsBoundedAtURL(t *testing.T) {
	l := newLab(t)
	file := filepath.Join(t.TempDir(), "totals.json")
	if err := os.WriteFile(file, []byte(strings.Repeat(`{"a":`, 99)+"1"+strings.Repeat("}", 99)), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := "version: 1\nchecks:\n  - reconcile: { with: { control: \"file://" + file + "\" } }\n"
	_, err := l.do(l.open(), step{run: "r", partition: "orders/dt=1", rows: orders(0, 3), rules: rules})
	wantCode(t, err, 3)
	if !strings.Contains(err.Error(), "deeper than 32 levels") {
		t.Error(err)
	}
}
