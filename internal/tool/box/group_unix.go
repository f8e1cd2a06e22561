//go:build unix

package box

import (
	"os/exec"
	"syscall"
)

// group gives a command a session of its own, without a terminal and with one process group, and ends the group at its deadline.
func group(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// endGroup ends what is left of the group when the command itself has ended.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // mostly nothing is left
	}
}
