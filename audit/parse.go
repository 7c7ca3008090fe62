package audit

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// defaults are what the key `defaults` sets for every check of the file.
type defaults struct {
	severity Severity
	samples  int64
	redact   []string
	onNoRows Outcome
}

// maxSamples bounds `samples`.
const maxSamples = 1000

// parsing is a checks file on its way to a Config.
type parsing struct {
	*reader
	out      *Config
	defaults defaults
	written  map[string]*yaml.Node // ids given in the file
	builtin  map[string]*Check     // built-ins configured in the file
	named    int                   // assertions the file asks for by name
}

var topKeys = []string{"version", "partition", "timezone", "defaults", "determinism",
	"store_samples", "allow_empty", "checks", "columns"}

// config reads the root mapping.
func (r *reader) config(root *yaml.Node) *Config {
	if root == nil {
		return nil
	}
	p := &parsing{
		reader: r, out: &Config{}, written: map[string]*yaml.Node{}, builtin: map[string]*Check{},
		defaults: defaults{severity: SeverityFail, samples: 10, onNoRows: Warn},
	}
	entries := r.entries(root, "a checks file")
	// Defaults first, wherever they stand: they hold for the whole file.
	for _, e := range entries {
		if e.key == "defaults" {
			p.readDefaults(e.value)
		}
	}
	version := false
	for _, e := range entries {
		version = version || e.key == "version"
		p.top(e)
	}
	if !version {
		r.failHint(root, "write `version: 1`", "has no version")
	}
	p.finish(root)
	return p.out
}

func (p *parsing) top(e entry) {
	switch e.key {
	case "defaults":
	case "version":
		if v, ok := p.integer(e.value, "version"); ok && v != 1 {
			p.fail(e.value, "version %d is not known, this program reads version 1", v)
		}
	case "partition":
		p.out.partition = p.texts(e.value, "partition")
		p.unique(e.value, "partition key", p.out.partition)
	case "timezone":
		p.zone(e.value)
	case "determinism":
		for _, d := range p.entries(e.value, "determinism") {
			if d.key != "ignore" {
				p.unknown(d, "key of determinism", []string{"ignore"})
				continue
			}
			p.out.ignore = p.texts(d.value, "ignore")
		}
	case "store_samples":
		p.out.storeSamples, _ = p.boolean(e.value, e.key)
	case "allow_empty":
		p.out.allowEmpty, _ = p.boolean(e.value, e.key)
	case "checks":
		for _, item := range p.items(e.value, "checks") {
			p.check(item, "")
		}
	case "columns":
		p.columns(e.value)
	default:
		if k, ok := lookup(e.key); ok && k.builtin {
			p.configure(k, e)
			return
		}
		p.unknown(e, "key", append(topKeys, builtinNames()...))
	}
}

func (p *parsing) unknown(e entry, what string, known []string) {
	hint := suggestion(e.key, known)
	p.failHint(e.at, hint, "unknown %s %q", what, e.key)
}

func (p *parsing) zone(n *yaml.Node) {
	name, ok := p.fixed(n, "timezone")
	if !ok {
		return
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		p.failHint(n, "write a name of the IANA database, like Europe/Berlin", "unknown timezone %q", name)
		return
	}
	p.out.timezone = zone
}

func (p *parsing) readDefaults(n *yaml.Node) {
	for _, e := range p.entries(n, "defaults") {
		switch e.key {
		case "severity":
			if word, ok := p.oneOf(e.value, e.key, "fail", "warn"); ok {
				p.defaults.severity = Severity(word)
			}
		case "samples":
			p.defaults.samples = p.samples(e.value)
		case "redact":
			p.defaults.redact = p.texts(e.value, e.key)
		case "on_no_rows":
			if word, ok := p.oneOf(e.value, e.key, "pass", "warn", "fail"); ok {
				p.defaults.onNoRows = Outcome(word)
			}
		default:
			p.unknown(e, "key of defaults", []string{"severity", "samples", "redact", "on_no_rows"})
		}
	}
}

func (p *parsing) samples(n *yaml.Node) int64 {
	v, ok := p.integer(n, "samples")
	if ok && (v < 0 || v > maxSamples) {
		p.fail(n, "samples is between 0 and %d, not %d", maxSamples, v)
	}
	return v
}

func (p *parsing) unique(n *yaml.Node, what string, names []string) {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			p.fail(n, "%s %q stands twice", what, name)
		}
	}
}

// columns reads the list of columns with their types and checks.
func (p *parsing) columns(n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		p.fail(n, "columns is a list of columns, not %s", describe(n))
		return
	}
	for _, item := range n.Content {
		p.column(item)
	}
}

func (p *parsing) column(n *yaml.Node) {
	known := []string{"name", "type", "nullable", "checks"}
	var name string
	var typed, nullable, checks *entry
	for _, e := range p.entries(n, "a column") {
		switch e.key {
		case "name":
			name, _ = p.fixed(e.value, "name")
		case "type":
			typed = &e
		case "nullable":
			nullable = &e
		case "checks":
			checks = &e
		default:
			p.unknown(e, "key of a column", known)
		}
	}
	if name == "" {
		p.fail(n, "a column without a name")
		return
	}
	if typed != nil || nullable != nil {
		p.columnSchema(n, name, typed, nullable)
	}
	if checks != nil {
		for _, item := range p.items(checks.value, "checks") {
			p.check(item, name)
		}
	}
	if typed == nil && nullable == nil && checks == nil {
		p.failHint(n, "give it a type or checks", "column %q says nothing", name)
	}
}

// columnSchema turns a column's `type:` and `nullable:` into a schema assertion.
func (p *parsing) columnSchema(n *yaml.Node, name string, typed, nullable *entry) {
	k, _ := lookup("schema")
	c := p.newCheck(k)
	spec := columnSpec{Name: name}
	if typed != nil {
		if text, ok := p.typeName(typed.value); ok {
			spec.Type = text
			p.out.types = append(p.out.types, columnType{name, text})
		}
	}
	if nullable != nil {
		if v, ok := p.boolean(nullable.value, "nullable"); ok {
			spec.Nullable = &v
		}
	}
	c.Columns = []string{name}
	c.Params["columns"] = []columnSpec{spec}
	c.Params["allow_extra_columns"] = true
	p.add(c, n)
}

// configure sets up a built-in that stands as a top-level key.
func (p *parsing) configure(k *kind, e entry) {
	if _, twice := p.builtin[k.name]; twice {
		p.fail(e.at, "%s is configured twice", k.name)
		return
	}
	c := p.newCheck(k)
	p.builtin[k.name] = c
	p.named++
	if e.value.Kind == yaml.ScalarNode {
		on, ok := p.boolean(e.value, k.name)
		if ok && !on {
			p.off(c, e.value)
		}
		return
	}
	p.body(c, e.value, "")
}

func (p *parsing) off(c *Check, at *yaml.Node) {
	if !c.kind.optional {
		p.failHint(at, c.kind.hint, "%s cannot be switched off", c.Type)
		return
	}
	c.Off = true
	p.named--
}

// finish gives every check its id and fills in the built-ins.
func (p *parsing) finish(root *yaml.Node) {
	p.checkTypes()
	p.out.defaults = &p.defaults
	if p.named == 0 && len(p.problems) == 0 {
		p.failHint(root, noAssertionHint, "holds no assertion")
	}
	for _, k := range catalogue() {
		if !k.builtin {
			continue
		}
		c, ok := p.builtin[k.name]
		if !ok {
			c = p.newCheck(k)
		}
		if c.ID == "" {
			c.ID = c.Type
		}
		p.out.builtins = append(p.out.builtins, c)
	}
	used := map[string]int{}
	for _, c := range p.out.checks {
		if c.ID != "" {
			continue
		}
		base := c.Type
		if len(c.Columns) > 0 {
			base = fmt.Sprintf("%s(%s)", c.Type, strings.Join(c.Columns, ","))
		}
		for {
			used[base]++
			c.ID = base
			if n := used[base]; n > 1 {
				c.ID = fmt.Sprintf("%s#%d", base, n)
			}
			if p.written[c.ID] == nil {
				break
			}
		}
	}
}
