package audit

import (
	"context"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

const (
	// defaultEngine runs queries where no engine is named. It is a plugin like any
	// other, save that it needs no entry under plugins and reads local files.
	defaultEngine  = "duckdb"
	defaultCommand = "wap-duckdb"
)

func sqlKinds() []*kind {
	return []*kind{{
		name: "sql", rows: true, whole: true, scalar: "query",
		params: []param{
			{name: "query", required: true, read: query},
			{name: "engine", read: readEngine},
			{name: "timeout", fallback: "1m0s", read: wait},
			{name: "local", read: yesNo},
			{name: "parameters", read: settings},
		},
		settle: settleEngine,
		bind: func(c *Check, b *binding) (assertion, error) {
			b.need(needSchema)
			text, _ := get[string](c, "query")
			// A value that a producer chose must not end the text it stands in.
			filled, err := b.substituteAs(text, func(value string) string { return strings.ReplaceAll(value, "'", "''") })
			return &sqlQuery{plugin{check: c, substitute: b.substitute}, filled}, err
		},
	}}
}

// engine is a plugin that runs queries.
type engine struct {
	Name    string   `json:"name"`
	Command []string `json:"command"`
}

func (e engine) String() string { return e.Name }

func query(r *reader, n *yaml.Node, name string) (any, bool) {
	text, ok := r.text(n, name)
	if ok && strings.TrimSpace(text) == "" {
		r.fail(n, "%s is empty", name)
		return nil, false
	}
	if key, open := openMark(text); open {
		r.failHint(n, fmt.Sprintf("write '${partition.%s}', with a cast where it is no text", key),
			"${partition.%s} stands outside of quotes, where its value would be read as SQL", key)
		return nil, false
	}
	return text, ok
}

// openMark finds the first key whose value would not stand in a plain text,
// which is the only place that it cannot leave.
func openMark(sql string) (key string, open bool) {
	for i := 0; i < len(sql); {
		if sql[i] == partitionMark[0] {
			return markedKey(sql[i:]), true
		}
		n, plain := token(sql, i)
		if at := strings.Index(sql[i:i+n], partitionMark); at >= 0 && !plain {
			return markedKey(sql[i+at:]), true
		}
		i += n
	}
	return "", false
}

func markedKey(rest string) string { return strings.Split(rest, partitionMark)[1] }

// token is how long what begins at i is: a text, a quoted name, a comment, or one
// byte of anything else. A text is plain when nothing but a quote ends it or is
// special in it.
func token(sql string, i int) (n int, plain bool) {
	rest, end := sql[i:], ""
	switch {
	case rest[0] == '\'':
		// A letter before makes it a text with escapes.
		end, plain = "'", i == 0 || !isNameByte(sql[i-1])
	case rest[0] == '"', rest[0] == '`':
		end = rest[:1]
	case strings.HasPrefix(rest, "--"):
		end = "\n"
	case strings.HasPrefix(rest, "/*"):
		end = "*/"
	case rest[0] == '$':
		tag := 1
		for tag < len(rest) && isNameByte(rest[tag]) {
			tag++
		}
		if tag == len(rest) || rest[tag] != '$' {
			return 1, false
		}
		end = rest[:tag+1]
	default:
		return 1, false
	}
	start := max(len(end), 1)
	if end == "\n" || end == "*/" {
		start = 2
	}
	at := strings.Index(rest[start:], end)
	if at < 0 {
		return len(rest), false
	}
	return start + at + len(end), plain
}

func isNameByte(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z' || b >= 0x80
}

func readEngine(r *reader, n *yaml.Node, name string) (any, bool) {
	text, ok := r.fixed(n, name)
	if !ok {
		return nil, false
	}
	if e, known := r.engine(text); known {
		return e, true
	}
	names := []string{defaultEngine}
	for _, p := range r.vars.Plugins {
		names = append(names, p.Name)
	}
	hint := suggestion(text, names)
	if hint == "" {
		hint = fmt.Sprintf("give it a command in wap.yaml: `plugins: {%s: [PROGRAM]}`", text)
	}
	r.failHint(n, hint, "no plugin has the name %q", text)
	return nil, false
}

// engine finds the plugin with a name.
func (r *reader) engine(name string) (engine, bool) {
	for _, p := range r.vars.Plugins {
		if p.Name == name {
			return engine{name, p.Command}, len(p.Command) > 0
		}
	}
	return engine{name, []string{defaultCommand}}, name == defaultEngine
}

// settleEngine fills in the engine, and whether it reads downloads: the default
// engine does, others read the store unless the check says otherwise.
func settleEngine(r *reader, c *Check) {
	if _, named := c.Params["engine"]; !named {
		c.Params["engine"], _ = r.engine(defaultEngine)
	}
	if _, said := c.Params["local"]; !said {
		e, _ := get[engine](c, "engine")
		c.Params["local"] = e.Name == defaultEngine
	}
}

// sqlQuery has an engine run a query: each row that it returns is a violation.
type sqlQuery struct {
	plugin
	query string
}

func (q *sqlQuery) finish(ctx context.Context, p *judgement) verdict {
	e, _ := get[engine](q.check, "engine")
	got, v := q.ask(ctx, p, e.Command, q.query)
	if v.failure != nil {
		return v
	}
	if rows := got.Violations > 0; got.Outcome != "fail" && got.Outcome != "pass" || rows != (got.Outcome == "fail") {
		v.failure = q.failed("gave the outcome %q for %s", got.Outcome, plural(got.Violations, "row"))
		return v
	}
	v.counted, v.violations, v.message = true, got.Violations, got.Message
	v.expected, v.observed = "no row returned", plural(got.Violations, "row")+" returned"
	for _, s := range v.samples {
		for i := range s.Values {
			// A query can give a column any name: it is all or nothing.
			if len(q.check.Redact) > 0 {
				s.Values[i] = Value{Column: s.Values[i].Column, Text: redactedText}
			}
		}
	}
	return v
}
