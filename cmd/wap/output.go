package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/term"

	"github.com/wap-cli/wap/wap"
)

// jsonSchema is the version of the --json output.
const jsonSchema = 1

// page is where a call prints: the result on stdout, all else on stderr.
type page struct {
	json  bool
	quiet bool
	style style // of stdout

	printed        atomic.Bool // the result: a second signal may come while it is
	mu             sync.Mutex  // stderr
	stdout, stderr io.Writer
	progress       string // the line that stands unfinished on a terminal
	drawn          string // the last progress; not drawn again, lest it runs into CMD's output
}

func newPage(stdout, stderr io.Writer) *page { return &page{stdout: stdout, stderr: stderr} }

// style is how the text of a result is set.
type style struct {
	color    bool
	terminal bool // a person reads it, now: sample values of the data may be shown
	width    int  // of the terminal in columns; 0: not known
}

// setStyle looks at what stdout is. The color is auto, always or never.
func (p *page) setStyle(color string) {
	if f, ok := p.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.style.terminal = true
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			p.style.width = width
		}
	}
	p.style.color = color == "always" || color == "auto" && p.style.terminal
}

// paint colors a text: of the kinds good, bad and doubtful.
func (s style) paint(kind, text string) string {
	codes := map[string]string{"good": "32", "bad": "31", "doubtful": "33"}
	if code, ok := codes[kind]; ok && s.color {
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	return text
}

// result prints what a command came to. Nothing is written for a failed call
// of which nothing is known, but with --json there is always one object.
func (p *page) result(r result, err error) error {
	if !p.printed.CompareAndSwap(false, true) {
		return nil
	}
	if p.json {
		body, encodeErr := envelope(r, err)
		if encodeErr != nil {
			return encodeErr
		}
		_, writeErr := p.stdout.Write(body)
		return writeErr
	}
	if r == nil {
		return nil
	}
	var b bytes.Buffer
	if err := r.text(&b, p.style); err != nil {
		return err
	}
	_, writeErr := p.stdout.Write(b.Bytes())
	return writeErr
}

// failureJSON is the error of a --json output.
type failureJSON struct {
	Code    int      `json:"code"`
	Kind    wap.Kind `json:"kind"`
	Message string   `json:"message"`
	Hint    string   `json:"hint"`
}

// envelope is {"schema":1,"error":{…},…} with the result's own fields at the top.
func envelope(r result, err error) ([]byte, error) {
	head := struct {
		Schema int          `json:"schema"`
		Error  *failureJSON `json:"error,omitempty"`
	}{Schema: jsonSchema}
	if err != nil {
		head.Error = describeFailure(err)
	}
	first, encodeErr := encode(head)
	if encodeErr != nil || r == nil {
		return append(first, '\n'), encodeErr
	}
	v := reflect.ValueOf(r)
	fields := reflect.New(v.Type()).Elem()
	fields.Set(v)
	fillLists(fields)
	rest, encodeErr := encode(fields.Interface())
	if encodeErr != nil {
		return nil, encodeErr
	}
	if len(rest) > len("{}") {
		first = append(append(first[:len(first)-1], ','), rest[1:]...)
	}
	return append(first, '\n'), nil
}

// encode is encoding/json without HTML escapes and without a newline.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode result: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// fillLists makes every absent list an empty one, and every absent embedded
// struct a zero one, so that the fields of an output never depend on its values.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fillLists(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f, field := v.Type().Field(i), v.Field(i)
			if !f.IsExported() {
				continue
			}
			if f.Anonymous && field.Kind() == reflect.Pointer && field.IsNil() {
				field.Set(reflect.New(f.Type.Elem()))
			}
			fillLists(field)
		}
	case reflect.Slice:
		if v.IsNil() && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
		for i := range v.Len() {
			fillLists(v.Index(i))
		}
	}
}

func describeFailure(err error) *failureJSON {
	f := &failureJSON{Code: wap.Code(err), Kind: wap.KindOutside, Message: err.Error()}
	var e *wap.Error
	if errors.As(err, &e) {
		f.Kind, f.Hint = e.Kind, e.Hint
	}
	return f
}

// failure prints an error and its hint, or each of several.
func (p *page) failure(err error) {
	if list, ok := err.(mistakes); ok {
		for _, e := range list {
			p.failure(e)
		}
		return
	}
	f := describeFailure(err)
	p.line("error: "+f.Message, f.Hint)
}

func (p *page) warning(text, hint string) { p.line("warning: "+text, hint) }

// notice prints what the library has to tell while it works.
func (p *page) notice(n wap.Notice) {
	switch {
	case n.Level == wap.Warning:
		p.warning(n.Text, n.Hint)
	case !p.quiet:
		p.line(n.Text, n.Hint)
	}
}

// line prints one line for people, and a hint below it.
func (p *page) line(text, hint string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.stderr, "wap: %s\n", oneLine(text))
	if hint != "" {
		fmt.Fprintf(p.stderr, "wap: hint: %s\n", oneLine(hint))
	}
}

// oneLine keeps a message from looking like several.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n     ")
}

// clear removes an unfinished progress line.
func (p *page) clear() {
	if p.progress != "" {
		fmt.Fprint(p.stderr, "\r\x1b[K")
		p.progress = ""
	}
}
