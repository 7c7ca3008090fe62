package expr

import (
	"time"

	"github.com/wap-cli/wap/audit/scan"
)

// Program is an expression whose types are right.
type Program struct {
	root    *node
	columns []string
	types   []Type
	nodes   int
	zone    *time.Location
	casts   map[uint8]*node
}

// Columns lists the paths of the columns that a text names, in the order of their
// first appearance. The error is an [*Error].
func Columns(text string) ([]string, error) {
	_, p, err := parse(text)
	if err != nil {
		return nil, err
	}
	return p.columns, nil
}

// Compile reads a text and checks its types. types are those of its columns (see
// [Columns]); zone is what instants are turned into dates by, UTC when nil. The
// error is an [*Error].
func Compile(text string, types func(path string) Type, zone *time.Location) (*Program, error) {
	root, p, err := parse(text)
	if err != nil {
		return nil, err
	}
	out := &Program{root: root, columns: p.columns, zone: zone, casts: map[uint8]*node{}}
	for _, path := range p.columns {
		out.types = append(out.types, types(path))
	}
	c := checker{columns: out.types, zone: zone, seen: map[*node]bool{}}
	if err := c.check(root); err != nil {
		return nil, err
	}
	out.number(root, map[*node]bool{})
	return out, nil
}

// Condition is [Compile] for an expression that has to be true or false.
func Condition(text string, types func(path string) Type, zone *time.Location) (*Program, error) {
	p, err := Compile(text, types, zone)
	if err != nil {
		return nil, err
	}
	if err := want(p.root, "a condition", Bool); err != nil {
		return nil, mistake(p.root.start, p.root.end, "a condition is true or false, this is %s", p.root.typ.Kind)
	}
	return p, nil
}

// number gives every node its place and finds out which column it depends on.
func (p *Program) number(n *node, seen map[*node]bool) {
	if seen[n] {
		return
	}
	seen[n] = true
	n.only = noColumn
	if n.op == opColumn {
		n.only = n.column
	}
	if n.op == opCast {
		p.casts[n.cast] = n
	}
	for _, a := range n.args {
		p.number(a, seen)
		switch {
		case a.only == noColumn:
		case n.only == noColumn:
			n.only = a.only
		case n.only != a.only:
			n.only = severalColumns
		}
	}
	n.id = p.nodes
	p.nodes++
}

// Failure says what the mark of a row means: which cast has no value there, or
// nothing when the mark is not that of a failed one.
func (p *Program) Failure(mark uint8) string {
	if n := p.casts[mark]; n != nil {
		return "a cast to " + n.target + " has no value"
	}
	return ""
}

// Evaluator computes a program over the batches of one row group. It is not for
// several goroutines.
type Evaluator struct {
	program *Program
	batch   scope
	dicts   []scope // by column: over its dictionary's values and a NULL
	vectors []*scan.Vector
}

// scope is a run of rows with a buffer for each node.
type scope struct {
	rows    int
	buffers []Vec
	loaded  []bool // by column, in the batch's scope

	dict *scan.Dictionary // in a dictionary's scope
	done []*Vec           // by node
}

// NewEvaluator returns an evaluator for one row group.
func (p *Program) NewEvaluator() *Evaluator {
	return &Evaluator{
		program: p, dicts: make([]scope, len(p.columns)),
		batch: scope{buffers: make([]Vec, p.nodes), loaded: make([]bool, p.nodes)},
	}
}

// Eval computes the program for a batch of rows; vectors are its columns', in
// order. The result is valid until the next call.
func (e *Evaluator) Eval(rows int, vectors []*scan.Vector) *Vec {
	e.vectors = vectors
	e.batch.rows = rows
	clear(e.batch.loaded)
	v := e.eval(e.program.root, &e.batch)
	if e.program.root.typ.Kind == Null && v.Bits == nil {
		clear(v.makeBits())
	}
	return v
}

// out is a node's buffer, emptied.
func (s *scope) out(n *node) *Vec {
	v := &s.buffers[n.id]
	v.N, v.Marks, v.Bigs = s.rows, nil, nil
	return v
}

func (e *Evaluator) eval(n *node, s *scope) *Vec {
	if s == &e.batch && n.only >= 0 && e.vectors[n.only].Dict != nil {
		return e.byDictionary(n, s)
	}
	switch n.op {
	case opColumn:
		return e.column(n, s)
	case opLiteral:
		return literals(n, s)
	case opAnd, opOr:
		return e.logic(n, s)
	case opNot:
		return e.not(n, s)
	case opCompare:
		return e.compare(n, s)
	case opIn:
		return e.in(n, s)
	case opLike:
		return matches(n, e.eval(n.args[0], s), s)
	case opIsNull:
		return e.isNull(n, s)
	case opArith:
		return e.arith(n, s)
	case opNegate:
		return e.negate(n, s)
	case opCase:
		return e.caseOf(n, s)
	case opCast:
		return e.castTo(n, s)
	}
	return e.callOf(n, s)
}

// byDictionary computes what depends on one column for its dictionary's values
// and for NULL, once, and looks the rows' up.
func (e *Evaluator) byDictionary(n *node, s *scope) *Vec {
	vec, own := e.vectors[n.only], &e.dicts[n.only]
	if own.dict != vec.Dict {
		own.dict, own.rows = vec.Dict, vec.Dict.Len+1
		if own.buffers == nil {
			own.buffers, own.done = make([]Vec, e.program.nodes), make([]*Vec, e.program.nodes)
		}
		clear(own.done)
	}
	if own.done[n.id] == nil {
		own.done[n.id] = e.eval(n, own)
	}
	out := s.out(n)
	out.gather(own.done[n.id], vec)
	return out
}
