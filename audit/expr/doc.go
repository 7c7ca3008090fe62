// Package expr is the SQL expressions of checks files: parser, type checker, and
// an evaluator over batches of columns.
//
// [Compile] reads a text and checks its types; a column whose type is not known
// yet agrees with everything. Numbers that are integers or decimals are exact,
// whatever their size; a division is a double, and NULL where an exact divisor is
// 0. Floats follow IEEE 754: NaN equals nothing. Texts are bytes of UTF-8,
// counted in code points. Logic has three values; a cast that has no value makes
// the rows whose result depends on it fail.
package expr

import "fmt"

// Error is a mistake in an expression. Offset and End are the bytes of the text
// that it is about.
type Error struct {
	Offset, End int
	Message     string
}

func (e *Error) Error() string { return e.Message }

func mistake(start, end int, format string, args ...any) error {
	return &Error{Offset: start, End: end, Message: fmt.Sprintf(format, args...)}
}

const (
	maxText  = 16 << 10 // bytes of an expression
	maxDepth = 100      // of nesting
	maxCasts = 200      // each has a mark of its own
)
