package browsertest

import (
	"bytes"
	"context"
	"fmt"
	"time"
)

// watched takes what a script writes to standard error, and ends a script that has written nothing for a while. patient.cjs writes a zero
// byte whenever the browser did something: such bytes are signs of life, and not kept.
type watched struct {
	text    bytes.Buffer
	patient time.Duration
	last    *time.Timer
}

func newWatched(patient time.Duration, stop context.CancelCauseFunc) *watched {
	return &watched{patient: patient, last: time.AfterFunc(patient, func() { stop(fmt.Errorf("nothing happened for %v", patient)) })}
}

func (w *watched) Write(p []byte) (int, error) {
	w.last.Reset(w.patient)
	w.text.Write(bytes.ReplaceAll(p, []byte{0}, nil))
	return len(p), nil
}

func (w *watched) end() { w.last.Stop() }
