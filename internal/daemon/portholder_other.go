//go:build !linux

package daemon

// portHolder is known on Linux alone.
func portHolder(string) (pid int, program string) { return 0, "" }
