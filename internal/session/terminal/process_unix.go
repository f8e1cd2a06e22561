//go:build unix

package terminal

import (
	"syscall"
	"time"
)

// reap waits until a program that lost its terminal is gone, and ends it for good when it does not go by itself.
func reap(pid int) error {
	if pid <= 1 {
		return nil
	}
	for range 60 {
		if syscall.Kill(pid, 0) != nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL) // a pane's program leads its process group
	_ = syscall.Kill(pid, syscall.SIGKILL)
	return nil
}
