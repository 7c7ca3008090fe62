package testdata_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wap-cli/wap/audit"
)

// readme returns the README's text.
func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(readmeName)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// section returns what stands between two marks of the README.
func section(t *testing.T, name string) string {
	t.Helper()
	_, rest, ok := strings.Cut(readme(t), "<!-- "+name+" -->")
	text, _, closed := strings.Cut(rest, "<!-- /"+name+" -->")
	if !ok || !closed {
		t.Fatalf("README.md has no section %q between marks", name)
	}
	return text
}

// goFiles calls visit for every Go file of the module, tests too.
func goFiles(t *testing.T, visit func(name string, data []byte)) {
	t.Helper()
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		data, err := os.ReadFile(name)
		if err == nil {
			visit(name, data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

var testName = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)`")

// TestReadmeNamesTests: each test that the README names exists, and each
// guarantee names some.
func TestReadmeNamesTests(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w*)\(`)
	exist := map[string]bool{}
	goFiles(t, func(_ string, data []byte) {
		for _, m := range declared.FindAllSubmatch(data, -1) {
			exist[string(m[1])] = true
		}
	})
	named := testName.FindAllStringSubmatch(readme(t), -1)
	for _, m := range named {
		if !exist[m[1]] {
			t.Errorf("README.md names %s, and there is no such test", m[1])
		}
	}
	if len(named) < 20 {
		t.Errorf("README.md names %d tests: this test misreads it", len(named))
	}
	rows := strings.Split(strings.TrimSpace(section(t, "guarantees")), "\n")[2:]
	for i, row := range rows {
		cells := strings.Split(row, "|")
		if want := " G" + string(rune('1'+i)) + " "; cells[1] != want || !testName.MatchString(cells[3]) {
			t.Errorf("guarantees, row %d: want%sand a test: %s", i+1, want, row)
		}
	}
	if len(rows) != 7 {
		t.Errorf("%d guarantees, want G1 to G7", len(rows))
	}
}

// TestReadmeCrashes: each crash point says what it leaves, who repairs it, and
// what test shows it.
func TestReadmeCrashes(t *testing.T) {
	rows := strings.Split(strings.TrimSpace(section(t, "crashes")), "\n")[2:]
	for _, row := range rows {
		cells := strings.Split(row, "|")
		if len(cells) != 6 || strings.TrimSpace(cells[2]) == "" || strings.TrimSpace(cells[3]) == "" || !testName.MatchString(cells[4]) {
			t.Errorf("want a point, what is left, who repairs it and a test: %s", row)
		}
	}
	if len(rows) < 15 {
		t.Errorf("%d crash points", len(rows))
	}
}

// TestReadmeNamesFiles: every path that the README names is there, those aside
// that are made: bin and .tools.
func TestReadmeNamesFiles(t *testing.T) {
	named := regexp.MustCompile("`((?:cmd|wap|audit|manifest|testdata|\\.ci)/[A-Za-z0-9_./*-]*)`").FindAllStringSubmatch(readme(t), -1)
	for _, m := range named {
		if found, err := filepath.Glob("../" + m[1]); err != nil || len(found) == 0 {
			t.Errorf("README.md names %s, and it is not there", m[1])
		}
	}
	if len(named) < 10 {
		t.Errorf("README.md names %d paths: this test misreads it", len(named))
	}
}

// TestReadmeMakeTargets: what the README says about make is in the Makefile. The
// targets themselves have tests of their own.
func TestReadmeMakeTargets(t *testing.T) {
	makefile, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	check := func(target string) {
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(target) + `:`).Match(makefile) {
			t.Errorf("README.md says make %s, and the Makefile has no such target", target)
		}
	}
	for _, m := range regexp.MustCompile("`make ([a-z-]+)").FindAllStringSubmatch(readme(t), -1) {
		check(m[1])
	}
	all, _ := blocks(t)
	for _, b := range all {
		if b.lang != "make" {
			continue
		}
		for _, line := range b.lines {
			target, ok := strings.CutPrefix(line, "make ")
			if !ok {
				t.Errorf("README.md:%d: %q is no make command", b.line, line)
				continue
			}
			check(strings.Fields(target)[0])
		}
	}
}

// TestReadmeNamesCommands: where the README has a wap command in its prose, or
// in a block that is not run, the command and its flags exist. The table of
// flags is held to the program by a test of its own.
func TestReadmeNamesCommands(t *testing.T) {
	exist := map[string]bool{"help": true}
	goFiles(t, func(name string, data []byte) {
		if filepath.Dir(name) == "../cmd/wap" {
			for _, m := range regexp.MustCompile(`\bname:\s+"([a-z]+)"`).FindAllSubmatch(data, -1) {
				exist[string(m[1])] = true
			}
		}
	})
	texts := regexp.MustCompile("`(wap [^`]*)`").FindAllStringSubmatch(readme(t), -1)
	all, _ := blocks(t)
	for _, b := range all {
		if b.skipped {
			joined := strings.ReplaceAll(strings.Join(b.lines, "\n"), "\\\n", " ")
			texts = append(texts, regexp.MustCompile(`(?m)(wap [^")\n]*)`).FindAllStringSubmatch(joined, -1)...)
		}
	}
	if len(texts) < 10 {
		t.Fatalf("%d commands: this test misreads the README", len(texts))
	}
	flags := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]*)`").FindAllStringSubmatch(section(t, "flags"), -1) {
		for _, w := range strings.Fields(m[1]) {
			name, _, _ := strings.Cut(w, "=")
			flags[strings.TrimSuffix(name, ",")] = true
		}
	}
	for _, m := range texts {
		own, _, _ := strings.Cut(m[1], " -- ")
		words := strings.Fields(own)
		if !exist[words[1]] {
			t.Errorf("README.md: %s: there is no command %q", m[1], words[1])
		}
		for _, w := range words[2:] {
			if name, _, _ := strings.Cut(w, "="); strings.HasPrefix(name, "-") && !flags[name] {
				t.Errorf("README.md: %s: there is no flag %s", m[1], name)
			}
		}
	}
}

// TestReadmeCatalogue: each row of the catalogue is accepted as it is written,
// and what is said to be missing is missing.
func TestReadmeCatalogue(t *testing.T) {
	code := regexp.MustCompile("`([^`]+)`")
	examples := 0
	for line := range strings.SplitSeq(section(t, "catalogue"), "\n") {
		cells := strings.Split(line, " | ")
		if len(cells) < 2 || !strings.HasPrefix(line, "| `") {
			continue
		}
		names := code.FindAllStringSubmatch(cells[0], -1)
		texts := code.FindAllStringSubmatch(cells[1], -1)
		if len(texts) == 0 {
			t.Errorf("no example: %s", line)
		}
		for i, m := range texts {
			if !strings.HasPrefix(m[1], names[min(i, len(names)-1)][1]) {
				t.Errorf("%s is no example of %s", m[1], cells[0])
			}
			checks := "version: 1\nchecks:\n  - row_count: 1\n  - " + m[1] + "\n"
			if _, err := audit.Parse("README.md", []byte(checks), audit.Vars{}); err != nil {
				t.Errorf("%s: %v", m[1], err)
			}
			examples++
		}
		for _, m := range names {
			_, err := audit.Parse("README.md", []byte("version: 1\nchecks: [{"+m[1]+": {nonsense: 1}}]\n"), audit.Vars{})
			if err == nil || strings.Contains(err.Error(), "unknown assertion") {
				t.Errorf("%s is no assertion: %v", m[1], err)
			}
		}
	}
	if examples < 20 {
		t.Errorf("%d examples: this test misreads the README", examples)
	}
}

// TestReadmeDependencies: the table has each module that the code imports, and
// no other.
func TestReadmeDependencies(t *testing.T) {
	gomod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	var modules []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+`).FindAllSubmatch(gomod, -1) {
		modules = append(modules, string(m[1]))
	}
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^tool (\S+)`).FindAllSubmatch(gomod, -1) {
		used[moduleOf(modules, string(m[1]))] = true
	}
	goFiles(t, func(name string, data []byte) {
		file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, imp := range file.Imports {
			if m := moduleOf(modules, strings.Trim(imp.Path.Value, `"`)); m != "" {
				used[m] = true
			}
		}
	})
	var want, got []string
	for m := range used {
		want = append(want, m)
	}
	for _, m := range regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllStringSubmatch(section(t, "dependencies"), -1) {
		for _, code := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(m[1], -1) {
			got = append(got, code[1])
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("dependencies in README.md\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// moduleOf finds the module that a package is part of, or "".
func moduleOf(modules []string, pkg string) string {
	best := ""
	for _, m := range modules {
		if within(pkg, m) && len(m) > len(best) {
			best = m
		}
	}
	return best
}
