package job

import (
	"context"
	"errors"

	"tandem/internal/fault"
)

// silent says that git could not say now: it was given up, or ended. Whatever else it says is an answer, and stays one.
func silent(err error) bool {
	return fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Exhausted) || errors.Is(err, context.Canceled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// answers is what git said: its silence is an error, and what it refused is nothing.
func answers[T any](said T, err error) (T, error) {
	var nothing T
	switch {
	case silent(err):
		return nothing, err
	case err != nil:
		return nothing, nil
	}
	return said, nil
}

// noWord is the silence of git about a job, which does not fail for it.
type noWord struct{ error }

func (n noWord) Unwrap() error { return n.error }

// marked marks what is no answer.
func marked(err error) error {
	if fault.Is(err, fault.Unavailable) {
		return noWord{err}
	}
	return err
}

// leftBy takes a job out of its queue by an answer of git's; of its silence nothing comes.
func (r *Room) leftBy(ctx context.Context, j *Job, err error) error {
	if silent(err) {
		return err
	}
	return r.unqueue(ctx, j, fault.Public(err).Msg)
}
