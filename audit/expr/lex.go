package expr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	endOfText tokenKind = iota
	number
	text   // 'it''s'
	name   // column, keyword or function
	quoted // "name"
	symbol
)

// token is a word of the text. value is what it stands for: a text without its
// quotes.
type token struct {
	kind       tokenKind
	value      string
	start, end int
}

// is reports whether the token is a keyword, in any case, or a symbol.
func (t token) is(word string) bool {
	return (t.kind == name || t.kind == symbol) && strings.EqualFold(t.value, word)
}

func (t token) String() string {
	switch t.kind {
	case endOfText:
		return "the end"
	case text:
		return "'" + t.value + "'"
	}
	return `"` + t.value + `"`
}

// lex splits a text into tokens; the last is endOfText.
func lex(s string) ([]token, error) {
	if len(s) > maxText {
		return nil, mistake(0, 0, "the expression has %d bytes, more than %d", len(s), maxText)
	}
	if !utf8.ValidString(s) {
		return nil, mistake(0, 0, "the expression is not UTF-8")
	}
	var list []token
	for at := 0; ; {
		at += len(s[at:]) - len(strings.TrimLeft(s[at:], " \t\r\n"))
		if at == len(s) {
			return append(list, token{kind: endOfText, start: at, end: at}), nil
		}
		t, err := next(s, at)
		if err != nil {
			return nil, err
		}
		list, at = append(list, t), t.end
	}
}

func next(s string, at int) (token, error) {
	c, size := utf8.DecodeRuneInString(s[at:])
	t := token{start: at}
	switch {
	case c >= '0' && c <= '9' || c == '.' && at+1 < len(s) && s[at+1] >= '0' && s[at+1] <= '9':
		t.kind, t.end = number, at+numberLength(s[at:])
	case c == '\'':
		return delimited(s, at, text)
	case c == '"':
		return delimited(s, at, quoted)
	case c == '_' || unicode.IsLetter(c):
		t.kind, t.end = name, at+size
		for t.end < len(s) {
			c, size := utf8.DecodeRuneInString(s[t.end:])
			if c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
				break
			}
			t.end += size
		}
	default:
		for _, sym := range []string{"<>", "!=", "<=", ">=", "<", ">", "=", "(", ")", ",", ".", "+", "-", "*", "/", "%"} {
			if strings.HasPrefix(s[at:], sym) {
				t.kind, t.end = symbol, at+len(sym)
				t.value = sym
				return t, nil
			}
		}
		if c == '[' || c == '{' {
			return t, mistake(at, at+1, "elements of lists and maps cannot stand in an expression; assert the column itself")
		}
		return t, mistake(at, at+size, "unexpected character %q", c)
	}
	t.value = s[t.start:t.end]
	return t, nil
}

// numberLength measures digits, a fraction and an exponent.
func numberLength(s string) int {
	digits := func(i int) int {
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i
	}
	end := digits(0)
	if end < len(s) && s[end] == '.' {
		end = digits(end + 1)
	}
	if end < len(s) && (s[end] == 'e' || s[end] == 'E') {
		at := end + 1
		if at < len(s) && (s[at] == '+' || s[at] == '-') {
			at++
		}
		if stop := digits(at); stop > at {
			end = stop
		}
	}
	return end
}

// delimited reads a text or name in quotes, in which a doubled quote is one.
func delimited(s string, at int, kind tokenKind) (token, error) {
	quote := s[at]
	var b strings.Builder
	for i := at + 1; i < len(s); i++ {
		if s[i] != quote {
			b.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == quote {
			b.WriteByte(quote)
			i++
			continue
		}
		return token{kind: kind, value: b.String(), start: at, end: i + 1}, nil
	}
	return token{}, mistake(at, len(s), "%c has no end", quote)
}
