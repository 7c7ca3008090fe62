package expr

import (
	"slices"
	"strings"
)

// parser descends over the tokens; or binds weakest, then and, not, comparisons,
// + and -, *, / and %.
type parser struct {
	source  string
	tokens  []token
	at      int
	depth   int
	casts   int
	columns []string

	over   bool // what is read stands over aggregates
	inside bool // of one of them
	calls  []*node
}

func parse(s string) (*node, *parser, error) { return parseWith(s, &parser{}) }

func parseWith(s string, p *parser) (*node, *parser, error) {
	tokens, err := lex(s)
	if err != nil {
		return nil, nil, err
	}
	p.source, p.tokens = s, tokens
	if p.peek().kind == endOfText {
		return nil, nil, mistake(0, 0, "the expression is empty")
	}
	n, err := p.or()
	if err != nil {
		return nil, nil, err
	}
	if t := p.peek(); t.kind != endOfText {
		return nil, nil, mistake(t.start, t.end, "unexpected %s", t)
	}
	return n, p, nil
}

func (p *parser) peek() token { return p.tokens[p.at] }

// take moves past the next token when it is word.
func (p *parser) take(word string) bool {
	if !p.peek().is(word) {
		return false
	}
	p.at++
	return true
}

func (p *parser) want(word string) error {
	if t := p.peek(); !p.take(word) {
		return mistake(t.start, t.end, "expected %q, not %s", word, t)
	}
	return nil
}

// made finishes a node that begins at start and ends with the last token.
func (p *parser) made(n *node, start int) *node {
	n.start, n.end = start, start
	if p.at > 0 {
		n.end = p.tokens[p.at-1].end
	}
	return n
}

// deeper guards what can nest.
func (p *parser) deeper(read func() (*node, error)) (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, mistake(p.peek().start, p.peek().end, "the expression nests deeper than %d levels", maxDepth)
	}
	defer func() { p.depth-- }()
	return read()
}

// chain reads operands joined by operators of one strength, from left to right.
func (p *parser) chain(o op, operand func() (*node, error), words ...string) (*node, error) {
	start := p.peek().start
	left, err := operand()
	for err == nil {
		i := slices.IndexFunc(words, p.peek().is)
		if i < 0 {
			return left, nil
		}
		p.at++
		var right *node
		if right, err = operand(); err == nil {
			left = p.made(&node{op: o, sign: words[i], args: []*node{left, right}}, start)
		}
	}
	return nil, err
}

func (p *parser) or() (*node, error) {
	return p.deeper(func() (*node, error) { return p.chain(opOr, p.and, "or") })
}
func (p *parser) and() (*node, error) { return p.chain(opAnd, p.not, "and") }

func (p *parser) not() (*node, error) {
	start := p.peek().start
	if !p.take("not") {
		return p.predicate()
	}
	n, err := p.deeper(p.not)
	if err != nil {
		return nil, err
	}
	return p.made(&node{op: opNot, args: []*node{n}}, start), nil
}

func (p *parser) sum() (*node, error)     { return p.chain(opArith, p.product, "+", "-") }
func (p *parser) product() (*node, error) { return p.chain(opArith, p.signed, "*", "/", "%") }

func (p *parser) signed() (*node, error) {
	start := p.peek().start
	if !p.take("-") {
		return p.primary()
	}
	n, err := p.deeper(p.signed)
	if err != nil {
		return nil, err
	}
	return p.made(&node{op: opNegate, args: []*node{n}}, start), nil
}

// predicate reads a comparison, or a plain value.
func (p *parser) predicate() (*node, error) {
	start := p.peek().start
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	for _, sign := range []string{"=", "<>", "!=", "<=", ">=", "<", ">"} {
		if !p.take(sign) {
			continue
		}
		right, err := p.sum()
		if err != nil {
			return nil, err
		}
		if sign == "!=" {
			sign = "<>"
		}
		return p.made(&node{op: opCompare, sign: sign, args: []*node{left, right}}, start), nil
	}
	if p.take("is") {
		negated := p.take("not")
		if err := p.want("null"); err != nil {
			return nil, err
		}
		return p.negated(p.made(&node{op: opIsNull, args: []*node{left}}, start), negated), nil
	}
	negated := p.take("not")
	switch {
	case p.take("in"):
		left, err = p.in(left, start)
	case p.take("between"):
		left, err = p.between(left, start)
	case p.take("like"):
		left, err = p.like(left, start)
	case negated:
		t := p.peek()
		return nil, mistake(t.start, t.end, "expected in, between or like, not %s", t)
	}
	if err != nil {
		return nil, err
	}
	return p.negated(left, negated), nil
}

func (p *parser) negated(n *node, yes bool) *node {
	if !yes {
		return n
	}
	return p.made(&node{op: opNot, args: []*node{n}}, n.start)
}

// in becomes a chain of equalities; the checker makes a set of what are literals.
func (p *parser) in(left *node, start int) (*node, error) {
	if err := p.want("("); err != nil {
		return nil, err
	}
	args := []*node{left}
	for {
		n, err := p.or()
		if err != nil {
			return nil, err
		}
		args = append(args, n)
		if !p.take(",") {
			break
		}
	}
	if err := p.want(")"); err != nil {
		return nil, err
	}
	return p.made(&node{op: opIn, args: args}, start), nil
}

func (p *parser) between(left *node, start int) (*node, error) {
	low, err := p.sum()
	if err != nil {
		return nil, err
	}
	if err := p.want("and"); err != nil {
		return nil, err
	}
	high, err := p.sum()
	if err != nil {
		return nil, err
	}
	above := p.made(&node{op: opCompare, sign: ">=", args: []*node{left, low}}, start)
	below := p.made(&node{op: opCompare, sign: "<=", args: []*node{left, high}}, start)
	return p.made(&node{op: opAnd, args: []*node{above, below}}, start), nil
}

func (p *parser) like(left *node, start int) (*node, error) {
	t := p.peek()
	if t.kind != text {
		return nil, mistake(t.start, t.end, "like takes a text in quotes, not %s", t)
	}
	p.at++
	pattern, escape := t.value, ""
	if p.take("escape") {
		e := p.peek()
		if e.kind != text || len([]rune(e.value)) != 1 {
			return nil, mistake(e.start, e.end, "escape takes one character in quotes, not %s", e)
		}
		escape = e.value
		p.at++
	}
	match, err := likeMatcher(pattern, escape)
	if err != nil {
		return nil, mistake(t.start, t.end, "%s", err)
	}
	return p.made(&node{op: opLike, args: []*node{left}, match: match}, start), nil
}

// keywords cannot be columns unless they stand in double quotes.
func isKeyword(word string) bool {
	switch strings.ToLower(word) {
	case "and", "or", "not", "in", "between", "like", "is", "null", "case", "when", "then", "else", "end",
		"true", "false", "as", "escape", "cast":
		return true
	}
	return false
}
