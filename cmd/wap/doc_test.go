package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wap-cli/wap/wap"
)

// TestExamples pastes every command's example into a shell, in the order of the
// help, in a folder with the one file that they count on.
func TestExamples(t *testing.T) {
	dir := t.TempDir()
	body, err := encodeParquet("order_id:int64,customer:string?\n1,Ann\n2,Bo\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "orders.parquet"), body, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range commands() {
		if c.about == "" || c.detail == "" || c.example == "" {
			t.Errorf("%s: help says too little", c.name)
		}
		if !strings.Contains(c.example, "wap "+c.name) {
			t.Errorf("%s: its example does not use it", c.name)
		}
		cmd := exec.Command("sh", "-euc", c.example)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s\n%s", c.name, err, c.example, out)
		}
	}
}

// TestHelpNamesEverything: every flag of a command and every exit code.
func TestHelpNamesEverything(t *testing.T) {
	for _, c := range commands() {
		help := commandHelp(c)
		for _, f := range c.allFlags() {
			if !strings.Contains(help, "  "+describeFlag(f).form) {
				t.Errorf("help of %s does not show %s", c.name, describeFlag(f).form)
			}
		}
		for _, x := range wap.Exits() {
			if !strings.Contains(help, fmt.Sprintf("\n  %d  %s", x.Code, strings.Fields(x.Meaning)[0])) {
				t.Errorf("help of %s does not show exit code %d", c.name, x.Code)
			}
		}
		for line := range strings.SplitSeq(help, "\n") {
			if len([]rune(line)) > helpWidth && !strings.Contains(c.example, strings.TrimSpace(line)) {
				t.Errorf("help of %s has a line of %d columns: %s", c.name, len([]rune(line)), line)
			}
		}
	}
}

// TestReadmeTables holds the README to the flags and exit codes of the program;
// -update writes them anew.
func TestReadmeTables(t *testing.T) {
	const name = "../../README.md"
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no README.md to compare with")
	}
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, section := range []struct{ mark, table string }{{"flags", flagTable()}, {"exits", exitTable()}} {
		from, to := "<!-- "+section.mark+" -->", "<!-- /"+section.mark+" -->"
		before, rest, ok := strings.Cut(text, from)
		_, after, closed := strings.Cut(rest, to)
		if !ok || !closed {
			t.Errorf("README.md has no %s … %s", from, to)
			continue
		}
		text = before + from + "\n" + section.table + to + after
	}
	switch {
	case text == string(data):
	case *update:
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("the tables in README.md are not those of the program: go test ./cmd/wap -run Readme -update")
	}
}

// flagTable has every flag of every command; equal ones share a row.
func flagTable() string {
	type row struct {
		flagDoc
		commands []string
	}
	var rows []row
	for _, f := range globalFlags() {
		rows = append(rows, row{describeFlag(f), []string{"every command"}})
	}
	for _, c := range commands() {
		for _, f := range c.flags {
			d := describeFlag(f)
			at := slices.IndexFunc(rows, func(r row) bool { return r.flagDoc == d })
			if at < 0 {
				at = len(rows)
				rows = append(rows, row{flagDoc: d})
			}
			rows[at].commands = append(rows[at].commands, "`"+c.name+"`")
		}
	}
	var b strings.Builder
	b.WriteString("| flag | of | meaning |\n|---|---|---|\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", cell(r.form), strings.Join(r.commands, ", "), cell(r.usage))
	}
	return b.String()
}

func exitTable() string {
	var b strings.Builder
	b.WriteString("| code | meaning | published by this call? | a scheduler should |\n|---|---|---|---|\n")
	for _, x := range wap.Exits() {
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", x.Code, cell(x.Meaning), cell(x.Published), cell(x.Scheduler))
	}
	b.WriteString("| other | killed from outside (137, 143, a crash of the runtime) | maybe | as 5 |\n")
	return b.String()
}

func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
