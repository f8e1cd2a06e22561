// Package fault holds the kinds of failure that every room and every wire
// agree on. A fault is two-faced: the kind is for programs, the sentence and
// the next step are for people. An error that is not a fault is internal: it
// is logged whole and shown to nobody.
package fault

import (
	"errors"
	"fmt"
)

// Kind says what a caller can do about a failure. The numbers travel in
// stored answers: add at the end, never reorder.
type Kind uint8

// The kinds, in protocol order.
const (
	Internal Kind = iota
	Invalid
	Unauthenticated
	Denied
	NotFound
	Conflict
	Exhausted
	Unavailable
	Pending
)

var kinds = [...]struct {
	name   string
	status int
}{
	Internal:        {"internal", 500},
	Invalid:         {"invalid", 400},
	Unauthenticated: {"unauthenticated", 401},
	Denied:          {"denied", 403},
	NotFound:        {"not_found", 404},
	Conflict:        {"conflict", 409},
	Exhausted:       {"exhausted", 429},
	Unavailable:     {"unavailable", 503},
	Pending:         {"pending", 202},
}

// String is the kind's name on every wire.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k].name
	}
	return kinds[Internal].name
}

// Status is the HTTP status of a kind.
func (k Kind) Status() int {
	if int(k) < len(kinds) {
		return kinds[k].status
	}
	return 500
}

// Parse reads a kind's wire name; an unknown name is Internal.
func Parse(name string) Kind {
	for i, k := range kinds {
		if k.name == name {
			return Kind(i)
		}
	}
	return Internal
}

// Error is a failure that its caller may see.
type Error struct {
	Kind Kind
	Op   string            // where: the operation or room verb, e.g. "board.claim"
	Msg  string            // what happened, one sentence, no trailing period needed
	Next string            // what to do next; empty when there is nothing to do
	Data map[string]string // facts a program can use, e.g. the id of a pending ask
	Err  error             // the cause, for the log only
}

// New makes a fault of a kind, at a place, with a sentence for people.
func New(kind Kind, op, format string, args ...any) *Error {
	e := &Error{Kind: kind, Op: op}
	err := fmt.Errorf(format, args...)
	e.Msg = err.Error()
	e.Err = errors.Unwrap(err)
	return e
}

// WithNext adds what the reader can do about it.
func (e *Error) WithNext(format string, args ...any) *Error {
	e.Next = fmt.Sprintf(format, args...)
	return e
}

// With adds one fact for programs.
func (e *Error) With(key, value string) *Error {
	if e.Data == nil {
		e.Data = map[string]string{}
	}
	e.Data[key] = value
	return e
}

// Error is the sentence alone: doors add kind and next step as they see fit.
func (e *Error) Error() string { return e.Msg }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf is the kind of the first fault in err's chain; anything else is
// Internal.
func KindOf(err error) Kind {
	var f *Error
	if errors.As(err, &f) {
		return f.Kind
	}
	return Internal
}

// Is reports whether err is a fault of that kind.
func Is(err error, kind Kind) bool { return err != nil && KindOf(err) == kind }

// Public is what a stranger may see of err: the fault itself, or a bare
// internal fault that says nothing.
func Public(err error) *Error {
	var f *Error
	if errors.As(err, &f) && f.Kind != Internal {
		return f
	}
	e := New(Internal, "", "internal error").WithNext("look in the server's log: tandem logs --level error")
	e.Err = err
	return e
}

// Clip is a text with at most so many characters: what is quoted in an error, or stands in a row, may be of any length.
func Clip(s string, most int) string {
	n, end := 0, 0
	for i := range s {
		if n++; n == most {
			end = i
		}
		if n > most {
			return s[:end] + "…"
		}
	}
	return s
}
