package wap

import (
	"errors"
	"fmt"

	"github.com/wap-cli/wap/wap/store"
)

// Kind tells failures apart for callers that act on them; it is part of --json.
type Kind string

// The kinds of failure.
const (
	KindCommandFailed Kind = "command_failed"
	KindOutside       Kind = "outside" // the store, the network, a signal: before the commit
	KindUsage         Kind = "usage"   // the call itself, or its configuration
	KindNoWarehouse   Kind = "no_warehouse"
	KindNested        Kind = "nested_warehouse"
	KindNewerFormat   Kind = "newer_format"
	KindNotFound      Kind = "not_found" // a path, run or reference that is not there
	KindGateClosed    Kind = "gate_closed"
	KindOutputRefused Kind = "output_refused"
	KindConflict      Kind = "conflict"
	KindLate          Kind = "late"    // the run was frozen without this task
	KindStopped       Kind = "stopped" // aborted, collected or undone
	KindSuperseded    Kind = "superseded"
	KindUnknown       Kind = "outcome_unknown"
	KindInputChanged  Kind = "input_changed"
	KindDifferent     Kind = "different_output"
	KindNotReady      Kind = "input_not_ready"
	KindTasksMissing  Kind = "tasks_missing"
	KindNotEvaluated  Kind = "not_evaluated" // an assertion, for an outside reason
	KindStoreBroken   Kind = "store_broken"
)

// Exit is one row of the table of exit codes.
type Exit struct {
	Code      int
	Meaning   string
	Published string // by this call
	Scheduler string // what a scheduler should do
	Kinds     []Kind
}

// Exits is the table of exit codes: the API that schedulers see.
func Exits() []Exit {
	return []Exit{
		{0, "done, or done already by this run", "yes (publish)", "go on", nil},
		{1, "failed before the commit: the command, or an outside reason", "no", "retry",
			[]Kind{KindCommandFailed, KindOutside}},
		{2, "usage or configuration; no warehouse there, a nested or a newer one; a path that is not there", "no", "stop",
			[]Kind{KindUsage, KindNoWarehouse, KindNested, KindNewerFormat, KindNotFound}},
		{3, "the gate is closed: an assertion failed or cannot be evaluated on this data, or the output was refused", "no", "stop; fix data or rules, redo",
			[]Kind{KindGateClosed, KindOutputRefused}},
		{4, "lost: another run changed the partition, or this run was frozen without the task, stopped or superseded", "no", "stop",
			[]Kind{KindConflict, KindLate, KindStopped, KindSuperseded}},
		{5, "unknown: the commit may have happened", "maybe", "run the same command again (safe)",
			[]Kind{KindUnknown}},
		{6, "a pinned input changed", "no", "stop; redo", []Kind{KindInputChanged}},
		{7, "a retry produced different data for the same run", "the first one stands", "stop; fix the task",
			[]Kind{KindDifferent}},
		{8, "not now: an assertion could not be evaluated for an outside reason, tasks are missing, an input is not ready", "no", "retry later",
			[]Kind{KindNotReady, KindTasksMissing, KindNotEvaluated}},
		{9, "the store broke its contract", "unknown", "stop; an operator", []Kind{KindStoreBroken}},
	}
}

// Error is a failure with its kind and what to do about it.
type Error struct {
	Kind    Kind
	Message string
	Hint    string // what to type next, or empty
	Err     error  // the cause, may be nil
}

func (e *Error) Error() string {
	if e.Err != nil && e.Message == "" {
		return e.Err.Error()
	}
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}
	return e.Message
}

func (e *Error) Unwrap() error { return e.Err }

// Code is the exit code of an error: 0 for nil, 1 for an error of no kind.
func Code(err error) int {
	var e *Error
	if err == nil {
		return 0
	}
	if errors.As(err, &e) {
		for _, x := range Exits() {
			for _, k := range x.Kinds {
				if k == e.Kind {
					return x.Code
				}
			}
		}
	}
	return 1
}

// failf makes an error of a kind.
func failf(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// hint returns e with what to type next.
func (e *Error) hint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// because returns e with its cause. What is known to help is the hint of an
// outside failure that has none; a bucket that is not there stays away.
func (e *Error) because(err error) *Error {
	e.Err = err
	if e.Kind != KindOutside || err == nil {
		return e
	}
	if errors.Is(err, store.ErrNoBucket) {
		e.Kind = KindNotFound
	}
	if e.Hint == "" {
		e.Hint = store.Remedy(err)
	}
	return e
}

// OpenError is the failure to open a store, for what the text names if it is not
// empty: usage, not_found or outside, with what to do about it.
func OpenError(what string, err error) *Error {
	var known *Error
	switch {
	case errors.As(err, &known):
		return &Error{Kind: known.Kind, Message: what, Hint: known.Hint, Err: err}
	case errors.Is(err, store.ErrConfig):
		return failf(KindUsage, "%s", what).because(err)
	}
	return outside("%s", what).because(err)
}

// isKind reports whether err is of the kind.
func isKind(err error, kind Kind) bool {
	var e *Error
	return errors.As(err, &e) && e.Kind == kind
}
