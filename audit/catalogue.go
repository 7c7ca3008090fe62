package audit

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// kind is one assertion of the catalogue. Each family's file lists its own; a
// new assertion is an entry there and the code that judges.
type kind struct {
	name    string
	aliases []string

	builtin  bool   // on without being written
	optional bool   // a built-in that can be switched off
	hint     string // what to do instead of switching it off

	columns columnsRule
	// rows: it counts violating rows, so that thresholds, samples, on_no_rows
	// and nulls apply.
	rows bool
	// where: the rows it sees can be chosen; rows implies it, unless whole says
	// that it sees all there are.
	where, whole bool
	params       []param
	// list and scalar name the parameter that a list or a single value stands
	// for in the short form; "columns" is allowed, empty means no short form.
	list, scalar string
	nulls        []string // words that `nulls` takes, the default first
	// settle fills in defaults that depend on other parameters or on the call.
	settle func(r *reader, c *Check)
	// idle names parameters that say nothing beside the others, and why.
	idle func(c *Check) (names []string, why string)
	// verify looks at parameters together; it returns what is wrong.
	verify func(c *Check) error
	// bind prepares the assertion for a partition. Its error is the data's:
	// an unknown column, a type that does not fit.
	bind func(c *Check, b *binding) (assertion, error)
}

// columnsRule says how an assertion relates to columns.
type columnsRule uint8

const (
	noColumns  columnsRule = iota
	eachColumn             // one assertion for each column named
	keyColumns             // one assertion over all columns named
)

// param is one parameter of an assertion.
type param struct {
	name     string
	required bool
	fallback any // the value when it is not written; nil: none
	read     func(r *reader, n *yaml.Node, name string) (any, bool)
}

// catalogue lists every assertion of this version, built-ins first.
func catalogue() []*kind {
	return slices.Concat(builtinKinds(), countKinds(), schemaKinds(), nullKinds(), keyKinds(),
		valueKinds(), textKinds(), aggregateKinds(), formatKinds(), measureKinds(),
		quantileKinds(), sketchKinds(), metricKinds(),
		intervalKinds(), rangeKinds(),
		orderKinds(), setKinds(), listKinds(), freshnessKinds(), publishedKinds(),
		expressionKinds(), pluginKinds(), sqlKinds())
}

func lookup(name string) (*kind, bool) {
	for _, k := range catalogue() {
		if k.name == name || slices.Contains(k.aliases, name) {
			return k, true
		}
	}
	return nil, false
}

func builtinNames() []string {
	var names []string
	for _, k := range builtinKinds() {
		names = append(names, k.name)
	}
	return names
}

// knownNames are all names that a check can have, for suggestions.
func knownNames() []string {
	var names []string
	for _, k := range catalogue() {
		names = append(append(names, k.name), k.aliases...)
	}
	return names
}

// check is the kind's canonical form with nothing configured.
func (k *kind) check() *Check {
	c := &Check{
		ID: k.name, Type: k.name, Severity: SeverityFail, Samples: 10,
		Columns: []string{}, Params: map[string]any{}, kind: k,
	}
	for _, p := range k.params {
		if p.fallback != nil {
			c.Params[p.name] = p.fallback
		}
	}
	if k.rows {
		c.OnNoRows = Warn
	}
	if len(k.nulls) > 0 {
		c.Nulls = k.nulls[0]
	}
	return c
}

func (k *kind) param(name string) (param, bool) {
	for _, p := range k.params {
		if p.name == name {
			return p, true
		}
	}
	return param{}, false
}

// get returns a parameter's value; ok is false when it is not set.
func get[T any](c *Check, name string) (value T, ok bool) {
	value, ok = c.Params[name].(T)
	return value, ok
}
