package expr

// op says what a node does with its operands.
type op uint8

const (
	opColumn op = iota
	opLiteral
	opAnd
	opOr
	opNot
	opCompare // sign is the operator
	opIn
	opLike
	opIsNull
	opArith // sign is the operator
	opNegate
	opCase // when, then, …, else
	opCall // sign is the function
	opCast
	opAggregate // sign is the function, column its place among the calls
)

// node is one part of an expression.
type node struct {
	op         op
	sign       string
	args       []*node
	start, end int
	id         int // for the evaluator's buffers

	typ    Type
	column int     // opColumn: position among the columns; round: digits
	value  literal // opLiteral
	target string  // opCast: the type as it was written
	cast   uint8   // opCast: its mark
	set    *set    // opIn
	match  func([]byte) bool
	only   int // the one column it depends on, -1 for none, -2 for several
}

const (
	noColumn       = -1
	severalColumns = -2
)

// literal is a value that stands in the text. Numbers and texts are kept as they
// are written until what they are compared with is known.
type literal struct {
	kind  Kind
	num   decimal // Number, Date, Time, Timestamp, Instant
	text  string  // Text, Binary
	yes   bool    // Bool
	float float64 // Float
}
