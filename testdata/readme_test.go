package testdata_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/wap-cli/wap/audit"
)

var update = flag.Bool("update", false, "write what the README's commands print into it, save where it has an ellipsis")

const (
	readmeName = "../README.md"
	ellipsis   = "…" // a line of expected output: any number of lines
	// skipMark begins the paragraph above a block that nothing runs.
	skipMark = "Not run by the test of this file:"
)

// block is a fenced block of the README.
type block struct {
	line       int // of its first line of text, from 1
	lang, name string
	lines      []string
	skipped    bool
}

// blocks returns the README's fenced blocks and its lines. A block is opened by
// "```LANG" or, where the block is a file, "```LANG NAME".
func blocks(t *testing.T) (all []block, lines []string) {
	t.Helper()
	data, err := os.ReadFile(readmeName)
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.Split(string(data), "\n")
	var open *block
	paragraph := ""
	for i, line := range lines {
		fence, isFence := strings.CutPrefix(line, "```")
		switch {
		case isFence && open == nil:
			lang, name, _ := strings.Cut(fence, " ")
			open = &block{line: i + 2, lang: lang, name: name, skipped: strings.HasPrefix(paragraph, skipMark)}
		case isFence:
			all = append(all, *open)
			open, paragraph = nil, ""
		case open != nil:
			open.lines = append(open.lines, line)
		case line != "" && (i == 0 || lines[i-1] == ""):
			paragraph = line
		}
	}
	if open != nil {
		t.Fatalf("README.md:%d: a block without an end", open.line)
	}
	if len(all) < 10 {
		t.Fatalf("%d blocks: this test misreads the README", len(all))
	}
	return all, lines
}

// command is one thing to run, with what the README says it prints.
type command struct {
	line   int
	script string
	shown  bool     // output is compared
	want   []string // an exit code other than 0 stands last, as [exit 3]
	at     int      // index of want's first line in the README's lines
}

// commandsOf turns a block into commands for one shell. A console block shows
// each command after "$ ", its further lines after "> ", and all that it prints.
func commandsOf(t *testing.T, b block) []command {
	t.Helper()
	text := strings.Join(b.lines, "\n") + "\n"
	script := func(text string) []command {
		return []command{{line: b.line, script: "(\nset -eu\n" + text + "\n)"}}
	}
	var list []command
	if b.name != "" {
		list = append(list, command{line: b.line, script: fmt.Sprintf(
			"mkdir -p '%s'\ncat >'%s' <<'END OF FILE'\n%sEND OF FILE\nchmod 755 '%s'", filepath.Dir(b.name), b.name, text, b.name)})
	}
	switch {
	case b.lang == "console" && b.name == "":
		return console(t, b)
	case b.lang == "sh" && b.name == "":
		return script(text)
	case b.lang == "crontab":
		for _, line := range b.lines {
			fields := strings.SplitN(line, " ", 6) // five of time, then the command
			list = append(list, script(strings.ReplaceAll(fields[5], `\%`, "%"))...)
		}
	case b.lang == "python":
		inner := regexp.MustCompile(`(?s)"""(.*?)"""`).FindAllStringSubmatch(text, -1)
		if len(inner) == 0 {
			t.Errorf("README.md:%d: no shell command in the block", b.line)
		}
		for _, m := range inner {
			list = append(list, script(fill(m[1]))...)
		}
	case b.lang == "yaml" && b.name != "":
		list = append(list, yamlCommands(t, b, text, script)...)
	case b.lang == "sh" || b.lang == "make":
	default:
		t.Errorf("README.md:%d: nothing runs a block of %q; say %q above it, and why", b.line, b.lang, skipMark)
	}
	return list
}

func console(t *testing.T, b block) []command {
	t.Helper()
	var list []command
	for i, line := range b.lines {
		first, isCommand := strings.CutPrefix(line, "$ ")
		more, isMore := strings.CutPrefix(line, "> ")
		switch {
		case isCommand:
			list = append(list, command{line: b.line + i, script: first, shown: true, at: b.line + i})
		case len(list) == 0:
			t.Fatalf("README.md:%d: a console block begins with \"$ \"", b.line)
		case isMore && len(list[len(list)-1].want) == 0:
			list[len(list)-1].script += "\n" + more
			list[len(list)-1].at++
		default:
			list[len(list)-1].want = append(list[len(list)-1].want, line)
		}
	}
	return list
}

// fill puts values in the place of a scheduler's templates.
func fill(text string) string {
	return regexp.MustCompile(`\{\{[^}]*\}\}`).ReplaceAllString(text, "2025-03-09")
}

// yamlCommands holds a checks file to the parser, and finds the commands that a
// workflow would run: texts named run, lists named command.
func yamlCommands(t *testing.T, b block, text string, script func(string) []command) []command {
	t.Helper()
	if strings.HasPrefix(filepath.Base(b.name), "checks") {
		if _, err := audit.Parse(b.name, []byte(text), audit.Vars{Env: os.LookupEnv}); err != nil {
			t.Errorf("README.md:%d: %v", b.line, err)
		}
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Errorf("README.md:%d: %v", b.line, err)
		return nil
	}
	var list []command
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 {
				switch key := n.Content[i-1].Value; {
				case key == "run" && child.Kind == yaml.ScalarNode && filepath.Base(b.name) != "wap.yaml":
					list = append(list, script(fill(child.Value))...)
				case key == "command" && child.Kind == yaml.SequenceNode:
					var words []string
					for _, w := range child.Content {
						words = append(words, "'"+strings.ReplaceAll(fill(w.Value), "'", `'\''`)+"'")
					}
					list = append(list, script(strings.Join(words, " "))...)
				}
			}
			walk(child)
		}
	}
	walk(&doc)
	return list
}

// TestReadmeCommands types the README from top to bottom into one shell, whose
// home is empty but for a clone with its programs built, and compares what is
// printed with what the README shows.
func TestReadmeCommands(t *testing.T) {
	all, lines := blocks(t)
	var list []command
	for _, b := range all {
		if !b.skipped {
			list = append(list, commandsOf(t, b)...)
		}
	}
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	transcript := typeIn(t, home, list)
	var changed []command
	for i, c := range list {
		got, ok := transcript[i]
		if !ok {
			t.Fatalf("README.md:%d: the shell ended before or in\n%s", c.line, c.script)
		}
		switch {
		case !c.shown && got[len(got)-1] != "[exit 0]":
			t.Errorf("README.md:%d: fails:\n%s\n%s", c.line, c.script, strings.Join(got, "\n"))
		case c.shown:
			if got[len(got)-1] == "[exit 0]" {
				got = got[:len(got)-1]
			}
			if matches(masked(c.want), masked(got)) {
				continue
			}
			if *update && !slices.Contains(c.want, ellipsis) {
				c.want = got
				changed = append(changed, c)
				continue
			}
			t.Errorf("README.md:%d: %s\nprints\n%s\nthe README says\n%s", c.line, c.script,
				strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
	rewrite(t, lines, list, changed)
}

// typeIn runs the commands in one shell and returns what each printed, with its
// exit code as last line.
func typeIn(t *testing.T, home string, list []command) map[int][]string {
	t.Helper()
	clone := filepath.Join(home, "wap")
	for pkg, name := range map[string]string{"cmd/wap": "wap", "cmd/wap-duckdb": "wap-duckdb", "testdata/demo": "orders", "testdata/ledger": "ledger"} {
		build := exec.Command("go", "build", "-o", filepath.Join(clone, "bin", name), ".")
		build.Dir = filepath.Join("..", pkg)
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("go build %s: %v\n%s", pkg, err, out)
		}
	}
	var script strings.Builder
	for i, c := range list {
		fmt.Fprintf(&script, "printf '\\036%d\\n'\n%s\nprintf '\\036=%%d\\n' \"$?\"\n", i, c.script)
	}
	file := filepath.Join(home, "typed.sh")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	sh := exec.Command("sh", file)
	sh.Dir, sh.Stdout, sh.Stderr = clone, &out, &out
	sh.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "LC_ALL=C", "PAUSE=0"}
	if err := sh.Run(); err != nil {
		t.Logf("shell: %v", err)
	}
	transcript := map[int][]string{}
	pattern := regexp.MustCompile(`(?s)\x1e(\d+)\n(.*?)\x1e=(\d+)\n`)
	for _, m := range pattern.FindAllStringSubmatch(out.String(), -1) {
		i, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(m[2], home, "/home/you")
		var printed []string
		if text != "" {
			printed = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		}
		transcript[i] = append(printed, "[exit "+m[3]+"]")
	}
	return transcript
}

// masked replaces what differs from run to run and from machine to machine.
func masked(lines []string) []string {
	masks := []struct {
		pattern *regexp.Regexp
		with    string
	}{
		{regexp.MustCompile(`\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b`), "ULID"},
		{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "SHA256"},
		{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "HASH"},
		{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z`), "TIME"},
		{regexp.MustCompile(`on \S+, pid \d+`), "on HOST, pid N"},
		{regexp.MustCompile(`\d+ bytes read`), "N bytes read"},
		{regexp.MustCompile(`\b(by|init|publish|fence) +[^\s@]+@\S+`), "$1 USER@HOST"},
		{regexp.MustCompile(`\S+ ago`), "AGO"},
		{regexp.MustCompile(`  +`), "  "},
		{regexp.MustCompile(` +$`), ""},
	}
	var out []string
	for _, line := range lines {
		for _, m := range masks {
			line = m.pattern.ReplaceAllString(line, m.with)
		}
		out = append(out, line)
	}
	return out
}

// matches compares lines; an ellipsis stands for one line or more.
func matches(want, got []string) bool {
	switch {
	case len(want) == 0:
		return len(got) == 0
	case len(got) == 0:
		return false
	case want[0] == ellipsis:
		return matches(want[1:], got[1:]) || matches(want, got[1:])
	}
	return want[0] == got[0] && matches(want[1:], got[1:])
}

// rewrite puts what the changed commands printed into the README.
func rewrite(t *testing.T, lines []string, all, changed []command) {
	t.Helper()
	if len(changed) == 0 {
		return
	}
	for _, c := range slices.Backward(changed) {
		i := slices.IndexFunc(all, func(o command) bool { return o.line == c.line })
		lines = slices.Replace(lines, c.at, c.at+len(all[i].want), c.want...)
	}
	if err := os.WriteFile(readmeName, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
