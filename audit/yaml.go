package audit

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxConfigBytes bounds a checks file.
const maxConfigBytes = 1 << 20

// ConfigError is a mistake in a checks file. Line and Column count from 1 and
// are 0 when the mistake is the file's as a whole.
type ConfigError struct {
	File    string
	Line    int
	Column  int
	Message string
	Hint    string
}

func (e *ConfigError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// reader walks the nodes of one file and collects every mistake it meets.
type reader struct {
	file     string
	vars     Vars
	problems []*ConfigError
	// conditions are the expressions read so far.
	conditions []*condition
}

// entry is one key of a mapping.
type entry struct {
	key   string
	at    *yaml.Node // the key, for its position
	value *yaml.Node
}

func (r *reader) fail(at *yaml.Node, format string, args ...any) {
	r.failHint(at, "", format, args...)
}

func (r *reader) failHint(at *yaml.Node, hint, format string, args ...any) {
	e := &ConfigError{File: r.file, Message: fmt.Sprintf(format, args...), Hint: hint}
	if at != nil {
		e.Line, e.Column = at.Line, at.Column
	}
	r.problems = append(r.problems, e)
}

// mistakes joins the problems in the order of the file.
func (r *reader) mistakes() error {
	slices.SortStableFunc(r.problems, func(a, b *ConfigError) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	errs := make([]error, len(r.problems))
	for i, p := range r.problems {
		errs[i] = p
	}
	return errors.Join(errs...)
}

var yamlLine = regexp.MustCompile(`\Ayaml: (?:line (\d+): )?(.*)\z`)

// document parses data into the root mapping, or returns nil after a failure.
func (r *reader) document(data []byte) *yaml.Node {
	if len(data) > maxConfigBytes {
		r.fail(nil, "is %d bytes long, more than %d", len(data), maxConfigBytes)
		return nil
	}
	dec := yaml.NewDecoder(strings.NewReader(string(data)))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		r.syntax(err)
		return nil
	}
	switch err := dec.Decode(&more); {
	case err == nil:
		r.fail(&more, "holds a second document")
		return nil
	case err.Error() != "EOF":
		r.syntax(err)
		return nil
	}
	root := doc.Content[0]
	if !r.sound(root) {
		return nil
	}
	if root.Kind != yaml.MappingNode {
		r.fail(root, "a checks file is a mapping, not %s", describe(root))
		return nil
	}
	return root
}

func (r *reader) syntax(err error) {
	if err.Error() == "EOF" {
		r.failHint(nil, noAssertionHint, "holds no assertion")
		return
	}
	e := &ConfigError{File: r.file, Message: "not YAML: " + err.Error()}
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		e.Message = "not YAML: " + m[2]
		if line, err := strconv.Atoi(m[1]); err == nil {
			e.Line, e.Column = line, 1
		}
	}
	r.problems = append(r.problems, e)
}

// sound refuses what a checks file has no use for and a reviewer could miss:
// anchors, aliases, merge keys, tags of other types, NUL.
func (r *reader) sound(n *yaml.Node) bool {
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.fail(n, "anchors and aliases are not supported")
		return false
	case n.Style&yaml.TaggedStyle != 0 && n.Tag != "!!str":
		r.fail(n, "the tag %s is not supported", n.Tag)
		return false
	case strings.ContainsRune(n.Value, 0):
		r.fail(n, "a value holds a NUL")
		return false
	}
	ok := true
	for _, c := range n.Content {
		ok = r.sound(c) && ok
	}
	return ok
}

func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if n.Value == "" {
		return "nothing"
	}
	return strconv.Quote(n.Value)
}

// entries lists a mapping's keys in order. A key that is no text, or that
// stands twice, is a mistake.
func (r *reader) entries(n *yaml.Node, what string) []entry {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s is a mapping, not %s", what, describe(n))
		return nil
	}
	var list []entry
	first := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			r.fail(key, "a key of %s is %s", what, describe(key))
			continue
		}
		if line, seen := first[key.Value]; seen {
			r.fail(key, "%q stands twice, first in line %d", key.Value, line)
			continue
		}
		first[key.Value] = key.Line
		list = append(list, entry{key.Value, key, value})
	}
	return list
}

// items lists a sequence's nodes; a single scalar stands for a list of one.
func (r *reader) items(n *yaml.Node, what string) []*yaml.Node {
	switch n.Kind {
	case yaml.SequenceNode:
		return n.Content
	case yaml.ScalarNode:
		return []*yaml.Node{n}
	}
	r.fail(n, "%s is a list, not %s", what, describe(n))
	return nil
}

// partitionMark surrounds the name of a partition key inside a text whose value
// is known only when a partition is judged. NUL cannot stand in a checks file.
const partitionMark = "\x00"

// scalar resolves a scalar node with its variables substituted.
func (r *reader) scalar(n *yaml.Node) (literal, bool) {
	if n.Kind != yaml.ScalarNode {
		r.fail(n, "expected a single value, not %s", describe(n))
		return literal{}, false
	}
	text, err := substitute(n.Value, r.variable)
	if err != nil {
		r.fail(n, "%s", err)
		return literal{}, false
	}
	if text != n.Value {
		return literal{kind: litText, text: text, open: true}, true
	}
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle|yaml.TaggedStyle) != 0 {
		return literal{kind: litText, text: text}, true
	}
	lit, err := plainLiteral(text)
	if err != nil {
		r.fail(n, "%s", err)
		return literal{}, false
	}
	return lit, true
}

func (r *reader) variable(name string) (string, error) {
	if env, ok := strings.CutPrefix(name, "env:"); ok {
		if r.vars.Env != nil {
			if value, set := r.vars.Env(env); set {
				if strings.Contains(value, partitionMark) {
					return "", fmt.Errorf("environment variable %s holds a NUL", env)
				}
				return value, nil
			}
		}
		return "", fmt.Errorf("environment variable %s is not set", env)
	}
	if key, ok := strings.CutPrefix(name, "partition."); ok && key != "" {
		return partitionMark + key + partitionMark, nil
	}
	if name == "run" {
		if r.vars.Run == "" {
			return "", errors.New("${run} has no value outside a run")
		}
		return r.vars.Run, nil
	}
	return "", fmt.Errorf("unknown variable ${%s} (env:NAME, run and partition.KEY are known; write $${ for a plain ${)", name)
}

// text reads a scalar that is a text; numbers and booleans written without
// quotes are taken as they stand.
func (r *reader) text(n *yaml.Node, what string) (string, bool) {
	lit, ok := r.scalar(n)
	if !ok {
		return "", false
	}
	if lit.kind == litNull && lit.text == "" || lit.text == "" {
		r.fail(n, "%s is empty", what)
		return "", false
	}
	return lit.text, true
}

// fixed is text without a variable of the partition.
func (r *reader) fixed(n *yaml.Node, what string) (string, bool) {
	text, ok := r.text(n, what)
	if ok && strings.Contains(text, partitionMark) {
		r.fail(n, "%s cannot depend on the partition", what)
		return "", false
	}
	return text, ok
}

func (r *reader) texts(n *yaml.Node, what string) []string {
	var list []string
	for _, item := range r.items(n, what) {
		if text, ok := r.fixed(item, what); ok {
			list = append(list, text)
		}
	}
	return list
}

func (r *reader) boolean(n *yaml.Node, what string) (bool, bool) {
	lit, ok := r.scalar(n)
	if !ok {
		return false, false
	}
	if lit = lit.plain(); lit.kind != litBool {
		r.fail(n, "%s is true or false, not %s", what, describe(n))
		return false, false
	}
	return lit.yes, true
}

func (r *reader) integer(n *yaml.Node, what string) (int64, bool) {
	lit, ok := r.scalar(n)
	if !ok {
		return 0, false
	}
	if lit = lit.plain(); lit.kind != litNumber || lit.num.scale > 0 || !lit.num.unscaled.IsInt64() {
		r.fail(n, "%s is an integer, not %s", what, describe(n))
		return 0, false
	}
	return lit.num.unscaled.Int64(), true
}

// oneOf reads a word out of a fixed set.
func (r *reader) oneOf(n *yaml.Node, what string, words ...string) (string, bool) {
	text, ok := r.fixed(n, what)
	if !ok {
		return "", false
	}
	for _, w := range words {
		if w == text {
			return text, true
		}
	}
	r.failHint(n, suggestion(text, words), "%s %q is not one of %s", what, text, strings.Join(words, ", "))
	return "", false
}
