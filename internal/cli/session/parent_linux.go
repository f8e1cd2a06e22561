package session

import "syscall"

// withParent makes a child end with us, also when we are killed; apart puts it into a process group of its own.
func withParent(apart bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: apart, Pdeathsig: syscall.SIGKILL}
}
