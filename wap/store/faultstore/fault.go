package faultstore

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a way to fail.
type Kind int

const (
	// NoFault is the zero Kind; a Fault must have another.
	NoFault Kind = iota
	// FailBefore returns an error and does nothing: the request was lost.
	FailBefore
	// FailAfter does it and returns an error: the answer was lost. The body of
	// a GetRange breaks off half-way; a List yields everything, then the error.
	FailAfter
	// ActLater returns an error at once; the write lands when the test calls
	// Release, under its conditions of that time: a zombie. Writes only.
	ActLater
	// ActTwice does it twice and returns the second answer: a retry that the
	// caller does not see, which turns a landed Create or Swap into a refusal.
	// Writes only.
	ActTwice
	// StaleGet answers a Get with the object as it was one write earlier, or
	// with ErrNotFound if it was created by that write. It counts what went
	// through the Recorder, and cannot happen to objects with no such past.
	StaleGet
	// ActRefused does it and answers ErrExists or ErrVersionMismatch. Create
	// and Swap only.
	ActRefused
	// NoVersion does it and answers success without a version. Create, Swap
	// and Upload only.
	NoVersion
	// HollowSuccess does nothing and answers success without a version, as an
	// empty or foreign page with status 200 does. Create, Swap and Upload only.
	HollowSuccess
	// PartialList yields about half of the entries, then an error: a page
	// failed. List only.
	PartialList
	// ShortList yields about half of the entries and ends as if that were all,
	// which no store that keeps the contract does. List only.
	ShortList
)

var kindNames = [...]string{
	"none", "fail before", "fail after", "act later", "act twice", "stale get", "act refused",
	"no version", "hollow success", "partial list", "short list",
}

func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind %d", int(k))
	}
	return kindNames[k]
}

// verbs that a kind can happen to.
func (k Kind) verbs() []Verb {
	switch k {
	case FailBefore, FailAfter:
		return Verbs()
	case ActLater, ActTwice:
		return []Verb{Create, Swap, Upload, Delete}
	case StaleGet:
		return []Verb{Get}
	case ActRefused:
		return []Verb{Create, Swap}
	case NoVersion, HollowSuccess:
		return []Verb{Create, Swap, Upload}
	case PartialList, ShortList:
		return []Verb{List}
	}
	return nil
}

// Fault plans one failure: of the N-th operation, counted from 1, among those
// that Verb and Key select and that Kind can happen to. It happens once.
type Fault struct {
	Kind Kind
	Verb Verb   // "" selects every verb
	Key  string // a piece of the key or prefix; "" selects every key
	N    int    // 0 is 1
	Err  error  // what the caller gets; nil is ErrInjected
}

func (f *Fault) matches(op *Op) bool {
	return (f.Verb == "" || f.Verb == op.Verb) && strings.Contains(op.Key, f.Key) &&
		slices.Contains(f.Kind.verbs(), op.Verb)
}

func (f *Fault) err(op *Op) error {
	err := f.Err
	if err == nil {
		err = ErrInjected
	}
	return fmt.Errorf("%s %q: %w", op.Verb, op.Key, err)
}

func (f Fault) String() string {
	verb := string(f.Verb)
	if verb == "" {
		verb = "operation"
	}
	return fmt.Sprintf("%s at %s %d on keys with %q", f.Kind, verb, max(f.N, 1), f.Key)
}
