//go:build unix && !linux

package agents

import (
	"errors"
	"syscall"
)

// alive says whether a registry entry is of a process that runs. When that began is not asked here: a number that another program was
// given later passes for the old one until the file is written anew.
func alive(r Registered) bool {
	err := syscall.Kill(r.PID, 0)
	return r.PID > 0 && (err == nil || errors.Is(err, syscall.EPERM))
}
