package main

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/wap-cli/wap/wap"
)

// TestFlagsMeanTheSameEverywhere holds the ground on which a command line can be
// read before its command is known.
func TestFlagsMeanTheSameEverywhere(t *testing.T) {
	first := map[string]flagSpec{}
	for _, c := range commands() {
		for _, f := range flagSpecs(c.allFlags()) {
			was, seen := first[f.name]
			if seen && (was.takesValue != f.takesValue || !slices.Equal(was.short, f.short)) {
				t.Errorf("--%s of %q has another form than elsewhere", f.name, c.name)
			}
			first[f.name] = f
		}
	}
	if len(first) < 20 {
		t.Fatalf("only %d flags: %v", len(first), slices.Sorted(maps.Keys(first)))
	}
}

// valid is a command line of the command without its flags, as short as may be.
func valid(c *command) (args, after []string) {
	for range c.minArgs {
		args = append(args, "x")
	}
	if c.takesCommand {
		after = []string{"--", "CMD", "--checks", "mine", "-x"}
	}
	return args, after
}

// TestFlagsInAnyPosition puts every flag of every command before the command's
// name, after it, and after its positionals, in each of its forms.
func TestFlagsInAnyPosition(t *testing.T) {
	for _, c := range commands() {
		args, after := valid(c)
		name := strings.Fields(c.name)
		for _, f := range flagSpecs(c.allFlags())[1:] {
			for _, written := range forms(f) {
				want := []string{"--" + f.name + "=v"}
				if !f.takesValue {
					want = []string{"--" + f.name + "=true"}
				}
				for position, parts := range [][][]string{
					{written, name, args, after},
					{name, written, args, after},
					{name, args, written, after},
				} {
					argv := slices.Concat(parts...)
					l, err := parseLine(commands(), argv)
					if err != nil {
						t.Errorf("%d %q: %v", position, argv, err)
						continue
					}
					if l.command == nil || l.command.name != c.name || !slices.Equal(l.flags, want) || !slices.Equal(l.args, args) {
						t.Errorf("%d %q: got flags %q, args %q", position, argv, l.flags, l.args)
					}
					if c.takesCommand && !slices.Equal(l.after, after[1:]) {
						t.Errorf("%q: CMD is %q", argv, l.after)
					}
				}
			}
		}
	}
}

func forms(f flagSpec) [][]string {
	var list [][]string
	for _, name := range append([]string{"--" + f.name}, dashed(f.short)...) {
		if !f.takesValue {
			list = append(list, []string{name}, []string{name + "=true"})
			continue
		}
		list = append(list, []string{name, "v"}, []string{name + "=v"})
	}
	return list
}

func dashed(letters []string) []string {
	var list []string
	for _, l := range letters {
		list = append(list, "-"+l)
	}
	return list
}

// TestEveryCommandRefuses what it would have to ignore.
func TestEveryCommandRefuses(t *testing.T) {
	for _, c := range commands() {
		args, after := valid(c)
		good := slices.Concat(strings.Fields(c.name), args)
		for what, argv := range map[string][]string{
			"a positional that starts with a dash": slices.Concat(good, []string{"-"}, after),
			"an unknown flag":                      slices.Concat(good, []string{"--chekcs", "f"}, after),
			"an unknown letter":                    slices.Concat(good, []string{"-z"}, after),
			"a long name after one dash":           slices.Concat(good, []string{"-json"}, after),
			"a flag twice":                         slices.Concat([]string{"--region=a"}, good, []string{"--region=b"}, after),
			"a flag without its value":             slices.Concat(good, []string{"--warehouse"}, after),
			"a flag with an empty value":           slices.Concat(good, []string{"--region="}, after),
			"a flag with a flag for a value":       slices.Concat(good, []string{"--warehouse", "--json"}, after),
		} {
			if l, err := parseLine(commands(), argv); err == nil {
				t.Errorf("%s: %q is taken as %+v", what, argv, l)
			} else if wap.Code(err) != 2 {
				t.Errorf("%s: %q: exit %d: %v", what, argv, wap.Code(err), err)
			}
		}
		if c.takesCommand {
			for _, argv := range [][]string{good, append(good, "--")} {
				if _, err := parseLine(commands(), argv); wap.Code(err) != 2 {
					t.Errorf("%q: no command is no mistake: %v", argv, err)
				}
			}
			continue
		}
		if _, err := parseLine(commands(), append(good, "--", "CMD")); wap.Code(err) != 2 {
			t.Errorf("%q takes a command: %v", c.name, err)
		}
		if c.maxArgs >= 0 {
			many := slices.Concat(strings.Fields(c.name), slices.Repeat([]string{"x"}, c.maxArgs+1))
			if _, err := parseLine(commands(), many); wap.Code(err) != 2 {
				t.Errorf("%q takes too many arguments: %v", c.name, err)
			}
		}
	}
}

func TestHints(t *testing.T) {
	for _, test := range []struct{ argv, message, hint string }{
		{"rnu P -- x", `unknown command "rnu"`, `did you mean "run"?`},
		{"undo r", `unknown command "undo"`, "wap help lists the commands"},
		{"run P --chekcs f -- x", `unknown flag --chekcs of "wap run"`, "did you mean --checks?"},
		{"run P --format=f -- x", `unknown flag --format of "wap run"`, "other commands have it; wap help run lists this one's"},
		{"ls -json", `unknown flag -json of "wap ls"`, "did you mean --json?"},
		{"run P", "wap run needs a command after --", "wap help run"},
		{"ls -- x", "wap ls runs no command: nothing may follow --", "wap help ls"},
		{"fetch orders", "wap fetch: DIR is missing", "wap help fetch"},
		{"fetch a b c", `wap fetch: unexpected argument "c"`, "wap help fetch"},
		{"ls --warehouse --json", "flag --warehouse needs a value, and --json looks like the next flag", "--warehouse=--json if that is the value"},
		{"ls -", `a positional cannot start with -: "-"`, "write ./- for a file of that name"},
		{"--json", "no command given", "wap help"},
	} {
		_, err := parseLine(commands(), strings.Fields(test.argv))
		var e *wap.Error
		if !errors.As(err, &e) || e.Message != test.message || e.Hint != test.hint {
			t.Errorf("%s: got %+v, want %q, %q", test.argv, e, test.message, test.hint)
		}
	}
}
