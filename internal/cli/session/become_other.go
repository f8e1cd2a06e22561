//go:build !unix

package session

import (
	"tandem/internal/fault"
	"tandem/internal/session/terminal"
)

func become([]string, []string) error {
	return fault.New(fault.Unavailable, "session", "terminal sessions need tmux, which this system does not have")
}

func orphan() bool { return false }

func both(terminal.Launch) error {
	return fault.New(fault.Conflict, "launch", "agent programs in terminals need tmux, which this system does not have")
}
