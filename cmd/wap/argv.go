package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/audit"
	"github.com/wap-cli/wap/wap"
)

// line is a command line taken apart.
//
// urfave/cli stops reading flags at the first positional and would silently
// ignore --checks in "wap run P --checks F -- CMD": a gate that ignores its
// rules. So wap finds the flags itself, wherever they stand, and hands them
// over with their values attached.
type line struct {
	command *command // nil: none was named
	flags   []string // --name=value each
	args    []string // positionals, the command's name aside
	after   []string // what follows the first --
	dashes  bool     // there is a --
	json    bool
	help    bool
}

// token is one flag as it was written.
type token struct {
	written string // with its dashes, without a value
	value   string
	known   *flagSpec // nil: no command has it
}

// parseLine takes args apart. Everything before the first -- is wap's, flags and
// positionals in any order. The line is filled as far as it was understood, so
// that an error can be reported as --json asks.
func parseLine(commands []*command, args []string) (line, error) {
	var l line
	if i := slices.Index(args, "--"); i >= 0 {
		args, l.after, l.dashes = args[:i], args[i+1:], true
	}
	l.json = slices.ContainsFunc(args, func(a string) bool { return a == "--json" || a == "--json=true" })
	tokens, words, err := tokenize(allFlags(commands), args)
	if err != nil {
		return l, err
	}
	l.help = slices.ContainsFunc(tokens, func(t token) bool { return t.known != nil && t.known.name == "help" })
	if len(words) == 0 {
		if len(tokens) > 0 && !l.help {
			return l, withHint(usage("no command given"), "wap help")
		}
		return l, nil
	}
	if l.command, l.args = findCommand(commands, words); l.command == nil {
		return l, unknownCommand(commands, words)
	}
	if l.flags, err = l.command.accept(tokens); err != nil || l.help {
		return l, err
	}
	return l, l.checkArgs()
}

// tokenize tells flags from positionals. A flag's name means the same in every
// command, so this needs not know the command yet.
func tokenize(flags []flagSpec, args []string) (tokens []token, words []string, err error) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !strings.HasPrefix(arg, "-") {
			words = append(words, arg)
			continue
		}
		if arg == "-" {
			return nil, nil, withHint(usage("a positional cannot start with -: %q", arg), "write ./- for a file of that name")
		}
		t := token{written: arg}
		name, value, attached := strings.Cut(arg, "=")
		t.written = name
		if at := slices.IndexFunc(flags, func(f flagSpec) bool { return f.matches(name) }); at >= 0 {
			t.known = &flags[at]
		}
		switch {
		case attached:
			t.value = value
		case t.known == nil:
		case !t.known.takesValue:
			t.value = "true"
		case i+1 == len(args):
			return nil, nil, usage("flag %s needs a value", name)
		case strings.HasPrefix(args[i+1], "-"):
			return nil, nil, withHint(usage("flag %s needs a value, and %s looks like the next flag", name, args[i+1]), "%s=%s if that is the value", name, args[i+1])
		default:
			i++
			t.value = args[i]
		}
		tokens = append(tokens, t)
	}
	return tokens, words, nil
}

// findCommand returns the command that the first words name, and the rest.
func findCommand(commands []*command, words []string) (*command, []string) {
	for _, n := range []int{2, 1} {
		if n > len(words) {
			continue
		}
		name := strings.Join(words[:n], " ")
		for _, c := range commands {
			if c.name == name {
				return c, words[n:]
			}
		}
	}
	return nil, words
}

func unknownCommand(commands []*command, words []string) error {
	e := usage("unknown command %q", words[0])
	var names, below []string
	for _, c := range commands {
		names = append(names, c.name)
		if strings.HasPrefix(c.name, words[0]+" ") {
			below = append(below, "wap "+c.name)
		}
	}
	if len(below) > 0 {
		return withHint(e, "%s", strings.Join(below, " or "))
	}
	if near, ok := audit.Nearest(words[0], names); ok {
		return withHint(e, "did you mean %q?", near)
	}
	return withHint(e, "wap help lists the commands")
}

// accept checks that the command has each flag and no flag stands twice that
// has one value, and writes them the one way urfave/cli reads everywhere.
func (c *command) accept(tokens []token) ([]string, error) {
	own := flagSpecs(c.allFlags())
	given := map[string]bool{}
	var out []string
	for _, t := range tokens {
		at := slices.IndexFunc(own, func(f flagSpec) bool { return f.matches(t.written) })
		if at < 0 {
			return nil, c.unknownFlag(t, own)
		}
		f := own[at]
		if given[f.name] && !f.repeats {
			return nil, withHint(usage("flag --%s is given twice", f.name), "wap help %s", c.name)
		}
		if f.takesValue && t.value == "" {
			return nil, withHint(usage("flag --%s has an empty value", f.name), "leave it out")
		}
		given[f.name] = true
		if f.name != "help" {
			out = append(out, "--"+f.name+"="+t.value)
		}
	}
	return out, nil
}

func (c *command) unknownFlag(t token, own []flagSpec) error {
	e := usage("unknown flag %s of %q", t.written, "wap "+c.name)
	if t.known != nil {
		return withHint(e, "other commands have it; wap help %s lists this one's", c.name)
	}
	var names []string
	for _, f := range own {
		names = append(names, f.name)
	}
	if near, ok := audit.Nearest(strings.TrimLeft(t.written, "-"), names); ok {
		return withHint(e, "did you mean --%s?", near)
	}
	if c.takesCommand {
		return withHint(e, "flags of CMD stand after --; wap help %s", c.name)
	}
	return withHint(e, "wap help %s", c.name)
}

// checkArgs refuses what the command would have to ignore.
func (l line) checkArgs() error {
	c := l.command
	help := "wap help " + c.name
	switch {
	case l.dashes && !c.takesCommand:
		return withHint(usage("wap %s runs no command: nothing may follow --", c.name), "%s", help)
	case c.takesCommand && len(l.after) == 0:
		return withHint(usage("wap %s needs a command after --", c.name), "%s", help)
	case len(l.args) < c.minArgs:
		return withHint(usage("wap %s: %s is missing", c.name, missingArg(c.argsUsage, len(l.args))), "%s", help)
	case c.maxArgs >= 0 && len(l.args) > c.maxArgs:
		return withHint(usage("wap %s: unexpected argument %q", c.name, l.args[c.maxArgs]), "%s", help)
	}
	return nil
}

// missingArg names the n-th word of a usage line such as "PATH[@REF] DIR".
func missingArg(argsUsage string, n int) string {
	words := strings.Fields(argsUsage)
	if n < len(words) {
		return words[n]
	}
	return "an argument"
}

// flagSpec is what has to be known of a flag to find it on a command line.
type flagSpec struct {
	name       string   // without dashes
	short      []string // one letter each, without the dash
	takesValue bool
	repeats    bool
}

// matches reports whether written, with its dashes, is this flag: two dashes
// before a name, one before a letter.
func (f flagSpec) matches(written string) bool {
	if long, ok := strings.CutPrefix(written, "--"); ok {
		return long == f.name
	}
	return slices.Contains(f.short, strings.TrimPrefix(written, "-"))
}

func flagSpecs(flags []cli.Flag) []flagSpec {
	specs := []flagSpec{{name: "help", short: []string{"h"}}}
	for _, f := range flags {
		s := flagSpec{name: f.Names()[0], short: f.Names()[1:]}
		if doc, ok := f.(cli.DocGenerationFlag); ok {
			s.takesValue = doc.TakesValue()
		}
		_, s.repeats = f.(*cli.StringSliceFlag)
		specs = append(specs, s)
	}
	return specs
}

func allFlags(commands []*command) []flagSpec {
	specs := flagSpecs(nil)
	seen := map[string]bool{"help": true}
	for _, c := range commands {
		for _, s := range flagSpecs(c.allFlags()) {
			if !seen[s.name] {
				seen[s.name] = true
				specs = append(specs, s)
			}
		}
	}
	return specs
}

func usage(format string, args ...any) *wap.Error {
	return &wap.Error{Kind: wap.KindUsage, Message: fmt.Sprintf(format, args...)}
}

// withHint returns e with what to type next.
func withHint(e *wap.Error, format string, args ...any) *wap.Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}
