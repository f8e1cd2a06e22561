//go:build unix

package proof

import (
	"os/exec"
	"syscall"
)

// inGroup has a program and what it starts be a group of processes.
func inGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends all of such a group.
func killGroup(pid int) error { return syscall.Kill(-pid, syscall.SIGKILL) }
