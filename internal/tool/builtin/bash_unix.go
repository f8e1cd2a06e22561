//go:build unix

package builtin

import (
	"os/exec"
	"syscall"
)

// group gives a command a process group of its own, and ends the whole group at its deadline.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
