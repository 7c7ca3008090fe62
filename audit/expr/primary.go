package expr

import (
	"slices"
	"strings"
)

// primary reads a literal, a column, a call, case, cast, or parentheses.
func (p *parser) primary() (*node, error) {
	t := p.peek()
	switch t.kind {
	case number:
		p.at++
		n, err := parseDecimal(t.value)
		if err != nil {
			return nil, mistake(t.start, t.end, "%s", err)
		}
		return p.literal(t, literal{kind: Number, num: n}), nil
	case text:
		p.at++
		return p.literal(t, literal{kind: Text, text: t.value}), nil
	case quoted:
		return p.columnPath()
	case name:
		return p.word(t)
	}
	if !p.take("(") {
		return nil, mistake(t.start, t.end, "expected a value, not %s", t)
	}
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	return n, p.want(")")
}

func (p *parser) literal(t token, l literal) *node {
	return p.made(&node{op: opLiteral, value: l}, t.start)
}

// word reads what begins with a name.
func (p *parser) word(t token) (*node, error) {
	call := p.tokens[p.at+1].is("(")
	following := p.tokens[p.at+1]
	switch word := strings.ToLower(t.value); {
	case word == "true" || word == "false":
		p.at++
		return p.literal(t, literal{kind: Bool, yes: word == "true"}), nil
	case word == "null":
		p.at++
		return p.literal(t, literal{kind: Null}), nil
	case word == "case":
		return p.deeper(p.caseOf)
	case word == "cast" && call:
		return p.deeper(p.castOf)
	case (word == "date" || word == "timestamp" || word == "time") && following.kind == text:
		p.at += 2
		return p.timeLiteral(word, t, following)
	case call && p.over && isAggregate(word):
		return p.aggregate(t)
	case call:
		return p.deeper(p.call)
	case isKeyword(word):
		return nil, mistake(t.start, t.end, "expected a value, not %s; a column of this name stands in double quotes", t)
	}
	return p.columnPath()
}

// timeLiteral reads date '2025-03-05' and the like; a timestamp with an offset is
// an instant.
func (p *parser) timeLiteral(word string, t, value token) (*node, error) {
	kinds := map[string][]Kind{"date": {Date}, "time": {Time}, "timestamp": {Instant, Timestamp}}[word]
	for _, k := range kinds {
		if n, ok := parseTime(k, value.value); ok {
			return p.literal(t, literal{kind: k, num: n, text: value.value}), nil
		}
	}
	return nil, mistake(value.start, value.end, "%s is no %s", value, word)
}

// columnPath reads names joined by dots, and notes the column.
func (p *parser) columnPath() (*node, error) {
	start := p.peek().start
	path := ""
	for {
		t := p.peek()
		if t.kind != name && t.kind != quoted {
			return nil, mistake(t.start, t.end, "expected the name of a column, not %s", t)
		}
		p.at++
		part := t.value
		if t.kind == quoted && (part == "" || strings.ContainsAny(part, `."[]{}`)) {
			part = `"` + strings.ReplaceAll(part, `"`, `""`) + `"`
		}
		path += part
		if !p.take(".") {
			break
		}
		path += "."
	}
	if p.over && !p.inside {
		return nil, mistake(start, p.tokens[p.at-1].end, "column %s stands outside of the aggregates: count, sum, min, max, avg", path)
	}
	at := slices.Index(p.columns, path)
	if at < 0 {
		at = len(p.columns)
		p.columns = append(p.columns, path)
	}
	return p.made(&node{op: opColumn, column: at}, start), nil
}

func (p *parser) call() (*node, error) {
	t := p.peek()
	p.at += 2 // the name and "("
	n := &node{op: opCall, sign: strings.ToLower(t.value)}
	if !p.take(")") {
		for {
			arg, err := p.or()
			if err != nil {
				return nil, err
			}
			n.args = append(n.args, arg)
			if !p.take(",") {
				break
			}
		}
		if err := p.want(")"); err != nil {
			return nil, err
		}
	}
	return p.made(n, t.start), nil
}

// caseOf reads both forms; the one with a subject compares it with each value.
func (p *parser) caseOf() (*node, error) {
	start := p.peek().start
	p.at++
	var subject *node
	var err error
	if !p.peek().is("when") {
		if subject, err = p.or(); err != nil {
			return nil, err
		}
	}
	n := &node{op: opCase}
	for p.take("when") {
		when, err := p.or()
		if err != nil {
			return nil, err
		}
		if subject != nil {
			when = p.made(&node{op: opCompare, sign: "=", args: []*node{subject, when}}, when.start)
		}
		if err := p.want("then"); err != nil {
			return nil, err
		}
		then, err := p.or()
		if err != nil {
			return nil, err
		}
		n.args = append(n.args, when, then)
	}
	if len(n.args) == 0 {
		return nil, p.want("when")
	}
	last := p.made(&node{op: opLiteral, value: literal{kind: Null}}, p.peek().start)
	if p.take("else") {
		if last, err = p.or(); err != nil {
			return nil, err
		}
	}
	n.args = append(n.args, last)
	if err := p.want("end"); err != nil {
		return nil, err
	}
	return p.made(n, start), nil
}

// castOf reads cast(x as type).
func (p *parser) castOf() (*node, error) {
	start := p.peek().start
	p.at += 2
	arg, err := p.or()
	if err != nil {
		return nil, err
	}
	if err := p.want("as"); err != nil {
		return nil, err
	}
	first, open := p.peek(), 0
	for ; open > 0 || !p.peek().is(")"); p.at++ {
		switch t := p.peek(); {
		case t.kind == endOfText:
			return nil, p.want(")")
		case t.is("("):
			open++
		case t.is(")"):
			open--
		}
	}
	end := p.peek().start
	p.at++
	n := &node{op: opCast, target: strings.TrimSpace(p.source[first.start:end]), args: []*node{arg}}
	if n.typ, err = castType(n.target); err != nil {
		return nil, mistake(first.start, end, "%s", err)
	}
	if p.casts++; p.casts > maxCasts {
		return nil, mistake(start, end, "more than %d casts", maxCasts)
	}
	n.cast = failedMark + uint8(p.casts-1)
	return p.made(n, start), nil
}
