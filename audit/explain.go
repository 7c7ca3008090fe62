package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Assertion is one entry of the catalogue.
type Assertion struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases"`
	Builtin bool     `json:"builtin"` // on without being written
	// Keys are those of its long form, Required those that have no default.
	Keys     []string `json:"keys"`
	Required []string `json:"required"`
}

// Assertions lists the catalogue, built-ins first.
func Assertions() []Assertion {
	var list []Assertion
	for _, k := range catalogue() {
		a := Assertion{
			Name: k.name, Aliases: append([]string{}, k.aliases...), Builtin: k.builtin,
			Keys: k.keys(), Required: []string{},
		}
		if k.columns != noColumns {
			a.Required = append(a.Required, "columns")
		}
		for _, p := range k.params {
			if p.required {
				a.Required = append(a.Required, p.name)
			}
		}
		list = append(list, a)
	}
	return list
}

// MarshalJSON writes the canonical long form, of which Digest is the hash.
func (c *Config) MarshalJSON() ([]byte, error) { return json.Marshal(c.canonical()) }

// WriteYAML writes the canonical long form as a checks file: every default is
// filled in, variables are substituted save those of the partition. Read again,
// it means the same. The error is w's.
func (c *Config) WriteYAML(w io.Writer) error {
	root := &yaml.Node{Kind: yaml.MappingNode}
	set := func(key string, value *yaml.Node) { root.Content = append(root.Content, plainNode(key), value) }
	set("version", plainNode("1"))
	if len(c.partition) > 0 {
		set("partition", textList(c.partition))
	}
	if c.timezone != nil {
		set("timezone", textNode(c.timezone.String()))
	}
	if len(c.ignore) > 0 {
		set("determinism", mapping("ignore", textList(c.ignore)))
	}
	if c.defaults != nil {
		set("defaults", c.defaults.node())
	}
	set("store_samples", plainNode(strconv.FormatBool(c.storeSamples)))
	set("allow_empty", plainNode(strconv.FormatBool(c.allowEmpty)))
	for _, b := range c.builtins {
		if b.Off {
			set(b.Type, plainNode("false"))
			continue
		}
		set(b.Type, b.node())
	}
	checks, columns := &yaml.Node{Kind: yaml.SequenceNode}, &yaml.Node{Kind: yaml.SequenceNode}
	for _, check := range c.checks {
		if spec, ok := check.ofColumn(); ok {
			columns.Content = append(columns.Content, spec.node())
			continue
		}
		checks.Content = append(checks.Content, mapping(check.Type, check.node()))
	}
	if len(checks.Content) > 0 {
		set("checks", checks)
	}
	if len(columns.Content) > 0 {
		set("columns", columns)
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return fmt.Errorf("write checks: %w", err)
	}
	if err := enc.Close(); err != nil {
		return fmt.Errorf("write checks: %w", err)
	}
	_, err := w.Write(out.Bytes())
	return err
}

// node writes defaults for what has no key of its own.
func (d *defaults) node() *yaml.Node {
	out := mapping("severity", textNode(string(d.severity)))
	out.Content = append(out.Content, plainNode("samples"), plainNode(strconv.FormatInt(d.samples, 10)),
		plainNode("on_no_rows"), textNode(string(d.onNoRows)))
	if len(d.redact) > 0 {
		out.Content = append(out.Content, plainNode("redact"), textList(d.redact))
	}
	return out
}

// ofColumn is what a column's `type:` and `nullable:` assert.
func (c *Check) ofColumn() (columnSpec, bool) {
	specs, ok := get[[]columnSpec](c, "columns")
	if !ok || c.Type != "schema" || len(c.Columns) != 1 {
		return columnSpec{}, false
	}
	return specs[0], true
}

// node is the long form of a check.
func (c *Check) node() *yaml.Node {
	out := &yaml.Node{Kind: yaml.MappingNode}
	set := func(key string, value *yaml.Node) { out.Content = append(out.Content, plainNode(key), value) }
	if !c.kind.builtin {
		set("id", textNode(c.ID))
	}
	if c.kind.columns != noColumns {
		set("columns", textList(c.Columns))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		set(name, valueNode(c.Params[name]))
	}
	if c.Where != nil {
		set("where", textNode(c.Where.text))
	}
	if c.Nulls != "" {
		set("nulls", textNode(c.Nulls))
	}
	set("severity", textNode(string(c.Severity)))
	if !c.kind.rows || c.kind.builtin {
		return out
	}
	set("fail_if", textNode(c.FailIf.String()))
	if c.WarnIf != nil {
		set("warn_if", textNode(c.WarnIf.String()))
	}
	set("on_no_rows", textNode(string(c.OnNoRows)))
	set("samples", plainNode(strconv.FormatInt(c.Samples, 10)))
	if len(c.Redact) > 0 {
		set("redact", textList(c.Redact))
	}
	return out
}

// valueNode writes a parameter as it is read.
func valueNode(v any) *yaml.Node {
	switch v := v.(type) {
	case string:
		return textNode(v)
	case []string:
		return textList(v)
	case literal:
		return v.node()
	case []literal:
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, lit := range v {
			list.Content = append(list.Content, lit.node())
		}
		return list
	case *condition:
		return textNode(v.text)
	case engine:
		return textNode(v.Name)
	case reference:
		return v.node()
	case []reckonedMetric:
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, m := range v {
			list.Content = append(list.Content, textNode(m.String()))
		}
		return list
	case []columnSpec:
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, spec := range v {
			list.Content = append(list.Content, spec.node())
		}
		return list
	case []source:
		out := &yaml.Node{Kind: yaml.MappingNode}
		for _, s := range v {
			text := s.Column
			if s.Date {
				text = "date(" + text + ")"
			}
			out.Content = append(out.Content, textNode(s.Key), textNode(text))
		}
		return out
	case map[string]string:
		out := &yaml.Node{Kind: yaml.MappingNode}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			out.Content = append(out.Content, textNode(key), textNode(v[key]))
		}
		return out
	}
	return plainNode(fmt.Sprint(v)) // integers, numbers, booleans
}

func (l literal) node() *yaml.Node {
	switch l.kind {
	case litText:
		return textNode(l.text)
	case litNumber:
		return plainNode(l.num.String())
	}
	return plainNode(l.text) // as it was written
}

func (s columnSpec) node() *yaml.Node {
	out := mapping("name", textNode(s.Name))
	if s.Type != "" {
		out.Content = append(out.Content, plainNode("type"), textNode(s.Type))
	}
	if s.Nullable != nil {
		out.Content = append(out.Content, plainNode("nullable"), plainNode(strconv.FormatBool(*s.Nullable)))
	}
	return out
}

func mapping(key string, value *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{plainNode(key), value}}
}

func plainNode(text string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: text} }

// textNode writes a text in quotes. What a partition fills in is a variable
// again, and nothing else is one.
func textNode(text string) *yaml.Node {
	parts := strings.Split(text, partitionMark)
	for i := range parts {
		if i%2 == 0 {
			parts[i] = strings.ReplaceAll(parts[i], "${", "$${")
		} else {
			parts[i] = "${partition." + parts[i] + "}"
		}
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: strings.Join(parts, "")}
}

func textList(list []string) *yaml.Node {
	out := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, text := range list {
		out.Content = append(out.Content, textNode(text))
	}
	return out
}
