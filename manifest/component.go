package manifest

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// componentParser reads one component of a path.
type componentParser struct {
	path   string // the whole, for errors
	offset int    // of the component
	stars  stars
}

func (p componentParser) fail(at int, reason, remedy string) error {
	return &SyntaxError{Text: p.path, Offset: p.offset + at, Reason: reason, Remedy: remedy}
}

func (p componentParser) parse(text string) (component, error) {
	switch {
	case text == "":
		return component{}, p.fail(0, "an empty part", "write single slashes, and none at the end")
	case text == "*" && p.stars == allowStars:
		return component{star: true}, nil
	}
	key, value, isKey := strings.Cut(text, "=")
	if !isKey {
		name, err := p.unescape(0, text)
		if err != nil {
			return component{}, err
		}
		return component{value: name}, p.checkVisible(name)
	}
	c := component{}
	var err error
	switch {
	case key == "":
		return c, p.fail(0, "a value without a key", "write KEY=VALUE")
	case value == "":
		return c, p.fail(len(text), "a key without a value", "write KEY=VALUE; null is "+nullValue)
	}
	if c.key, err = p.unescape(0, key); err != nil {
		return c, err
	}
	if err := p.checkVisible(c.key); err != nil {
		return c, err
	}
	if value == "*" && p.stars == allowStars {
		c.star = true
		return c, nil
	}
	c.value, err = p.unescape(len(key)+1, value)
	return c, err
}

// nullValue is Hive's spelling of a key that is null or empty.
const nullValue = "__HIVE_DEFAULT_PARTITION__"

// checkVisible refuses names that readers skip or that mean another folder.
func (p componentParser) checkVisible(name string) error {
	switch {
	case name == "." || name == "..":
		return p.fail(0, fmt.Sprintf("a part %q", name), "write the path without it")
	case name[0] == '_' || name[0] == '.':
		return p.fail(0, fmt.Sprintf("the name %q is hidden from readers", name), "let it begin with neither _ nor .")
	}
	return nil
}

// checkOrder refuses c after what came before it; last says whether it ends the
// path.
func (p componentParser) checkOrder(c component, before []component, last bool) error {
	switch {
	case len(before) == 0 && (c.key != "" || c.star):
		return p.fail(0, "no table stands before it", "write TABLE/"+c.String())
	case c.star && c.key == "" && !last:
		return p.fail(0, "a * before the end names no key", "write KEY=*")
	case c.star && c.key == "":
		return nil
	case c.key == "" && len(before) > 0 && before[len(before)-1].key != "":
		return p.fail(0, fmt.Sprintf("%q stands after a key and is none", c.value), "write the table first, then KEY=VALUE")
	}
	return nil
}

func (p componentParser) unescape(at int, s string) (string, error) {
	if i := strings.IndexByte(s, '*'); i >= 0 {
		if p.stars == allowStars {
			return "", p.fail(at+i, "a * beside other text", "let * stand for a whole value, or write %2A")
		}
		return "", p.fail(at+i, "a * makes this a pattern, not a partition", "write the value; a * in it is %2A")
	}
	out, err := UnescapeValue(s)
	if err != nil {
		var at2 *escapeError
		if errors.As(err, &at2) {
			at += at2.offset
		}
		return "", p.fail(at, err.Error(), "write a percent sign as %25")
	}
	return out, nil
}

// escaped are the printable characters that EscapeValue escapes: those of Hive
// and Spark, and with them the space, which not every reader of a listing
// expects in a key, and `@`, which starts a reference.
const escaped = "\"#%'*/:=?\\{[]^ @"

// EscapeValue is s as it stands in a path. Control characters and the
// characters `"#%'*/:=?\{[]^@` and space become %XX, upper case; everything
// else, UTF-8 included, stays.
func EscapeValue(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case isControl(r):
			for _, c := range []byte(s[i : i+utf8.RuneLen(r)]) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
		case r < utf8.RuneSelf && strings.IndexByte(escaped, byte(r)) >= 0:
			fmt.Fprintf(&b, "%%%02X", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// escapeError is a broken escape and where it stands.
type escapeError struct {
	offset int
	text   string
}

func (e *escapeError) Error() string { return fmt.Sprintf("%q is no escape %%XX", e.text) }

// UnescapeValue is the inverse of EscapeValue; it also takes lower-case digits
// and characters that need no escape. A `%` without two hex digits, a NUL, and
// escapes that are not UTF-8 together are errors.
func UnescapeValue(s string) (string, error) {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		text := s[i:min(i+3, len(s))]
		var c byte
		if len(text) < 3 || !isHex(text[1]) || !isHex(text[2]) {
			return "", &escapeError{offset: i, text: text}
		}
		if _, err := fmt.Sscanf(text[1:], "%02x", &c); err != nil || c == 0 {
			return "", &escapeError{offset: i, text: text}
		}
		b = append(b, c)
		i += 2
	}
	if !utf8.Valid(b) {
		return "", errors.New("the escapes are not UTF-8")
	}
	return string(b), nil
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
