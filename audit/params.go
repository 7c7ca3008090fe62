package audit

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

func (n number) MarshalJSON() ([]byte, error) { return json.Marshal(n.String()) }

// count reads an integer of 0 or more.
func count(r *reader, n *yaml.Node, name string) (any, bool) {
	v, ok := r.integer(n, name)
	if ok && v < 0 {
		r.fail(n, "%s is negative", name)
		return nil, false
	}
	return v, ok
}

var sizeText = regexp.MustCompile(`\A([0-9]+)(B|KiB|MiB|GiB|TiB)?\z`)

// size reads bytes: an integer, or one with a binary unit.
func size(r *reader, n *yaml.Node, name string) (any, bool) {
	text, ok := r.fixed(n, name)
	if !ok {
		return nil, false
	}
	m := sizeText.FindStringSubmatch(text)
	if m == nil {
		r.fail(n, "%s is a size like 1048576 or 1MiB, not %q", name, text)
		return nil, false
	}
	v, _ := new(big.Int).SetString(m[1], 10)
	shift := 10 * slices.Index([]string{"B", "KiB", "MiB", "GiB", "TiB"}, m[2])
	if shift > 0 {
		v.Lsh(v, uint(shift))
	}
	if !v.IsInt64() {
		r.fail(n, "%s %q is too large", name, text)
		return nil, false
	}
	return v.Int64(), true
}

// bound reads a value that columns are compared with.
func bound(r *reader, n *yaml.Node, name string) (any, bool) {
	lit, ok := r.scalar(n)
	if ok && (lit.kind == litNull || lit.kind == litNaN) {
		r.fail(n, "%s cannot be %s", name, lit)
		return nil, false
	}
	return lit, ok
}

// values reads a list of values to compare with.
func values(r *reader, n *yaml.Node, name string) (any, bool) {
	var list []literal
	before := len(r.problems)
	for _, item := range r.items(n, name) {
		lit, ok := r.scalar(item)
		if ok && lit.kind == litNull {
			r.failHint(item, "NULL is judged by not_null alone", "%s holds null", name)
			continue
		}
		list = append(list, lit)
	}
	if len(list) == 0 && len(r.problems) == before {
		r.fail(n, "%s is empty", name)
	}
	return list, len(r.problems) == before
}

// pattern reads an RE2 regular expression.
func pattern(r *reader, n *yaml.Node, name string) (any, bool) {
	text, ok := r.fixed(n, name)
	if !ok {
		return nil, false
	}
	// Both forms: an open \Q is fine alone and swallows the end of the other.
	for _, form := range []string{text, wholeValue(text)} {
		if _, err := regexp.Compile(form); err != nil {
			r.fail(n, "%s does not compile: %s", name, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
			return nil, false
		}
	}
	return text, true
}

// word reads one of a few.
func word(words ...string) func(*reader, *yaml.Node, string) (any, bool) {
	return func(r *reader, n *yaml.Node, name string) (any, bool) { return r.oneOf(n, name, words...) }
}

func yesNo(r *reader, n *yaml.Node, name string) (any, bool) { return r.boolean(n, name) }

// wait reads a positive duration.
func wait(r *reader, n *yaml.Node, name string) (any, bool) {
	text, ok := r.fixed(n, name)
	if !ok {
		return nil, false
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		r.fail(n, "%s is a duration like 90s or 2m, not %q", name, text)
		return nil, false
	}
	return d.String(), true
}

// parseShare reads a fraction of 0 or more, or `N%`.
func parseShare(text string) (v number, ok bool) {
	digits, percent := strings.CutSuffix(text, "%")
	v, err := parseNumber(strings.TrimSpace(digits))
	if err != nil || v.unscaled.Sign() < 0 {
		return number{}, false
	}
	if percent {
		v.scale += 2
	}
	return v.reduced(), true
}

// share reads a fraction of 0 to 1, or `N%`.
func share(r *reader, n *yaml.Node, name string) (any, bool) {
	text, ok := r.fixed(n, name)
	if !ok {
		return nil, false
	}
	v, ok := parseShare(text)
	if !ok || v.cmp(integer(1)) > 0 {
		r.fail(n, "%s is a fraction between 0 and 1 or between 0%% and 100%%, not %q", name, text)
		return nil, false
	}
	return v, true
}

// difference reads a number of 0 or more.
func difference(r *reader, n *yaml.Node, name string) (any, bool) {
	lit, ok := r.scalar(n)
	if lit = lit.plain(); ok && (lit.kind != litNumber || lit.num.unscaled.Sign() < 0) {
		r.fail(n, "%s is a number of 0 or more, not %s", name, describe(n))
		return nil, false
	}
	return lit.num, ok
}

// columnNames reads a list of column paths.
func columnNames(r *reader, n *yaml.Node, name string) (any, bool) {
	before := len(r.problems)
	list := r.texts(n, name)
	return list, len(r.problems) == before
}

// columnSpec is what `schema` asserts of one column. A nil Nullable asserts
// nothing about it, nor does an empty Type.
type columnSpec struct {
	Name     string `json:"name"`
	Type     string `json:"type,omitempty"`
	Nullable *bool  `json:"nullable,omitempty"`
}

func columnSpecs(r *reader, n *yaml.Node, name string) (any, bool) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "%s is a list of columns, not %s", name, describe(n))
		return nil, false
	}
	before := len(r.problems)
	var list []columnSpec
	for _, item := range n.Content {
		spec := r.columnSpec(item)
		if slices.ContainsFunc(list, func(s columnSpec) bool { return s.Name == spec.Name }) {
			r.fail(item, "column %q stands twice", spec.Name)
		}
		list = append(list, spec)
	}
	return list, len(r.problems) == before
}

func (r *reader) columnSpec(n *yaml.Node) columnSpec {
	var spec columnSpec
	if n.Kind == yaml.ScalarNode {
		spec.Name, _ = r.fixed(n, "a column")
		return spec
	}
	for _, e := range r.entries(n, "a column") {
		switch e.key {
		case "name":
			spec.Name, _ = r.fixed(e.value, e.key)
		case "type":
			spec.Type, _ = r.typeName(e.value)
		case "nullable":
			if v, ok := r.boolean(e.value, e.key); ok {
				spec.Nullable = &v
			}
		default:
			r.failHint(e.at, suggestion(e.key, []string{"name", "type", "nullable"}), "unknown key of a column %q", e.key)
		}
	}
	if spec.Name == "" {
		r.fail(n, "a column without a name")
	}
	return spec
}

// texts reads a mapping of names to single values, as text.
func settings(r *reader, n *yaml.Node, name string) (any, bool) {
	before := len(r.problems)
	out := map[string]string{}
	for _, e := range r.entries(n, name) {
		if text, ok := r.text(e.value, e.key); ok {
			out[e.key] = text
		}
	}
	return out, len(r.problems) == before
}

// command reads a program with its arguments, or the name of a plugin.
func command(r *reader, n *yaml.Node, name string) (any, bool) {
	if n.Kind == yaml.ScalarNode {
		text, ok := r.fixed(n, name)
		if !ok {
			return nil, false
		}
		var names []string
		for _, p := range r.vars.Plugins {
			if p.Name == text {
				return p.Command, len(p.Command) > 0
			}
			names = append(names, p.Name)
		}
		hint := suggestion(text, names)
		if hint == "" {
			hint = "a command is a list: [" + text + "]"
		}
		r.failHint(n, hint, "no plugin has the name %q", text)
		return nil, false
	}
	before := len(r.problems)
	var list []string
	for _, item := range r.items(n, name) {
		if text, ok := r.text(item, "a part of the command"); ok {
			list = append(list, text)
		}
	}
	if len(list) == 0 && len(r.problems) == before {
		r.fail(n, "%s is empty", name)
	}
	return list, len(r.problems) == before
}

// oneComparison refuses `equals` beside a bound, a check without any, and a
// range that nothing can lie in. The parameters are numbers, integers or
// literals; literals that are not both numbers are compared when the column's
// type is known.
func oneComparison(c *Check) error {
	lo, low := c.Params["min"]
	hi, high := c.Params["max"]
	_, equals := c.Params["equals"]
	switch {
	case equals && (low || high):
		return fmt.Errorf("equals beside min or max are two comparisons in one")
	case !equals && !low && !high:
		return fmt.Errorf("compares with nothing, give min, max or equals")
	case low && high:
		a, aok := asNumber(lo)
		b, bok := asNumber(hi)
		if aok && bok && a.cmp(b) > 0 {
			return fmt.Errorf("min %s is above max %s", a, b)
		}
		return textOrder("min", lo, "max", hi)
	}
	return nil
}

// textOrder refuses two texts in the wrong order, where that does not depend on
// what they are compared with.
func textOrder(lowName string, lo any, highName string, hi any) error {
	a, aok := lo.(literal)
	b, bok := hi.(literal)
	if !aok || !bok || a.kind != litText || b.kind != litText || !plainOrder(a.text) || !plainOrder(b.text) || a.text <= b.text {
		return nil
	}
	return fmt.Errorf("%s %s is above %s %s", lowName, a, highName, b)
}

func asNumber(v any) (number, bool) {
	switch v := v.(type) {
	case int64:
		return integer(v), true
	case number:
		return v, true
	case literal:
		v = v.plain()
		return v.num, v.kind == litNumber
	}
	return number{}, false
}

// minMax are the parameters of a comparison with integers.
func minMax(read func(*reader, *yaml.Node, string) (any, bool)) []param {
	return []param{{name: "min", read: read}, {name: "max", read: read}}
}

func comparison(read func(*reader, *yaml.Node, string) (any, bool)) []param {
	return append(minMax(read), param{name: "equals", read: read})
}
