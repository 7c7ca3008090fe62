// Command mutants proves that the tests of the commit protocol can fail: it
// breaks the protocol in one known way after the other, and wants the tests
// named for it to fail each time. Nothing in the source tree is changed: the go
// tool is given broken copies of files in place of the real ones.
//
//	go run ./testdata/mutants [-run REGEXP]
//
// It must be run at the root of the module. It exits 1 if a mutant survives, does
// not compile, or no longer applies, and if the tests fail without any mutant.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"
)

// mutant is one way to break the protocol.
type mutant struct {
	name  string
	edits []edit
	tests string // regular expression for go test -run
	pkg   string // that is broken and tested; empty: wap
}

// edit replaces text that must occur exactly once in a file.
type edit struct {
	file, old, new string
}

// wholly is the package of the commit protocol; its explorer goes to the end.
const wholly = "./wap"

// testing is the go command that tests a package by these tests.
func (m *mutant) testing(ctx context.Context, flags ...string) *exec.Cmd {
	args := append([]string{"test"}, flags...)
	if m.pkg != "" {
		return exec.CommandContext(ctx, "go", append(args, m.pkg)...)
	}
	return exec.CommandContext(ctx, "go", append(args, wholly, "-explore.all")...)
}

// verdict is what became of a mutant.
type verdict string

const (
	killed   verdict = "killed"
	survived verdict = "SURVIVED"
	broken   verdict = "DOES NOT COMPILE"
	stale    verdict = "DOES NOT APPLY"
	untested verdict = "TESTS FAIL WITHOUT IT"
)

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)) }

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(stderr)
	only := flags.String("run", "", "regular expression: mutants to try")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	filter, err := regexp.Compile(*only)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	dir, err := os.MkdirTemp("", "mutants-")
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	table := tabwriter.NewWriter(stdout, 0, 8, 2, ' ', 0)
	defer table.Flush()
	code, sound := 0, map[string]bool{}
	for _, m := range mutants() {
		if !filter.MatchString(m.name) {
			continue
		}
		begun := time.Now()
		v, by := try(ctx, dir, m, sound)
		if v != killed {
			code = 1
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", v, m.name, by, time.Since(begun).Round(time.Second))
		fmt.Fprintf(stderr, "%s: %s\n", m.name, v)
	}
	return code
}

// try runs a mutant's tests with it and, once for each set of tests, without.
// It returns the first test that failed, or what went wrong.
func try(ctx context.Context, dir string, m mutant, sound map[string]bool) (verdict, string) {
	overlay, err := m.write(dir)
	if err != nil {
		return stale, err.Error()
	}
	if out, err := m.testing(ctx, "-overlay", overlay, "-run", "^$").CombinedOutput(); err != nil {
		return broken, lastLine(out)
	}
	out, err := m.testing(ctx, "-overlay", overlay, "-failfast", "-run", m.tests).CombinedOutput()
	if err == nil {
		return survived, m.tests
	}
	by := firstFailure(out)
	if sound[m.tests] {
		return killed, by
	}
	out, err = m.testing(ctx, "-run", m.tests).CombinedOutput()
	if err != nil || bytes.Contains(out, []byte("no tests to run")) {
		return untested, firstFailure(out)
	}
	sound[m.tests] = true
	return killed, by
}

// write writes the mutant's files, and the overlay that names them.
func (m *mutant) write(dir string) (overlay string, err error) {
	replace := map[string]string{}
	for _, e := range m.edits {
		real, err := filepath.Abs(e.file)
		if err != nil {
			return "", err
		}
		from := real
		if earlier, ok := replace[real]; ok {
			from = earlier
		}
		text, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(text), e.old); n != 1 {
			return "", fmt.Errorf("%s holds the text to break %d times, not once", e.file, n)
		}
		copied := filepath.Join(dir, strings.ReplaceAll(e.file, "/", "_"))
		if err := os.WriteFile(copied, []byte(strings.Replace(string(text), e.old, e.new, 1)), 0o666); err != nil {
			return "", err
		}
		replace[real] = copied
	}
	if len(replace) == 0 {
		return "", errors.New("nothing is broken")
	}
	body, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, body, 0o666)
}

// firstFailure names the innermost test that failed first.
func firstFailure(out []byte) string {
	name := ""
	for line := range strings.Lines(string(out)) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: ")
		if !ok {
			if strings.HasPrefix(line, "panic: ") && name == "" {
				name = strings.TrimSpace(line)
			}
			continue
		}
		test, _, _ := strings.Cut(rest, " (")
		if name == "" || strings.HasPrefix(test, name+"/") {
			name = test
		}
	}
	if name == "" {
		return lastLine(out)
	}
	return name
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}
