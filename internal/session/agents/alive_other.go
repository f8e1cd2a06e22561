//go:build !linux

package agents

import "os"

// alive says whether a registry entry is of a process that may still run.
func alive(r Registered) bool {
	p, err := os.FindProcess(r.PID)
	return err == nil && p != nil
}
