//go:build unix

package tunnel

import (
	"os/exec"
	"syscall"
	"time"
)

// own gives a program a process group of its own, so that it ends whole.
func own(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endProcess ends a process group: gently, then not.
func endProcess(pid int) {
	_ = syscall.Kill(-pid, syscall.SIGTERM) // it may be gone already
	for range 40 {
		if syscall.Kill(-pid, 0) != nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = syscall.Kill(-pid, syscall.SIGKILL)
}
