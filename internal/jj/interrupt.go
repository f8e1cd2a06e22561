package jj

import (
	"context"
	"errors"
	"fmt"

	"tandem/internal/repo"
)

// interruptedCode is the exit code of a command that Ctrl-C ended, as shells
// have it.
const interruptedCode = 130

// whole is the context of what is done to its end once it has begun: git's refs,
// the operation and the files belong together. Before it is the last chance to
// stop.
func whole(ctx context.Context) (context.Context, error) {
	return context.WithoutCancel(ctx), ctx.Err()
}

// made is an operation that this command has published.
type made struct {
	id          repo.OperationID
	description string
}

// interrupted says what a command did before it was interrupted.
func (e *env) interrupted(err error) int {
	if !errors.Is(err, context.Canceled) {
		e.ui.fail(err)
	}
	e.ui.flush()
	if len(e.made) == 0 {
		fmt.Fprintln(e.io.Stderr, "Interrupted. Nothing was changed.")
		return interruptedCode
	}
	fmt.Fprintln(e.io.Stderr, "Interrupted. This was done before, and stays:")
	for _, m := range e.made {
		fmt.Fprintf(e.io.Stderr, "  %s %s\n", m.id.Hex()[:12], m.description)
	}
	e.ui.hintf("See what was done: jj op log; take the last of it back: jj undo")
	return interruptedCode
}
