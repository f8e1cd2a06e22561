package jj

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// tracef tells what is being done, with --debug. Settings may hold secrets and
// are not told.
func (u *ui) tracef(format string, args ...any) {
	if !u.debug {
		return
	}
	u.flush()
	fmt.Fprintf(u.io.Stderr, "debug %6.1f ms: %s\n", float64(time.Since(u.since).Microseconds())/1000, fmt.Sprintf(format, args...))
}

// command is an outside program that is about to run. When ctx ends it is asked to
// end as Ctrl-C asks, and made to a little later.
func (u *ui) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	u.tracef("run %q", append([]string{name}, args...))
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 3 * time.Second
	return cmd
}

// traceStart tells what a command starts with.
func (e *env) traceStart() {
	e.ui.tracef("jj %s (tandem), command line %q", Version, e.args)
	if e.ws != nil {
		e.ui.tracef("workspace %s, repository %s", e.ws.root, e.ws.repoDir)
	}
	for _, l := range e.layers {
		if l.Path != "" {
			e.ui.tracef("settings of %s", l.Path)
		}
	}
}
