package scan

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// fileSchema is what a footer says about columns.
type fileSchema struct {
	columns []Column
	refs    []Ref
	schema  Type
	raw     []byte         // as it stands in the footer
	source  *schema.Schema // while it is built
}

// place is where in the schema the walk stands.
type place struct {
	path   string
	def    uint8 // definition level at which the group around is present
	rep    uint8
	exists uint8 // definition level at which the innermost repeated ancestor has an element
	// steps counts what could be absent on the way, and levels says which of it
	// each definition level brings: a required node is a step without a level.
	steps  uint8
	levels []uint8
}

// step goes past what could be absent; with a level where it can be.
func (p place) step(level bool) place {
	if p.steps++; level {
		p.def++
		p.levels = append(slices.Clip(p.levels), p.steps)
	}
	return p
}

// absent says, by definition level below the full one, what is absent, counted
// from the leaf.
func (p place) absent() []uint8 {
	out := make([]uint8, len(p.levels))
	for def, step := range p.levels {
		out[def] = p.steps - step + 1
	}
	return out
}

func (f *fileSchema) build() error {
	root := f.source.Root()
	f.schema = Type{Kind: Struct}
	for i := range root.NumFields() {
		n := root.Field(i)
		t, err := f.visit(n, place{path: quoteName(n.Name())})
		if err != nil {
			return err
		}
		f.schema.Fields = append(f.schema.Fields, Field{Name: n.Name(), Type: t, Nullable: isOptional(n)})
	}
	return nil
}

func isOptional(n schema.Node) bool { return n.RepetitionType() == parquet.Repetitions.Optional }
func isRepeated(n schema.Node) bool { return n.RepetitionType() == parquet.Repetitions.Repeated }

// visit adds the leaves and paths of a node that at.path already names. A
// repeated node that no LIST or MAP announces is a list of required elements.
func (f *fileSchema) visit(n schema.Node, at place) (Type, error) {
	if isRepeated(n) {
		f.addRef(at, at.def, Type{Kind: List})
		list := len(f.refs) - 1
		elem, err := f.element(n, at.step(false).within("[]").step(false))
		if err != nil {
			return Type{}, err
		}
		f.refs[list].Type = Type{Kind: List, Fields: []Field{{Name: "element", Type: elem}}}
		return f.refs[list].Type, nil
	}
	return f.element(n, at.step(isOptional(n)))
}

// within moves to the instances of a repeated node.
func (p place) within(mark string) place {
	p = p.step(true)
	p.path += mark
	p.rep++
	p.exists = p.def
	return p
}

// child moves to a field of a struct.
func (p place) child(n schema.Node) place {
	p.path += "." + quoteName(n.Name())
	return p
}

// element is visit for a node whose own repetition is already counted in at.
func (f *fileSchema) element(n schema.Node, at place) (Type, error) {
	switch n := n.(type) {
	case *schema.PrimitiveNode:
		return f.leaf(n, at)
	case *schema.GroupNode:
		switch {
		case isList(n):
			return f.list(n, at)
		case isMap(n):
			return f.mapOf(n, at)
		}
		return f.structOf(n, at)
	}
	return Type{}, fmt.Errorf("column %s: unknown kind of schema node", at.path)
}

func (f *fileSchema) structOf(n *schema.GroupNode, at place) (Type, error) {
	f.addRef(at, at.def, Type{})
	self := len(f.refs) - 1
	t := Type{Kind: Struct}
	if _, ok := n.LogicalType().(schema.VariantLogicalType); ok {
		t.Kind = Variant
	}
	for i := range n.NumFields() {
		c := n.Field(i)
		ct, err := f.visit(c, at.child(c))
		if err != nil {
			return Type{}, err
		}
		t.Fields = append(t.Fields, Field{Name: c.Name(), Type: ct, Nullable: isOptional(c)})
	}
	f.refs[self].Type = t
	return t, nil
}

// isList: annotated so, with the one repeated child the format asks for.
func isList(n *schema.GroupNode) bool {
	_, list := n.LogicalType().(schema.ListLogicalType)
	return list && n.NumFields() == 1 && isRepeated(n.Field(0))
}

// list follows the format's rules for lists, those for old writers included:
// the repeated node is the element itself when it is a leaf, has several
// fields, or bears one of two names; else its only field is the element.
func (f *fileSchema) list(n *schema.GroupNode, at place) (Type, error) {
	f.addRef(at, at.def, Type{})
	self := len(f.refs) - 1
	middle := n.Field(0)
	elem, within, nullable := middle, at.within("[]"), false
	if g, ok := middle.(*schema.GroupNode); ok && g.NumFields() == 1 && !elementItself(n, g) {
		elem = g.Field(0)
		nullable = isOptional(elem)
	}
	var (
		et  Type
		err error
	)
	if elem == middle {
		et, err = f.element(elem, within.step(false))
	} else {
		et, err = f.visit(elem, within)
	}
	if err != nil {
		return Type{}, err
	}
	f.refs[self].Type = Type{Kind: List, Fields: []Field{{Name: "element", Type: et, Nullable: nullable}}}
	return f.refs[self].Type, nil
}

func elementItself(list, middle *schema.GroupNode) bool {
	name := middle.Name()
	return name == "array" || name == list.Name()+"_tuple" || isRepeated(middle.Field(0)) || isList(middle) || isMap(middle)
}

// isMap: annotated so, with one repeated group of a key and, mostly, a value.
func isMap(n *schema.GroupNode) bool {
	_, m := n.LogicalType().(schema.MapLogicalType)
	m = m || n.ConvertedType() == schema.ConvertedTypes.MapKeyValue
	if !m || n.NumFields() != 1 || !isRepeated(n.Field(0)) {
		return false
	}
	kv, ok := n.Field(0).(*schema.GroupNode)
	return ok && (kv.NumFields() == 1 || kv.NumFields() == 2)
}

func (f *fileSchema) mapOf(n *schema.GroupNode, at place) (Type, error) {
	f.addRef(at, at.def, Type{})
	self := len(f.refs) - 1
	kv := n.Field(0).(*schema.GroupNode)
	entry := at.within("{}")
	t := Type{Kind: Map}
	for i := range kv.NumFields() {
		name := [...]string{"key", "value"}[i]
		to := entry
		to.path += "." + name
		ct, err := f.visit(kv.Field(i), to)
		if err != nil {
			return Type{}, err
		}
		t.Fields = append(t.Fields, Field{Name: name, Type: ct, Nullable: isOptional(kv.Field(i))})
	}
	f.refs[self].Type = t
	return t, nil
}

// addRef registers at.path, whose instances are present from level def on. Its
// leaf is the next one that will be added: a group's first.
func (f *fileSchema) addRef(at place, def uint8, t Type) {
	f.refs = append(f.refs, Ref{
		Path: at.path, Column: len(f.columns), Type: t, Rep: at.rep, Exists: at.exists, NonNull: def,
	})
}
