package audit

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextOptions say how a report is written for people.
type TextOptions struct {
	Width  int  // columns; 0 means 80
	Color  bool // ANSI colours
	Values bool // show the values of samples
}

// WriteText writes the report for a terminal: what closes the gate first, each
// with what was expected and observed, samples, and what to do; passes in a line
// each. No line is wider than the options say. The error is w's.
func (r *Report) WriteText(w io.Writer, opts TextOptions) error {
	if opts.Width <= 0 {
		opts.Width = 80
	}
	t := &textWriter{opts: opts, multiple: len(r.Partitions) > 1}
	for _, group := range [][]Outcome{{Error, Fail}, {Warn}} {
		for _, a := range r.Assertions {
			for _, outcome := range group {
				if a.Outcome == outcome {
					t.result(&a)
				}
			}
		}
	}
	t.passes(r)
	t.summary(r)
	_, err := w.Write(t.out.Bytes())
	return err
}

type textWriter struct {
	opts     TextOptions
	multiple bool // partitions, so that each result names its own
	out      bytes.Buffer
}

// maxSampleLines is how many samples of a result a terminal shows.
const maxSampleLines = 10

// result writes one result that did not pass.
func (t *textWriter) result(a *Result) {
	mark, colour := "WARN", yellow
	switch {
	case a.Waived != "":
		mark = "WAIVED"
	case a.Outcome == Error:
		mark, colour = "ERROR", red
	case a.Outcome == Fail:
		mark, colour = "FAIL", red
	}
	head := a.ID
	if t.multiple {
		head += "  " + a.Partition
	}
	t.headed(mark, colour, head)
	if a.Error == nil {
		t.field("expected", a.Expected)
		t.field("observed", a.Observed)
	}
	if a.Message != "" {
		t.field("reason", a.Message)
	}
	if a.Error != nil && place(a.Error) != "" {
		t.field("where", place(a.Error))
	}
	if a.Error != nil && a.Error.Detail != "" && t.opts.Values {
		t.field("detail", a.Error.Detail)
	}
	for i, line := range a.Attribution {
		label := "source"
		if i > 0 {
			label = ""
		}
		t.field(label, line)
	}
	t.counts(a.Counts)
	if a.Waived != "" {
		t.field("waived", a.Waived)
	}
	t.samples(a)
	if a.PluginStderr != "" {
		t.field("stderr", a.PluginStderr)
	}
	if a.Outcome != Warn && a.Waived == "" {
		t.field("to do", advice(a))
	}
	t.out.WriteByte('\n')
}

func place(f *Failure) string {
	var parts []string
	if f.File != "" {
		parts = append(parts, f.File)
	}
	if f.RowGroup != nil {
		parts = append(parts, fmt.Sprintf("row group %d", *f.RowGroup))
	}
	if f.Column != "" {
		parts = append(parts, "column "+f.Column)
	}
	return strings.Join(parts, ", ")
}

// advice is what to do about a result that closes the gate.
func advice(a *Result) string {
	switch {
	case a.Error != nil && a.Error.Cause == CauseOutside:
		return "run it again; if it stays, look at the store or the plugin"
	case a.Error != nil:
		return "correct the checks file, or the data"
	}
	id := strings.ReplaceAll(a.ID, "'", `'\''`) // as a shell takes it
	return fmt.Sprintf("correct the data, or let it pass: --waive '%s' --reason TEXT", id)
}

func (t *textWriter) counts(counts []Count) {
	var parts []string
	for _, c := range counts {
		if c.Value != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", strings.ReplaceAll(c.Name, "_", " "), c.Value))
		}
	}
	if len(parts) > 0 {
		t.field("counts", strings.Join(parts, ", "))
	}
}

// samples lists violating rows below the file they stand in: a line each where
// values are shown, else as numbers.
func (t *textWriter) samples(a *Result) {
	shown := a.Samples[:min(len(a.Samples), maxSampleLines)]
	for i := 0; i < len(shown); {
		file := shown[i].File
		if file == "" {
			t.field("samples", "of what the query returned")
		} else {
			t.field("samples", file)
		}
		rows := []string{}
		for ; i < len(shown) && shown[i].File == file; i++ {
			if !t.opts.Values {
				rows = append(rows, fmt.Sprint(shown[i].Row))
				continue
			}
			t.line("              %s", t.sample(&shown[i]))
		}
		switch len(rows) {
		case 0:
		case 1:
			t.field("", "  row "+rows[0])
		default:
			t.field("", "  rows "+strings.Join(rows, ", "))
		}
	}
	if more := len(a.Samples) - len(shown); more > 0 {
		t.line("            and %d more", more)
	}
}

// sample is a row in a line. Where not all fits, names are cut, and each value
// has as much room as the others.
func (t *textWriter) sample(s *Sample) string {
	const indent, longest, shortest = 14, 20, 8
	whole := fmt.Sprintf("row %d", s.Row)
	short, used := whole, indent+len(whole)
	for _, v := range s.Values {
		whole += "  " + v.Column + "=" + v.show()
		used += min(longest, utf8.RuneCountInString(v.Column)) + len("  =")
	}
	if utf8.RuneCountInString(whole) <= t.opts.Width-indent {
		return clean(whole)
	}
	for _, v := range s.Values {
		room := max(shortest, (t.opts.Width-used)/len(s.Values))
		short += "  " + fit(v.Column, longest) + "=" + fit(v.show(), room)
	}
	return clean(short)
}

func (v Value) show() string {
	if v.Null {
		return "NULL"
	}
	return v.Text
}

// passes lists what passed, a line each.
func (t *textWriter) passes(r *Report) {
	for _, a := range r.Assertions {
		if a.Outcome != Pass && a.Outcome != Skipped {
			continue
		}
		head := a.ID
		if t.multiple {
			head += "  " + a.Partition
		}
		if a.Observed != "" {
			head += "  " + a.Observed
		}
		t.marked(string(a.Outcome), green, head)
	}
	if len(r.Assertions) > 0 {
		t.out.WriteByte('\n')
	}
}

func (t *textWriter) summary(r *Report) {
	n := map[Outcome]int{}
	waived := 0
	for _, a := range r.Assertions {
		if a.Waived != "" {
			waived++
			continue
		}
		n[a.Outcome]++
	}
	text := fmt.Sprintf("%s, %s, %s, %d passed",
		plural(n[Error], "error"), plural(n[Fail], "failure"), plural(n[Warn], "warning"), n[Pass])
	if waived > 0 {
		text += fmt.Sprintf(", %d waived", waived)
	}
	t.line("%s: %s", r.Outcome, text)
	t.line("%s, %s, %s, %d bytes read, now %s", plural(len(r.Partitions), "partition"),
		plural(r.Files, "file"), plural(r.Rows, "row"), r.BytesRead, r.Now.Format("2006-01-02T15:04:05Z07:00"))
	if r.TrustFooter {
		t.line("statistics of the footers were taken for evidence (--trust-footer)")
	}
}

// plural writes a count with its noun.
func plural[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// headed is marked for a text that is never cut.
func (t *textWriter) headed(mark, colour, text string) {
	const indent = 7
	if utf8.RuneCountInString(text) <= t.opts.Width-indent {
		t.marked(mark, colour, text)
		return
	}
	for i, part := range wrap(clean(text), max(20, t.opts.Width-indent)) {
		if i == 0 {
			t.marked(mark, colour, part)
			continue
		}
		t.line("       %s", part)
	}
}

// marked writes a line that begins with an outcome.
func (t *textWriter) marked(mark, colour, text string) {
	line := fit(fmt.Sprintf("%-6s %s", mark, clean(text)), t.opts.Width)
	if t.opts.Color {
		line = colour + line[:len(mark)] + plain + line[len(mark):]
	}
	t.out.WriteString(line + "\n")
}

const (
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	green  = "\x1b[32m"
	plain  = "\x1b[0m"
)

// field writes a labelled text, wrapped under itself.
func (t *textWriter) field(label, text string) {
	const indent = 12
	for i, part := range wrap(clean(text), max(20, t.opts.Width-indent)) {
		if i > 0 {
			label = ""
		}
		t.line("  %-9s %s", label, part)
	}
}

func (t *textWriter) line(format string, args ...any) {
	t.out.WriteString(strings.TrimRight(fit(fmt.Sprintf(format, args...), t.opts.Width), " ") + "\n")
}

// clean makes what comes from data harmless on a terminal: no control character
// survives.
func clean(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t':
			return ' '
		case unicode.IsControl(c) || unicode.Is(unicode.Cf, c):
			return '\uFFFD'
		}
		return c
	}, text)
}

// fit cuts a line to a number of characters.
func fit(line string, width int) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	runes := []rune(line)
	return string(runes[:width-1]) + "…"
}

// wrap breaks a text at spaces into lines of at most width characters; a longer
// word is broken where the line ends.
func wrap(text string, width int) []string {
	var lines []string
	var line []rune
	for _, word := range strings.Fields(text) {
		w := []rune(word)
		if len(line) > 0 && len(line)+1+len(w) > width {
			lines, line = append(lines, string(line)), nil
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = append(line, w...)
		for len(line) > width {
			lines, line = append(lines, string(line[:width])), line[width:]
		}
	}
	return append(lines, string(line))
}
