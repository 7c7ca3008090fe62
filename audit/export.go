package audit

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// WriteJSON writes the report as `--json` and evidence have it, without the
// values of samples (see WithoutValues). The error is w's.
func (r *Report) WriteJSON(w io.Writer) error {
	_, err := w.Write(canonicalJSON(r.WithoutValues()))
	return err
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string        `xml:"classname,attr"`
	Name    string        `xml:"name,attr"`
	Failure *junitProblem `xml:"failure"`
	Error   *junitProblem `xml:"error"`
	Skipped *junitProblem `xml:"skipped"`
	Output  string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes the report in JUnit's XML: a suite for each partition, a
// case for each assertion, named by its id. Warnings and waived failures pass,
// with their text as output. The error is w's.
func WriteJUnit(w io.Writer, r *Report) error {
	var out junitSuites
	for _, p := range r.Partitions {
		s := junitSuite{Name: p.Path}
		for _, a := range r.Assertions {
			if a.Partition == p.Path {
				s.add(&a)
			}
		}
		out.Tests += s.Tests
		out.Failures += s.Failures
		out.Errors += s.Errors
		out.Suites = append(out.Suites, s)
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("write junit report: %w", err)
	}
	b.WriteByte('\n')
	_, err := w.Write(b.Bytes())
	return err
}

func (s *junitSuite) add(a *Result) {
	c := junitCase{Class: s.Name, Name: a.ID}
	problem := &junitProblem{Message: xmlText(headline(a)), Text: xmlText(details(a))}
	s.Tests++
	switch {
	case a.Outcome == Error:
		s.Errors++
		c.Error = problem
	case a.Outcome == Fail && a.Waived == "":
		s.Failures++
		c.Failure = problem
	case a.Outcome == Skipped:
		s.Skipped++
		c.Skipped = problem
	case a.Outcome == Warn || a.Outcome == Fail:
		c.Output = "warning: " + problem.Text
	}
	s.Cases = append(s.Cases, c)
}

// headline is a result in one line.
func headline(a *Result) string {
	if a.Error != nil {
		return a.Error.Message
	}
	text := fmt.Sprintf("expected %s, observed %s", a.Expected, a.Observed)
	if a.Message != "" {
		text += ": " + a.Message
	}
	return text
}

// details lists where the samples stand, without their values.
func details(a *Result) string {
	lines := []string{headline(a)}
	lines = append(lines, a.Attribution...)
	if a.Waived != "" {
		lines = append(lines, "waived: "+a.Waived)
	}
	if a.Error != nil && a.Error.File != "" {
		lines = append(lines, "in "+place(a.Error))
	}
	for _, s := range a.Samples {
		file := s.File
		if file == "" {
			file = "what the query returned"
		}
		lines = append(lines, fmt.Sprintf("row %d of %s", s.Row, file))
	}
	return strings.Join(lines, "\n")
}

// xmlText drops what XML 1.0 cannot hold.
func xmlText(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '\n' || c == '\t':
			return c
		case c < ' ' || c == 0xFFFE || c == 0xFFFF || c == 0xFFFD:
			return '?'
		}
		return c
	}, text)
}

// WriteMarkdown writes the report as Markdown, for a job summary: a table of
// what did not pass, and counts. The error is w's.
func WriteMarkdown(w io.Writer, r *Report) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### wap: %s\n\n%s, %s, %s\n\n", r.Outcome,
		plural(len(r.Partitions), "partition"), plural(r.Files, "file"), plural(r.Rows, "row"))
	b.WriteString("| outcome | assertion | partition | expected | observed |\n| --- | --- | --- | --- | --- |\n")
	passed := 0
	for _, outcome := range []Outcome{Error, Fail, Warn, Skipped} {
		for _, a := range r.Assertions {
			if a.Outcome != outcome {
				continue
			}
			shown, observed := string(outcome), a.Observed
			if a.Waived != "" {
				shown = "waived: " + a.Waived
			}
			if a.Message != "" {
				observed = strings.TrimSpace(observed + " " + a.Message)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n",
				cell(shown), cell(a.ID), cell(a.Partition), cell(a.Expected), cell(observed))
		}
	}
	for _, a := range r.Assertions {
		if a.Outcome == Pass {
			passed++
		}
	}
	fmt.Fprintf(&b, "\n%d of %d assertions passed\n", passed, len(r.Assertions))
	_, err := w.Write(b.Bytes())
	return err
}

// cell escapes a text for a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ", "<", "&lt;", "`", "'").Replace(clean(text))
}
