package jj

import (
	"fmt"
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

// command is an outside program that is about to run.
func (u *ui) command(name string, args ...string) *exec.Cmd {
	u.tracef("run %q", append([]string{name}, args...))
	return exec.Command(name, args...)
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
