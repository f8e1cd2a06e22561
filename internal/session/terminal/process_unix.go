//go:build unix

package terminal

import (
	"syscall"
	"time"
)

// slay ends a program and all that runs in its box, at once, and waits until it is gone.
func slay(pid int) error {
	if pid <= 1 {
		return nil
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		return err
	}
	return reap(pid)
}

// reap waits until a program that lost its terminal is gone, with what it started, and ends them for good when they do not go by
// themselves. A pane's program leads its process group; a stray may be a member of another's.
func reap(pid int) error {
	if pid <= 1 {
		return nil
	}
	for range 60 {
		if syscall.Kill(pid, 0) != nil && syscall.Kill(-pid, 0) != nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
	_ = syscall.Kill(pid, syscall.SIGKILL)
	return nil
}
