//go:build unix

package daemon

import "golang.org/x/sys/unix"

// descriptors is how many files and connections this process may have open.
func descriptors() int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 256
	}
	return int(min(uint64(limit.Cur), 1<<20))
}
