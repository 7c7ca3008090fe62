package expr

import "math/big"

// literals is a literal for every row; the buffer keeps it between batches.
func literals(n *node, s *scope) *Vec {
	v := &s.buffers[n.id]
	if v.N >= s.rows && (n.value.kind == Null || v.Bits != nil || v.Ints != nil || v.Bigs != nil || v.Floats != nil || v.Texts != nil) {
		return v
	}
	v.N = s.rows
	switch {
	case n.value.kind == Null:
		fill(v.makeMarks(), null)
	case n.value.kind == Bool:
		fill(v.makeBits(), bit(n.value.yes))
	case n.value.kind == Float:
		fill(v.makeFloats(), n.value.float)
	case n.value.kind.bytes():
		fill(v.makeTexts(), []byte(n.value.text))
	case n.value.num.unscaled.IsInt64():
		fill(v.makeInts(), n.value.num.unscaled.Int64())
	default:
		fill(v.makeBigs(), n.value.num.unscaled)
	}
	return v
}

func fill[T any](s []T, v T) {
	for i := range s {
		s[i] = v
	}
}

// allNull is the result where an operand is the literal NULL.
func allNull(n *node, s *scope) *Vec {
	out := s.out(n)
	fill(out.makeMarks(), null)
	switch {
	case n.typ.Kind == Bool:
		clear(out.makeBits())
	case n.typ.Kind == Float:
		clear(out.makeFloats())
	case n.typ.Kind.bytes():
		clear(out.makeTexts())
	case n.typ.Kind.exact():
		clear(out.makeInts())
	}
	return out
}

// logic is and, or: what decides alone decides, whatever the other side is.
func (e *Evaluator) logic(n *node, s *scope) *Vec {
	a, b := e.truth(n.args[0], s), e.truth(n.args[1], s)
	out := s.out(n)
	bits := out.makeBits()
	x, y := a.Bits[:s.rows], b.Bits[:s.rows]
	if n.op == opAnd {
		for i := range bits {
			bits[i] = x[i] & y[i]
		}
	} else {
		for i := range bits {
			bits[i] = x[i] | y[i]
		}
	}
	if a.Marks == nil && b.Marks == nil {
		return out
	}
	decisive := bit(n.op == opOr)
	marks := out.makeMarks()
	for i := range marks {
		am, bm := a.mark(i), b.mark(i)
		switch {
		case am == present && x[i] == decisive || bm == present && y[i] == decisive:
			bits[i] = decisive
		default:
			marks[i] = max(am, bm)
		}
	}
	return out
}

// truth evaluates a condition; NULL has bits too.
func (e *Evaluator) truth(n *node, s *scope) *Vec {
	v := e.eval(n, s)
	if v.Bits == nil {
		clear(v.makeBits())
	}
	return v
}

func (e *Evaluator) not(n *node, s *scope) *Vec {
	a := e.truth(n.args[0], s)
	out := s.out(n)
	bits := out.makeBits()
	for i, x := range a.Bits[:s.rows] {
		bits[i] = x ^ 1
	}
	out.follow(a)
	return out
}

// isNull is never NULL itself; what failed stays failed.
func (e *Evaluator) isNull(n *node, s *scope) *Vec {
	a := e.eval(n.args[0], s)
	out := s.out(n)
	bits := out.makeBits()
	for i := range bits {
		m := a.mark(i)
		bits[i] = bit(m == null)
		if m >= failedMark {
			out.setMark(i, m)
		}
	}
	return out
}

func (e *Evaluator) in(n *node, s *scope) *Vec {
	arg := n.args[0]
	a := e.eval(arg, s)
	out := s.out(n)
	bits := out.makeBits()
	switch {
	case arg.typ.Kind == Float:
		for i, f := range a.Floats[:s.rows] {
			bits[i] = bit(n.set.hasFloat(f))
		}
	case arg.typ.Kind.bytes():
		for i, t := range a.Texts[:s.rows] {
			_, ok := n.set.texts[string(t)]
			bits[i] = bit(ok)
		}
	case a.Bigs != nil:
		for i, x := range a.Bigs[:s.rows] {
			bits[i] = bit(x != nil && n.set.hasBig(x))
		}
	default:
		for i, x := range a.Ints[:s.rows] {
			bits[i] = bit(n.set.hasInt(x))
		}
	}
	out.follow(a)
	return out
}

func (s *set) hasBig(n *big.Int) bool {
	if n.IsInt64() {
		return s.hasInt(n.Int64())
	}
	_, ok := s.bigs[n.String()]
	return ok
}

// matches applies a matcher of texts.
func matches(n *node, a *Vec, s *scope) *Vec {
	if n.args[0].typ.Kind == Null {
		return allNull(n, s)
	}
	out := s.out(n)
	bits := out.makeBits()
	for i, t := range a.Texts[:s.rows] {
		bits[i] = bit(n.match(t))
	}
	out.follow(a)
	return out
}

// caseOf takes, in each row, the value behind the first condition that is true.
// Conditions and values that are not reached count for nothing, failed or not.
func (e *Evaluator) caseOf(n *node, s *scope) *Vec {
	choice := make([]int, s.rows)
	failed := make([]uint8, s.rows)
	last := len(n.args) - 1
	fill(choice, last)
	open := make([]bool, s.rows)
	fill(open, true)
	for k := 0; k < last; k += 2 {
		when := e.truth(n.args[k], s)
		for i := range open {
			switch m := when.mark(i); {
			case !open[i]:
			case m >= failedMark:
				failed[i], open[i] = m, false
			case m == present && when.Bits[i] == 1:
				choice[i], open[i] = k+1, false
			}
		}
	}
	values := make([]*Vec, len(n.args))
	for k := 1; k < last; k += 2 {
		values[k] = e.eval(n.args[k], s)
	}
	values[last] = e.eval(n.args[last], s)
	out := e.choose(n, s, values, choice)
	for i, m := range failed {
		if m != present {
			out.setMark(i, m)
		}
	}
	return out
}

func (e *Evaluator) coalesce(n *node, s *scope) *Vec {
	values := make([]*Vec, len(n.args))
	choice := make([]int, s.rows)
	for k, a := range n.args {
		values[k] = e.eval(a, s)
		for i := range choice {
			if choice[i] == k-1 && values[k-1].mark(i) == null {
				choice[i] = k
			}
		}
	}
	return e.choose(n, s, values, choice)
}

// choose copies value choice[i] of row i, all in the type of n.
func (e *Evaluator) choose(n *node, s *scope, values []*Vec, choice []int) *Vec {
	if n.typ.Kind == Null {
		return allNull(n, s)
	}
	wide := false
	for k, v := range values {
		if v != nil && n.args[k].typ.Kind != Null {
			values[k] = converted(v, s.rows, n.args[k].typ, n.typ)
			wide = wide || values[k].Bigs != nil
		}
	}
	out := allNull(n, s)
	if wide {
		out.makeBigs()
	}
	for i, k := range choice {
		v := values[k]
		out.Marks[i] = v.mark(i)
		if n.args[k].typ.Kind == Null {
			out.Marks[i] = null
		}
		if out.Marks[i] != present {
			continue
		}
		switch {
		case wide:
			out.Bigs[i] = v.big(i)
		case n.typ.Kind == Bool:
			out.Bits[i] = v.Bits[i]
		case n.typ.Kind == Float:
			out.Floats[i] = v.Floats[i]
		case n.typ.Kind.bytes():
			out.Texts[i] = v.Texts[i]
		default:
			out.Ints[i] = v.Ints[i]
		}
	}
	return out
}
