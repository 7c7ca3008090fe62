package differential

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// term is an expression in the words of both.
type term struct{ wap, duck string }

func (t term) in(format string) term {
	return term{fmt.Sprintf(format, t.wap), fmt.Sprintf(format, t.duck)}
}

// grammar makes random expressions over a table's columns.
type grammar struct {
	r       *rand.Rand
	columns []column
}

func (g grammar) one(choices ...func() (term, bool)) term {
	for {
		if t, ok := choices[g.r.IntN(len(choices))](); ok {
			return t
		}
	}
}

// scalars are the columns with a value a row.
func (g grammar) scalars() []column {
	return slices.DeleteFunc(slices.Clone(g.columns), func(c column) bool { return c.kind == lists })
}

// pick is a column with a value a row, of some kinds.
func (g grammar) pick(fits func(kind) bool) (column, bool) {
	list := slices.DeleteFunc(g.scalars(), func(c column) bool { return !fits(c.kind) })
	if len(list) == 0 {
		return column{}, false
	}
	return list[g.r.IntN(len(list))], true
}

// condition is a boolean of three values.
func (g grammar) condition(depth int) term {
	if depth > 0 && g.r.IntN(2) == 0 {
		a, b := g.condition(depth-1), g.condition(depth-1)
		switch g.r.IntN(5) {
		case 0:
			return a.in("not (%s)")
		case 1:
			c := g.condition(0)
			format := "case when %s then %s else %s end"
			return term{fmt.Sprintf(format, a.wap, b.wap, c.wap), fmt.Sprintf(format, a.duck, b.duck, c.duck)}
		case 2:
			return term{"(" + a.wap + " or " + b.wap + ")", "(" + a.duck + " or " + b.duck + ")"}
		}
		return term{"(" + a.wap + " and " + b.wap + ")", "(" + a.duck + " and " + b.duck + ")"}
	}
	return g.one(g.isNull, g.compareExact, g.compareExact, g.compareFloat, g.compareText, g.compareTime, g.oneOf, g.between, g.like, g.flag, g.day)
}

func (g grammar) isNull() (term, bool) {
	c, _ := g.pick(func(kind) bool { return true })
	return term{c.name, c.name}.in("%s is " + []string{"null", "not null"}[g.r.IntN(2)]), true
}

func (g grammar) sign() string { return []string{"=", "<>", "<", "<=", ">", ">="}[g.r.IntN(6)] }

func (g grammar) compareExact() (term, bool) {
	a, ok := g.number(1)
	if !ok {
		return a, false
	}
	b, _ := g.number(1)
	if c, ok := g.pick(kind.exact); ok && g.r.IntN(2) == 0 {
		b.wap, b.duck = c.literal(g.r)
	}
	sign := g.sign()
	return term{a.wap + " " + sign + " " + b.wap, a.duck + " " + sign + " " + b.duck}, true
}

// number is an exact number. Its absolute value stays below 10^26.
func (g grammar) number(depth int) (term, bool) {
	c, ok := g.pick(kind.exact)
	text, isText := g.pick(func(k kind) bool { return k == texts })
	if !ok && !isText {
		return term{}, false
	}
	if !ok || isText && g.r.IntN(6) == 0 {
		return term{"length(" + text.name + ")", "CAST(length(" + text.name + ") AS " + wide + ")"}, true
	}
	t := term{c.name, c.wide()}
	if depth == 0 {
		return t, true
	}
	o, _ := g.number(0)
	n := fmt.Sprint(g.r.IntN(9) + 1)
	switch g.r.IntN(9) {
	case 0:
		return term{"(" + t.wap + " + " + o.wap + ")", "(" + t.duck + " + " + o.duck + ")"}, true
	case 1:
		return term{"(" + t.wap + " - " + o.wap + ")", "(" + t.duck + " - " + o.duck + ")"}, true
	case 2:
		return term{t.wap + " * " + n, t.duck + " * CAST(" + n + " AS DECIMAL(38,0))"}, true
	case 3:
		return t.in("abs(%s)"), true
	case 4:
		return term{"coalesce(" + t.wap + ", " + o.wap + ")", "coalesce(" + t.duck + ", " + o.duck + ")"}, true
	case 5:
		return t.in("-%s"), true
	case 6:
		if c.kind == decimals && c.duck != "DECIMAL(38,5)" && c.duck != "DECIMAL(30,0)" && g.r.IntN(2) == 0 {
			return term{"cast(" + t.wap + " as bigint)", "CAST(CAST(" + c.name + " AS BIGINT) AS " + wide + ")"}, true
		}
		if c.kind == integers {
			return term{t.wap + " % " + n, "CAST(CAST(" + c.name + " AS HUGEINT) % " + n + " AS DECIMAL(38,0))"}, true
		}
		return term{"round(" + t.wap + ", 1)", "CAST(round(" + t.duck + ", 1) AS " + wide + ")"}, true
	case 7:
		p := g.condition(0)
		format := "case when %s then %s else %s end"
		return term{fmt.Sprintf(format, p.wap, t.wap, o.wap), fmt.Sprintf(format, p.duck, t.duck, o.duck)}, true
	}
	return t, true
}

// compareFloat compares floats of one width, or quotients of small integers.
func (g grammar) compareFloat() (term, bool) {
	name := []string{"feq", "fne", "flt", "fle", "fgt", "fge"}[g.r.IntN(6)]
	sign := comparisons()[name]
	compared := func(a, b term) (term, bool) {
		return term{a.wap + " " + sign + " " + b.wap, name + "(" + a.duck + ", " + b.duck + ")"}, true
	}
	c, ok := g.pick(kind.floating)
	if !ok {
		return g.quotient(compared)
	}
	a := term{c.name, c.name}
	var b term
	b.wap, b.duck = c.literal(g.r)
	same := slices.DeleteFunc(slices.Clone(g.columns), func(o column) bool { return o.kind != c.kind })
	o := same[g.r.IntN(len(same))]
	other := term{o.name, o.name}
	if g.r.IntN(2) == 0 {
		b = other
	}
	small := slices.DeleteFunc(slices.Clone(g.columns), func(o column) bool { return o.kind != integers || strings.HasSuffix(o.duck, "BIGINT") })
	if c.kind == doubles && len(small) > 0 && g.r.IntN(3) == 0 {
		name := small[g.r.IntN(len(small))].name
		b = term{name, "CAST(" + name + " AS DOUBLE)"} // exact
	}
	if c.kind == doubles && g.r.IntN(2) == 0 {
		if i, ok := g.pick(func(k kind) bool { return k == integers }); ok && g.r.IntN(3) == 0 {
			other = term{"cast(" + i.name + " as double)", "CAST(" + i.name + " AS DOUBLE)"}
		}
		by := []string{"+", "-", "*"}[g.r.IntN(3)]
		a = term{"(" + a.wap + " " + by + " " + other.wap + ")", "(" + a.duck + " " + by + " " + other.duck + ")"}
	}
	if g.r.IntN(5) == 0 {
		a = a.in("abs(%s)")
	}
	return compared(a, b)
}

func (g grammar) quotient(compared func(a, b term) (term, bool)) (term, bool) {
	small := func(c column) bool {
		return c.kind == integers && !strings.HasSuffix(c.duck, "BIGINT")
	}
	list := slices.DeleteFunc(slices.Clone(g.columns), func(c column) bool { return !small(c) })
	if len(list) == 0 {
		return term{}, false
	}
	a, b := list[g.r.IntN(len(list))].name, list[g.r.IntN(len(list))].name
	n := fmt.Sprintf("%d.5", g.r.IntN(4))
	return compared(term{a + " / " + b, fmt.Sprintf("CASE WHEN %s <> 0 THEN CAST(%s AS DOUBLE) / CAST(%s AS DOUBLE) END", b, a, b)},
		term{n, "CAST(" + n + " AS DOUBLE)"})
}

func (g grammar) text(depth int) (term, bool) {
	if i, ok := g.pick(func(k kind) bool { return k == integers || k == dates || k == booleans }); ok && depth > 0 && g.r.IntN(4) == 0 {
		return term{i.name, i.name}.in("cast(%s as varchar)"), true
	}
	c, ok := g.pick(func(k kind) bool { return k == texts })
	t := term{c.name, c.name}
	if !ok || depth == 0 {
		return t, ok
	}
	switch g.r.IntN(6) {
	case 0:
		return t.in("lower(%s)"), true
	case 1:
		return t.in("upper(%s)"), true
	case 2:
		return t.in("trim(%s)"), true
	case 3:
		return t.in(fmt.Sprintf("substr(%%s, %d, %d)", g.r.IntN(4)+1, g.r.IntN(4))), true
	case 4:
		return t.in(fmt.Sprintf("substr(%%s, %d)", g.r.IntN(4)+1)), true
	}
	return t, true
}

func (g grammar) compareText() (term, bool) {
	a, ok := g.text(1)
	if !ok {
		return a, false
	}
	b, ok := g.text(0)
	if !ok || g.r.IntN(3) > 0 {
		c := column{kind: texts, duck: "VARCHAR"}
		if other, ok := g.pick(func(k kind) bool { return k == texts }); ok {
			c = other
		}
		b.wap, b.duck = c.literal(g.r)
	}
	sign := g.sign()
	return term{a.wap + " " + sign + " " + b.wap, a.duck + " " + sign + " " + b.duck}, true
}

func (g grammar) compareTime() (term, bool) {
	c, ok := g.pick(kind.time)
	if !ok {
		return term{}, false
	}
	wap, duck := c.literal(g.r)
	sign := g.sign()
	return term{c.name + " " + sign + " " + wap, c.name + " " + sign + " " + duck}, true
}

// day compares the day that a time lies in.
func (g grammar) day() (term, bool) {
	c, ok := g.pick(func(k kind) bool { return k == locals || k == instants })
	if !ok {
		return term{}, false
	}
	d := column{kind: dates, duck: "DATE"}
	wap, duck := d.literal(g.r)
	sign := g.sign()
	return term{"date(" + c.name + ") " + sign + " " + wap, "CAST(" + c.name + " AS DATE) " + sign + " " + duck}, true
}

func (g grammar) oneOf() (term, bool) {
	c, ok := g.pick(func(k kind) bool { return k != booleans })
	if !ok {
		return term{}, false
	}
	var wap, duck []string
	for range 1 + g.r.IntN(4) {
		w, d := c.literal(g.r)
		wap, duck = append(wap, w), append(duck, d)
	}
	if g.r.IntN(6) == 0 {
		wap, duck = append(wap, "null"), append(duck, "null")
	}
	not := []string{"", "not "}[g.r.IntN(2)]
	return term{c.name + " " + not + "in (" + strings.Join(wap, ", ") + ")", c.wide() + " " + not + "in (" + strings.Join(duck, ", ") + ")"}, true
}

func (g grammar) between() (term, bool) {
	c, ok := g.pick(func(k kind) bool { return k != booleans && !k.floating() })
	if !ok {
		return term{}, false
	}
	lw, ld := c.literal(g.r)
	hw, hd := c.literal(g.r)
	not := []string{"", "not "}[g.r.IntN(2)]
	return term{c.name + " " + not + "between " + lw + " and " + hw, c.wide() + " " + not + "between " + ld + " and " + hd}, true
}

func (g grammar) like() (term, bool) {
	t, ok := g.text(1)
	if !ok {
		return t, false
	}
	if g.r.IntN(3) == 0 {
		p := patterns()[g.r.IntN(len(patterns()))]
		return term{"regexp_like(" + t.wap + ", '" + p + "')", "regexp_full_match(" + t.duck + ", '" + p + "')"}, true
	}
	p := []string{"a%", "%a", "_", "%", "", "%o%", "foo", "__%", "%b_r", "%ä%"}[g.r.IntN(10)]
	if g.r.IntN(5) == 0 {
		return t.in("%s like '%%!%%%%' escape '!'"), true
	}
	return term{t.wap + " like '" + p + "'", t.duck + " like '" + p + "'"}, true
}

func patterns() []string {
	return []string{"[a-z]+", "a|ab", "^foo|bar$", ".", ".*", "(?i)foo", "a*", "[^x]*", `\w+\s?`, `\d{2,}`, "", "é?.+", `\pL+`}
}

func (g grammar) flag() (term, bool) {
	c, ok := g.pick(func(k kind) bool { return k == booleans })
	if !ok {
		return term{}, false
	}
	return term{c.name, c.name}.in([]string{"%s", "%s = true", "%s <> false", "coalesce(%s, true)"}[g.r.IntN(4)]), true
}
