//go:build !unix

package session

import "tandem/internal/fault"

func become([]string, []string) error {
	return fault.New(fault.Unavailable, "session", "terminal sessions need tmux, which this system does not have")
}

func orphan() bool { return false }
