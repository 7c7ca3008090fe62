package manifest

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// extensionPrefix starts the names of fields that are not this package's.
const extensionPrefix = "x_"

// Extensions keeps the fields of an object that start with `x_`: notes of other
// tools and of later versions, which whoever rewrites the object carries along.
// The zero value holds none, and values can be compared.
//
// They stay with the object they were read from where its type embeds
// Extensions. Plain values (a [Ref], [Totals], a [Base] …) embed none, so that
// == keeps its meaning: their extensions are kept, by position, in the nearest
// enclosing object that has some, and go when that position goes.
type Extensions struct {
	// raw is a canonical JSON object without a newline, or empty: the `x_`
	// fields, and for each position below that has some an object like it.
	raw string
}

// extensionNode is the parsed form of Extensions.
type extensionNode struct {
	fields map[string]string // canonical JSON by `x_` name
	below  map[string]*extensionNode
}

func (n *extensionNode) set(name, raw string) {
	if n.fields == nil {
		n.fields = map[string]string{}
	}
	n.fields[name] = raw
}

// at returns the node of a field or list element; nil where there is none.
func (n *extensionNode) at(name string) *extensionNode {
	if n == nil {
		return nil
	}
	return n.below[name]
}

func (n *extensionNode) atIndex(i int) *extensionNode {
	if n == nil || n.below == nil {
		return nil
	}
	return n.below[strconv.Itoa(i)]
}

// attach hangs child below n, unless it holds nothing.
func (n *extensionNode) attach(name string, child *extensionNode) {
	if n == nil || child == nil || len(child.fields)+len(child.below) == 0 {
		return
	}
	if n.below == nil {
		n.below = map[string]*extensionNode{}
	}
	n.below[name] = child
}

// extensions renders n. No position's name starts with `x_`, see newLayoutField.
func (n *extensionNode) extensions() Extensions {
	if len(n.fields)+len(n.below) == 0 {
		return Extensions{}
	}
	values := maps.Clone(n.fields)
	if values == nil {
		values = map[string]string{}
	}
	for name, child := range n.below {
		values[name] = child.extensions().raw
	}
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(values)) {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(appendString(nil, name))
		b.WriteByte(':')
		b.WriteString(values[name])
	}
	b.WriteByte('}')
	return Extensions{b.String()}
}

// node parses e; nil where it holds nothing.
func (e Extensions) node() (*extensionNode, error) {
	if e.raw == "" {
		return nil, nil
	}
	d := &decoder{data: []byte(e.raw), layouts: layouts{}}
	n, err := d.extensionNode()
	if err != nil {
		return nil, err
	}
	return n, nil
}

func (d *decoder) extensionNode() (*extensionNode, error) {
	n := &extensionNode{}
	err := d.object(func(name string) error {
		if strings.HasPrefix(name, extensionPrefix) {
			raw, err := d.skip()
			n.set(name, raw)
			return err
		}
		child, err := d.extensionNode()
		n.attach(name, child)
		return err
	})
	return n, err
}
