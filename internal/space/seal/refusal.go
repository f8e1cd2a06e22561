package seal

import (
	"errors"
	"fmt"
)

// ErrRefused is matched by every error that means "this input is not genuine,
// not for us, or not in order", as opposed to a failure of ours.
var ErrRefused = errors.New("refused")

// ErrEpoch is matched when the input belongs to another epoch than the one at
// hand: the sender should fetch the newer commits and seal again.
var ErrEpoch = errors.New("another epoch")

// ErrOrder is matched when a sender's sequence repeats or skips.
var ErrOrder = errors.New("out of sequence")

type refusal struct {
	text string
	kind error
}

func (r *refusal) Error() string        { return r.text }
func (r *refusal) Is(target error) bool { return target == ErrRefused || target == r.kind }

func refuse(format string, args ...any) error {
	return &refusal{text: fmt.Sprintf(format, args...), kind: ErrRefused}
}

func refuseKind(kind error, format string, args ...any) error {
	return &refusal{text: fmt.Sprintf(format, args...), kind: kind}
}
