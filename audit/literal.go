package audit

import (
	"encoding/json"
	"fmt"
	"strings"
)

// literalKind is what a scalar of a checks file is, by YAML 1.2's core schema.
type literalKind uint8

const (
	litNull literalKind = iota
	litBool
	litNumber
	litNaN
	litInf
	litNegInf
	litText
)

// literal is a scalar of a checks file. Its type is decided by how it is
// written, never by the column it is compared with.
type literal struct {
	kind literalKind
	num  number // litNumber
	yes  bool   // litBool
	text string // litText; otherwise the source
	// open: the text holds a variable's value, so that how it is written says
	// nothing; what it is compared with decides.
	open bool
}

// plain resolves an open text as if it were written without quotes.
func (l literal) plain() literal {
	if !l.open {
		return l
	}
	plain, err := plainLiteral(l.text)
	if err != nil {
		return l
	}
	return plain
}

func (k literalKind) String() string {
	return [...]string{"null", "a boolean", "a number", "NaN", "infinity", "infinity", "a text"}[k]
}

// plainLiteral resolves an unquoted scalar. YAML 1.1's `NO`, `on`, dates and
// sexagesimals are texts.
func plainLiteral(text string) (literal, error) {
	switch text {
	case "", "~", "null", "Null", "NULL":
		return literal{kind: litNull, text: text}, nil
	case "true", "True", "TRUE":
		return literal{kind: litBool, yes: true, text: text}, nil
	case "false", "False", "FALSE":
		return literal{kind: litBool, text: text}, nil
	case ".nan", ".NaN", ".NAN":
		return literal{kind: litNaN, text: text}, nil
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return literal{kind: litInf, text: text}, nil
	case "-.inf", "-.Inf", "-.INF":
		return literal{kind: litNegInf, text: text}, nil
	}
	if coreNumber.MatchString(text) {
		n, err := parseNumber(text)
		return literal{kind: litNumber, num: n, text: text}, err
	}
	return literal{kind: litText, text: text}, nil
}

// String is the literal as a message shows it.
func (l literal) String() string {
	switch l.kind {
	case litNumber:
		return l.num.String()
	case litNull:
		return "null"
	case litBool:
		return fmt.Sprint(l.yes)
	case litNaN:
		return "NaN"
	case litInf:
		return "Infinity"
	case litNegInf:
		return "-Infinity"
	}
	return l.text
}

// MarshalJSON keeps kinds apart: texts are strings, numbers `{"number": "1.5"}`.
func (l literal) MarshalJSON() ([]byte, error) {
	switch l.kind {
	case litNull:
		return []byte("null"), nil
	case litBool:
		return json.Marshal(l.yes)
	case litText:
		return json.Marshal(l.text)
	}
	return json.Marshal(map[string]string{"number": l.String()})
}

// substitute replaces `${name}` by what lookup returns. `$${` is a literal `${`.
// It returns an error for a name that lookup does not know and for a `${`
// without end.
func substitute(text string, lookup func(name string) (string, error)) (string, error) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var out strings.Builder
	for {
		start := strings.Index(text, "${")
		if start < 0 {
			out.WriteString(text)
			return out.String(), nil
		}
		if start > 0 && text[start-1] == '$' {
			out.WriteString(text[:start-1] + "${")
			text = text[start+2:]
			continue
		}
		end := strings.IndexByte(text[start:], '}')
		if end < 0 {
			return "", fmt.Errorf("%q has \"${\" without \"}\"", text)
		}
		value, err := lookup(text[start+2 : start+end])
		if err != nil {
			return "", err
		}
		out.WriteString(text[:start] + value)
		text = text[start+end+1:]
	}
}
