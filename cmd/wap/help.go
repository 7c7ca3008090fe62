package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/wap-cli/wap/wap"
)

// helpWidth is how wide help is set, in columns.
const helpWidth = 96

const (
	programAbout = "write, audit, publish: Parquet partitions that readers see whole, once, and only after their checks passed"
	// examplesNote tells what the examples of all commands count on.
	examplesNote = "Examples work when pasted, in the order of \"wap help\", in a folder that holds a Parquet file orders.parquet."
	// exitTopic is the topic of the help on exit codes.
	exitTopic = "exit-codes"
)

func helpCommand() *command {
	return &command{
		name:      "help",
		argsUsage: "CMD",
		about:     "what a command does, its flags, an example, its exit codes",
		detail:    "wap help " + exitTopic + " shows the exit codes alone.",
		example:   `wap help run`,
		maxArgs:   2,
		run: func(_ context.Context, c *call) (result, error) {
			if len(c.line.args) == 0 {
				return c.help(nil)
			}
			if c.line.args[0] == exitTopic && len(c.line.args) == 1 {
				return helpOutput{exitsText()}, nil
			}
			cmd, rest := findCommand(commands(), c.line.args)
			if cmd == nil || len(rest) > 0 {
				return nil, unknownCommand(commands(), c.line.args)
			}
			return c.help(cmd)
		},
	}
}

// help is the help of a command, or of the program.
func (c *call) help(cmd *command) (result, error) {
	if cmd != nil {
		return helpOutput{commandHelp(cmd)}, nil
	}
	if c.line.command == nil && !c.line.help {
		return nil, withHint(usage("no command given"), "wap help")
	}
	return helpOutput{programHelp()}, nil
}

type helpOutput struct {
	Help string `json:"help"`
}

func (o helpOutput) text(w io.Writer, _ style) error {
	_, err := io.WriteString(w, o.Help)
	return err
}

func programHelp() string {
	var b strings.Builder
	fmt.Fprintf(&b, "wap: %s\n\nUsage:\n  wap COMMAND [FLAG…] [ARGUMENT…]\n\nFlags and arguments stand in any order before --.\n\nCommands:\n", programAbout)
	t := newTable(&b)
	for _, c := range commands() {
		t.row("  "+c.name, c.about)
	}
	mustFlush(t)
	fmt.Fprintf(&b, "\n%s:\n%s\n%s\n\n%s", everyCommand, flagsText(globalFlags()), wrapped(examplesNote, ""), exitsText())
	return b.String()
}

func commandHelp(c *command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "wap %s: %s\n\nUsage:\n  %s\n\n%s\n", c.name, c.about, c.usageLine(), wrapped(c.detail, ""))
	if len(c.flags) > 0 {
		fmt.Fprintf(&b, "\nFlags:\n%s", flagsText(c.flags))
	}
	fmt.Fprintf(&b, "\nExample:\n%s\n\n%s:\n%s\n%s", indented(c.example), everyCommand, flagsText(globalFlags()), exitsText())
	return b.String()
}

func (c *command) usageLine() string {
	words := []string{"wap", c.name}
	if c.argsUsage != "" {
		args := c.argsUsage
		if c.minArgs == 0 && !c.takesCommand {
			args = "[" + args + "]"
		}
		words = append(words, args)
	}
	words = append(words, "[FLAG…]")
	if c.takesCommand {
		words = append(words, "-- CMD [ARG…]")
	}
	return strings.Join(words, " ")
}

// flagDoc is a flag as help and README show it.
type flagDoc struct {
	form  string // -w, --warehouse URL
	usage string
}

// describeFlag takes the placeholder of the value from the backquotes in the
// flag's usage, as the flag package does; one before a colon is left out of the
// text.
func describeFlag(f cli.Flag) flagDoc {
	var forms []string
	names := f.Names()
	for _, short := range names[1:] {
		forms = append(forms, "-"+short)
	}
	forms = append(forms, "--"+names[0])
	d := flagDoc{form: strings.Join(forms, ", ")}
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return d
	}
	d.usage = strings.ReplaceAll(doc.GetUsage(), "`", "")
	if _, rest, quoted := strings.Cut(doc.GetUsage(), "`"); quoted {
		placeholder, _, _ := strings.Cut(rest, "`")
		d.form += " " + placeholder
		d.usage = strings.TrimPrefix(d.usage, placeholder+": ")
	}
	if _, repeats := f.(*cli.StringSliceFlag); repeats {
		d.usage += "; may be repeated"
	}
	return d
}

func flagsText(flags []cli.Flag) string {
	var b strings.Builder
	const column = 34
	for _, f := range flags {
		d := describeFlag(f)
		text := wrapped(d.usage, strings.Repeat(" ", column))
		if form := "  " + d.form; len(form)+2 <= column {
			fmt.Fprintf(&b, "%-*s%s\n", column, form, strings.TrimLeft(text, " "))
		} else {
			fmt.Fprintf(&b, "%s\n%s\n", form, text)
		}
	}
	return b.String()
}

func exitsText() string {
	var b strings.Builder
	b.WriteString("Exit codes:\n")
	for _, x := range wap.Exits() {
		text := wrapped(fmt.Sprintf("%s; published: %s; then: %s", x.Meaning, x.Published, x.Scheduler), "     ")
		fmt.Fprintf(&b, "  %d  %s\n", x.Code, strings.TrimLeft(text, " "))
	}
	return b.String()
}

// wrapped breaks a paragraph at spaces.
func wrapped(text, indent string) string {
	var lines []string
	line := indent
	for word := range strings.FieldsSeq(text) {
		if len(line) > len(indent) && len([]rune(line))+1+len([]rune(word)) > helpWidth {
			lines = append(lines, line)
			line = indent
		}
		if len(line) > len(indent) {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n")
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(text, "\n", "\n  ")
}

// mustFlush ends a table in memory, where writing cannot go wrong.
func mustFlush(t *table) {
	if err := t.flush(); err != nil {
		panic(err)
	}
}
