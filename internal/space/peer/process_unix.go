//go:build unix

package peer

import (
	"errors"
	"syscall"
)

// running reports whether a process of that id exists.
func running(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
