//go:build unix

package main

import (
	"syscall"
	"time"
)

// worked is how long this process was at work, whatever else ran on the machine.
func worked() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
