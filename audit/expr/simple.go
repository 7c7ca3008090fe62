package expr

// Simple reports whether a condition compares columns with literals alone, put
// together by and, or and not: whether rows satisfy it then depends on nothing
// but where their values lie between the literals. The error is an [*Error].
func Simple(text string) (bool, error) {
	root, _, err := parse(text)
	if err != nil {
		return false, err
	}
	return simple(root), nil
}

func simple(n *node) bool {
	switch n.op {
	case opAnd, opOr, opNot:
		for _, a := range n.args {
			if !simple(a) {
				return false
			}
		}
		return true
	case opIsNull:
		return n.args[0].op == opColumn
	case opColumn:
		return true
	case opCompare, opIn:
		columns := 0
		for _, a := range n.args {
			switch {
			case a.op == opColumn:
				columns++
			case !isConstant(a):
				return false
			}
		}
		return columns <= 1
	}
	return false
}

func isConstant(n *node) bool {
	return n.op == opLiteral || n.op == opNegate && isConstant(n.args[0])
}

// Constants lists the numbers and texts that stand in an expression, as they are
// written; of numbers, the negated ones too. The error is an [*Error].
func Constants(s string) (numbers, texts []string, err error) {
	tokens, err := lex(s)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range tokens {
		switch t.kind {
		case number:
			numbers = append(numbers, t.value, "-"+t.value)
		case text:
			texts = append(texts, t.value)
		}
	}
	return numbers, texts, nil
}
