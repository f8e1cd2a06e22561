//go:build unix && !linux

package session

import "syscall"

// withParent puts a child into a process group of its own; only Linux can also make it end with a parent that is killed.
func withParent(apart bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: apart} }
