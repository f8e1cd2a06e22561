package policy

import (
	"errors"
	"fmt"
)

// ErrMalformed is the kind of every error of this package: what was given cannot be compiled or asked. The package
// stands below the rooms and imports none of them; the book turns it into an invalid argument.
var ErrMalformed = errors.New("policy: malformed")

type malformedError struct{ text string }

func (e *malformedError) Error() string { return e.text }
func (e *malformedError) Unwrap() error { return ErrMalformed }

func malformed(format string, args ...any) error {
	return &malformedError{fmt.Sprintf(format, args...)}
}
