package scan

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotParquet: the file does not end (or begin) with Parquet's magic bytes.
// It is wrapped in an [*Error].
var ErrNotParquet = errors.New("not a Parquet file")

// Reason classifies an [Error] for callers that act on it.
type Reason string

const (
	// BadFooter: the footer is missing, truncated, or contradicts itself.
	BadFooter Reason = "footer"
	// BadPage: a page header or body cannot be decoded.
	BadPage Reason = "page"
	// BadChecksum: a page's bytes differ from its CRC.
	BadChecksum Reason = "checksum"
	// BadRows: counts of rows or values disagree.
	BadRows Reason = "rows"
	// OverBudget: decoding would need more memory than Options allows.
	OverBudget Reason = "budget"
	// Unsupported: a codec, an encoding or encryption that this package does
	// not read. The file may be sound.
	Unsupported Reason = "unsupported"
)

// Error is a fault of the file, as opposed to one of its [Source].
type Error struct {
	Reason   Reason
	RowGroup int    // -1 when not about a row group
	Column   string // the column's path; empty when not about a column
	Page     int    // ordinal in the column chunk, dictionary included; -1 when not about a page
	Offset   int64  // where in the file; -1 when unknown
	Err      error  // what is wrong, without the place; never nil
}

func (e *Error) Error() string {
	var b strings.Builder
	if e.RowGroup >= 0 {
		fmt.Fprintf(&b, "row group %d: ", e.RowGroup)
	}
	if e.Column != "" {
		fmt.Fprintf(&b, "column %s: ", e.Column)
	}
	switch {
	case e.Page >= 0 && e.Offset >= 0:
		fmt.Fprintf(&b, "page %d at byte %d: ", e.Page, e.Offset)
	case e.Page >= 0:
		fmt.Fprintf(&b, "page %d: ", e.Page)
	case e.Offset >= 0:
		fmt.Fprintf(&b, "byte %d: ", e.Offset)
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// SourceError is an error of the [Source] with the place that was being read.
type SourceError struct {
	RowGroup int
	Column   string
	Err      error
}

func (e *SourceError) Error() string {
	return fmt.Sprintf("row group %d: column %s: %s", e.RowGroup, e.Column, e.Err)
}

func (e *SourceError) Unwrap() error { return e.Err }

// fileError is an error about the file as a whole.
func fileError(r Reason, format string, args ...any) *Error {
	return &Error{Reason: r, RowGroup: -1, Page: -1, Offset: -1, Err: fmt.Errorf(format, args...)}
}

// fault carries a reason up to the place that knows row group, column and page.
type fault struct {
	reason Reason
	err    error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

func faultf(r Reason, format string, args ...any) error {
	return &fault{reason: r, err: fmt.Errorf(format, args...)}
}

// contain runs fn, a call into a library that may panic on hostile bytes, and
// turns such a panic into an error of the given reason. It never turns an error
// into success, and none of this package's own decoders run inside it.
func contain(r Reason, fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = faultf(r, "decoder panicked: %v", p)
		}
	}()
	return fn()
}
