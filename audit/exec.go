package audit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/wap-cli/wap/manifest"
	"golang.org/x/sync/semaphore"
)

const (
	// maxVerdict is the most that a plugin may print.
	maxVerdict = 1 << 20
	// maxStderr is how much of a plugin's stderr is kept, from its end.
	maxStderr = 4 << 10
)

func pluginKinds() []*kind {
	return []*kind{{
		name: "exec", list: "command", scalar: "command",
		params: []param{
			{name: "command", required: true, read: command},
			{name: "timeout", fallback: "1m0s", read: wait},
			{name: "local", fallback: false, read: yesNo},
			{name: "parameters", read: settings},
		},
		bind: func(c *Check, b *binding) (assertion, error) {
			b.need(needSchema)
			return &plugin{check: c, substitute: b.substitute}, nil
		},
	}}
}

// plugin runs a command that judges the partition by itself.
type plugin struct {
	check      *Check
	substitute func(string) (string, error)
}

func (e *plugin) open(*unit) state { return nil }
func (e *plugin) merge(state)      {}

// document is what a plugin gets on stdin.
type document struct {
	Schema     int               `json:"schema"`
	Assertion  string            `json:"assertion"`
	Now        time.Time         `json:"now"`
	Query      string            `json:"query,omitempty"` // of sql
	Partition  pluginPartition   `json:"partition"`
	Columns    []pluginColumn    `json:"columns"`
	Files      []pluginFile      `json:"files"`
	Parameters map[string]string `json:"parameters"`
	Baseline   []pluginFile      `json:"baseline"`
	Limits     pluginLimits      `json:"limits"`
}

// pluginLimits are what a plugin should keep to. It is killed at the timeout.
type pluginLimits struct {
	Samples     int64 `json:"samples"`
	TimeoutMS   int64 `json:"timeout_ms"`
	MemoryBytes int64 `json:"memory_bytes"`
}

type pluginPartition struct {
	Path  string              `json:"path"`
	Table string              `json:"table"`
	Keys  []manifest.KeyValue `json:"keys"`
}

type pluginColumn struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Nullable bool   `json:"nullable"`
}

type pluginFile struct {
	Key  string `json:"key"`
	URL  string `json:"url"`
	Path string `json:"path,omitempty"`
	Size int64  `json:"size"`
	Rows int64  `json:"rows"`
}

// pluginVerdict is what a plugin prints. Unknown fields are left for its own use.
type pluginVerdict struct {
	Outcome    string          `json:"outcome"`
	Cause      Cause           `json:"cause"` // of an error; outside unless it is data
	Observed   json.RawMessage `json:"observed"`
	Expected   json.RawMessage `json:"expected"`
	Violations int64           `json:"violations"`
	Samples    []Sample        `json:"samples"`
	Message    string          `json:"message"`
	Detail     string          `json:"detail"` // of an error; may hold values of the data
}

func (e *plugin) finish(ctx context.Context, p *judgement) verdict {
	words, _ := get[[]string](e.check, "command")
	got, v := e.ask(ctx, p, words, "")
	if v.failure != nil {
		return v
	}
	v.observed, v.expected, v.message = rawText(got.Observed), rawText(got.Expected), got.Message
	v.violations = got.Violations
	switch got.Outcome {
	case "pass":
		v.holds = true
	case "warn":
		v.warning = true
	case "fail":
	default:
		v.failure = e.failed("gave the outcome %q, not pass, warn, fail or error", got.Outcome)
	}
	return v
}

// ask runs a command and takes its answer, whose outcome is not looked at save
// for error. A query is for engines that run one.
func (e *plugin) ask(ctx context.Context, p *judgement, words []string, query string) (*pluginVerdict, verdict) {
	if p.audit.opts.Plugins == nil {
		return nil, verdict{failure: &Failure{Cause: CauseOutside, Message: "plugins cannot be run here"}}
	}
	text, _ := get[string](e.check, "timeout")
	timeout, err := time.ParseDuration(text)
	if err != nil {
		return nil, verdict{failure: p.failureOf(err)}
	}
	command, doc, err := e.prepare(ctx, p, words, query)
	if err != nil {
		return nil, verdict{failure: p.publishedFailure(err)}
	}
	done, err := p.audit.plugins.take(ctx, e.memory(p, query))
	if err != nil {
		return nil, verdict{failure: p.failureOf(err)}
	}
	defer done()
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	stdout, stderr, err := p.audit.opts.Plugins.Run(limited, command, doc)
	v := verdict{grade: GradeScan, tested: p.rows, stderr: tailText(stderr)}
	var got *pluginVerdict
	switch {
	case limited.Err() != nil && ctx.Err() == nil:
		v.failure = e.failed("gave no verdict within %s", text)
	case err != nil:
		v.failure = e.failed("%s", err)
	case len(stdout) > maxVerdict:
		v.failure = e.failed("printed more than %d bytes", maxVerdict)
	default:
		got = e.read(stdout, &v)
	}
	return got, v
}

func (e *plugin) failed(format string, args ...any) *Failure {
	return &Failure{Cause: CauseOutside, Message: "plugin " + fmt.Sprintf(format, args...)}
}

func tailText(b []byte) string {
	return strings.ToValidUTF8(string(b[max(0, len(b)-maxStderr):]), "\uFFFD")
}

// prepare fills in what depends on the partition.
func (e *plugin) prepare(ctx context.Context, p *judgement, words []string, query string) (command []string, doc []byte, err error) {
	for _, part := range words {
		text, err := e.substitute(part)
		if err != nil {
			return nil, nil, err
		}
		command = append(command, text)
	}
	d := document{
		Schema: 1, Assertion: e.check.ID, Now: p.audit.opts.Now.UTC(), Parameters: map[string]string{},
		Partition: pluginPartition{p.part.Path, p.part.Table, p.part.Keys}, Limits: e.limits(e.memory(p, query)), Query: query,
	}
	if d.Partition.Keys == nil {
		d.Partition.Keys = []manifest.KeyValue{}
	}
	given, _ := get[map[string]string](e.check, "parameters")
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if d.Parameters[name], err = e.substitute(given[name]); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range p.files[0].scan.Columns() {
		d.Columns = append(d.Columns, pluginColumn{c.Dotted, c.Type.String(), c.Nullable()})
	}
	for _, f := range p.files {
		if err := e.add(ctx, p, &d.Files, f.File, f.scan.Footer().Rows); err != nil {
			return nil, nil, err
		}
	}
	d.Baseline = []pluginFile{}
	live, err := p.audit.published().Data(ctx, p.part, Reference{Live: true})
	if err != nil {
		return nil, nil, err
	}
	for _, part := range live {
		for _, f := range part.Files {
			if err := e.add(ctx, p, &d.Baseline, f, f.Rows); err != nil {
				return nil, nil, err
			}
		}
	}
	doc, err = json.Marshal(d)
	return command, doc, err
}

func (e *plugin) limits(memory int64) pluginLimits {
	text, _ := get[string](e.check, "timeout")
	timeout, _ := time.ParseDuration(text) // asked for it before
	return pluginLimits{e.check.Samples, timeout.Milliseconds(), memory}
}

func (e *plugin) add(ctx context.Context, p *judgement, list *[]pluginFile, f File, rows int64) error {
	file := pluginFile{Key: f.Key, URL: p.audit.opts.Plugins.URL(f), Size: f.Source.Size(), Rows: rows}
	if local, _ := get[bool](e.check, "local"); local {
		path, err := p.audit.opts.Plugins.Local(ctx, f)
		if err != nil {
			return fmt.Errorf("fetch %q for a plugin: %w", f.Key, err)
		}
		file.Path = path
	}
	*list = append(*list, file)
	return nil
}

// read takes one JSON verdict, the whole of stdout.
func (e *plugin) read(stdout []byte, v *verdict) *pluginVerdict {
	var got pluginVerdict
	dec := json.NewDecoder(bytes.NewReader(stdout))
	err := dec.Decode(&got)
	switch {
	case errors.Is(err, io.EOF):
		v.failure = e.failed("printed no verdict")
		return nil
	case err != nil:
		v.failure = e.failed("printed no valid verdict: %s", err)
		return nil
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		v.failure = e.failed("printed something after its verdict")
		return nil
	}
	switch {
	case got.Outcome == "error":
		v.failure = e.failed("could not judge: %s", got.Message)
		if got.Cause == CauseData {
			v.failure.Cause = CauseData
		}
		// Nobody can tell which column a word of it is from.
		if len(e.check.Redact) == 0 {
			v.failure.Detail = tailText([]byte(got.Detail))
		}
	case got.Violations < 0:
		v.failure = e.failed("counted %d violations", got.Violations)
	}
	v.samples = got.Samples[:min(len(got.Samples), int(e.check.Samples))]
	for i := range v.samples {
		if v.samples[i].Values == nil {
			v.samples[i].Values = []Value{}
		}
		for j := range v.samples[i].Values {
			cell := &v.samples[i].Values[j]
			if cell.Text = cutCell(cell.Text); redacted(e.check, cell.Column) {
				cell.Text = redactedText
			}
		}
	}
	return &got
}

// pluginBudget is the memory of plugins that run at the same time.
type pluginBudget struct {
	free         *semaphore.Weighted
	whole, share int64
}

// newPluginBudget divides by partitions, and never by the parallelism: whether a
// plugin has enough must not depend on the machine.
func newPluginBudget(memory int64, parts int) pluginBudget {
	return pluginBudget{semaphore.NewWeighted(memory), memory, max(1, memory/int64(max(1, min(manyParts, parts))))}
}

// take waits until the plugins that run leave enough.
func (b *pluginBudget) take(ctx context.Context, n int64) (done func(), err error) {
	if err := b.free.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { b.free.Release(n) }, nil
}

// memory is what a plugin may use. An engine that reads the files here is
// parallel by itself: one after the other, each has all of it.
func (e *plugin) memory(p *judgement, query string) int64 {
	if local, _ := get[bool](e.check, "local"); local && query != "" {
		return p.audit.plugins.whole
	}
	return p.audit.plugins.share
}

// rawText writes a JSON value as text: strings without their quotes.
func rawText(raw json.RawMessage) string {
	var text string
	if err := json.Unmarshal(raw, &text); err == nil {
		return text
	}
	if !utf8.Valid(raw) || string(raw) == "null" {
		return ""
	}
	return string(raw)
}
