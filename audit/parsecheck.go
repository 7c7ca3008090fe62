package audit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (p *parsing) newCheck(k *kind) *Check {
	c := k.check()
	c.ID, c.Severity, c.Samples, c.Redact = "", p.defaults.severity, p.defaults.samples, p.defaults.redact
	if k.builtin {
		c.Severity = SeverityFail // defaults are for what the file writes
	}
	if k.rows {
		c.OnNoRows = p.defaults.onNoRows
	}
	return c
}

// check reads an item of a list of checks: a bare name, or a mapping of one
// name to its parameters. column is set inside a column's own list.
func (p *parsing) check(n *yaml.Node, column string) {
	if n.Kind == yaml.ScalarNode {
		name, ok := p.fixed(n, "a check")
		if !ok {
			return
		}
		if k := p.kind(entry{name, n, n}, column); k != nil {
			p.read(k, entry{name, n, nil}, column)
		}
		return
	}
	entries := p.entries(n, "a check")
	if len(entries) == 0 {
		return
	}
	if len(entries) > 1 {
		p.failHint(entries[1].at, "indent the parameters, or start a new item with `- `",
			"one check has one name, this one has %q and %q", entries[0].key, entries[1].key)
		return
	}
	if k := p.kind(entries[0], column); k != nil {
		p.read(k, entries[0], column)
	}
}

func (p *parsing) kind(e entry, column string) *kind {
	k, ok := lookup(e.key)
	switch {
	case !ok:
		p.failHint(e.at, suggestion(e.key, knownNames()), "unknown assertion %q", e.key)
		return nil
	case column != "" && k.columns == noColumns:
		p.failHint(e.at, "write it under `checks`", "%s is not about a column", e.key)
		return nil
	}
	return k
}

func (p *parsing) read(k *kind, e entry, column string) {
	if k.builtin {
		if e.value == nil {
			e.value = &yaml.Node{Kind: yaml.MappingNode, Line: e.at.Line, Column: e.at.Column}
		}
		p.configure(k, e)
		return
	}
	c := p.newCheck(k)
	if column != "" {
		c.Columns = []string{column}
	}
	switch {
	case e.value == nil:
		p.complete(c, e.at, nil)
	case e.value.Kind == yaml.MappingNode:
		p.body(c, e.value, column)
	default:
		p.short(c, e, column)
	}
	p.expand(c, e.at)
}

// short reads `name: value` and `name: [values]`.
func (p *parsing) short(c *Check, e entry, column string) {
	target := c.kind.scalar
	if e.value.Kind == yaml.SequenceNode {
		target = c.kind.list
	}
	if e.value.Kind == yaml.ScalarNode && e.value.Value == "" {
		p.complete(c, e.at, nil)
		return
	}
	switch {
	case target == "columns" && column == "":
		c.Columns = p.texts(e.value, "columns")
		p.unique(e.value, "column", c.Columns)
	case target == "" || target == "columns":
		p.failHint(e.value, fmt.Sprintf("write %s: {…}", c.Type), "%s has no short form like this", c.Type)
		return
	default:
		param, _ := c.kind.param(target)
		if v, ok := param.read(p.reader, e.value, param.name); ok {
			c.Params[param.name] = v
		} else {
			return
		}
	}
	p.complete(c, e.at, nil)
}

// body reads the long form.
func (p *parsing) body(c *Check, n *yaml.Node, column string) {
	before := len(p.problems)
	at := map[string]*yaml.Node{}
	for _, e := range p.entries(n, c.Type) {
		at[e.key] = e.at
		if p.common(c, e) {
			continue
		}
		if param, ok := c.kind.param(e.key); ok {
			if v, ok := param.read(p.reader, e.value, param.name); ok {
				c.Params[param.name] = v
			}
			continue
		}
		switch {
		case e.key == "where":
			p.fail(e.at, "%s does not take where", c.Type)
		case (e.key == "columns" || e.key == "column") && c.kind.columns != noColumns:
			if column != "" {
				p.fail(e.at, "%s stands in the list of column %q already", c.Type, column)
				continue
			}
			c.Columns = p.texts(e.value, e.key)
			p.unique(e.value, "column", c.Columns)
		default:
			p.unknown(e, "parameter of "+c.Type, c.kind.keys())
		}
	}
	if len(p.problems) == before {
		p.complete(c, n, at)
	}
}

// keys are all that the long form takes.
func (k *kind) keys() []string {
	keys := []string{"id", "severity"}
	if k.rows {
		keys = append(keys, "fail_if", "warn_if", "mostly", "samples", "redact", "on_no_rows")
	}
	if len(k.nulls) > 0 {
		keys = append(keys, "nulls")
	}
	if k.takesWhere() {
		keys = append(keys, "where")
	}
	if k.columns != noColumns {
		keys = append(keys, "column", "columns")
	}
	if k.builtin {
		keys = []string{"severity"}
	}
	for _, p := range k.params {
		keys = append(keys, p.name)
	}
	return keys
}

func (k *kind) takesWhere() bool { return k.where || k.rows && !k.builtin && !k.whole }

// common reads the keys that assertions share; false when e is none of them or
// does not apply to this one.
func (p *parsing) common(c *Check, e entry) bool {
	if !slices.Contains(c.kind.keys(), e.key) {
		return false
	}
	if _, own := c.kind.param(e.key); own {
		return false
	}
	switch e.key {
	case "id":
		p.id(c, e)
	case "severity":
		if word, ok := p.oneOf(e.value, e.key, "fail", "warn"); ok {
			c.Severity = Severity(word)
		}
	case "fail_if":
		c.FailIf = p.threshold(e, c.FailIf)
	case "warn_if":
		c.WarnIf = p.threshold(e, nil)
	case "mostly":
		c.FailIf = p.mostly(e, c.FailIf)
	case "samples":
		c.Samples = p.samples(e.value)
	case "redact":
		c.Redact = p.texts(e.value, e.key)
	case "on_no_rows":
		if word, ok := p.oneOf(e.value, e.key, "pass", "warn", "fail"); ok {
			c.OnNoRows = Outcome(word)
		}
	case "where":
		if where, ok := p.condition(e.value, e.key); ok {
			c.Where = where
		}
	case "nulls":
		if word, ok := p.oneOf(e.value, e.key, c.kind.nulls...); ok {
			c.Nulls = word
		}
	default:
		return false
	}
	return true
}

func (p *parsing) id(c *Check, e entry) {
	id, ok := p.fixed(e.value, "id")
	if !ok {
		return
	}
	if first := p.written[id]; first != nil {
		p.fail(e.value, "id %q is given twice, first in line %d", id, first.Line)
		return
	}
	if slices.Contains(builtinNames(), id) {
		p.fail(e.value, "id %q is a built-in's", id)
		return
	}
	p.written[id] = e.value
	c.ID = id
}

func (p *parsing) threshold(e entry, before *threshold) *threshold {
	if before != nil {
		p.fail(e.at, "fail_if and mostly say the same twice")
		return before
	}
	text, ok := p.fixed(e.value, e.key)
	if !ok {
		return nil
	}
	t, err := parseThreshold(text)
	if err != nil {
		p.fail(e.value, "%s", err)
		return nil
	}
	return &t
}

func (p *parsing) mostly(e entry, before *threshold) *threshold {
	if before != nil {
		p.fail(e.at, "fail_if and mostly say the same twice")
		return before
	}
	lit, ok := p.scalar(e.value)
	if !ok {
		return nil
	}
	if lit = lit.plain(); lit.kind != litNumber {
		p.fail(e.value, "mostly is a number above 0 and at most 1, not %s", describe(e.value))
		return nil
	}
	t, err := mostly(lit.num)
	if err != nil {
		p.fail(e.value, "%s", err)
		return nil
	}
	return &t
}

// complete checks what only the whole of a check shows. at has the place of
// each key that was written.
func (p *parsing) complete(c *Check, n *yaml.Node, at map[string]*yaml.Node) {
	for _, param := range c.kind.params {
		if _, set := c.Params[param.name]; param.required && !set {
			p.fail(n, "%s needs %s", c.Type, param.name)
			return
		}
	}
	if c.kind.columns != noColumns && len(c.Columns) == 0 {
		p.failHint(n, "give `columns`, or write it in the list of a column", "%s names no column", c.Type)
		return
	}
	if c.kind.settle != nil {
		c.kind.settle(p.reader, c)
	}
	if c.kind.idle != nil {
		names, why := c.kind.idle(c)
		for _, name := range names {
			if at[name] != nil {
				p.fail(at[name], "%s: %s says nothing %s", c.Type, name, why)
			}
			delete(c.Params, name)
		}
	}
	if c.kind.verify != nil {
		if err := c.kind.verify(c); err != nil {
			place := n
			for _, key := range slices.Sorted(maps.Keys(at)) {
				if strings.Contains(err.Error(), key) {
					place = at[key]
					break
				}
			}
			p.fail(place, "%s: %s", c.Type, err)
		}
	}
}

// expand adds c, once a column where the kind judges columns one by one.
func (p *parsing) expand(c *Check, at *yaml.Node) {
	if c.kind.columns != eachColumn || len(c.Columns) < 2 {
		p.add(c, at)
		return
	}
	if c.ID != "" {
		p.fail(p.written[c.ID], "the id %q would name %d assertions, one for each column", c.ID, len(c.Columns))
		return
	}
	for _, column := range c.Columns {
		one := *c
		one.Columns = []string{column}
		p.add(&one, at)
	}
}

func (p *parsing) add(c *Check, _ *yaml.Node) {
	if c.kind.rows && c.FailIf == nil {
		c.FailIf = &threshold{limit: integer(0)}
	}
	p.named++
	p.out.checks = append(p.out.checks, c)
}
