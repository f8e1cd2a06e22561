//go:build unix

package daemon

import (
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// trialMemory is how much memory a tenant's file may make a server take while it is tried.
const trialMemory = 4 << 30

// bindTrial keeps this process within its bounds, before it has read anything.
func bindTrial() error {
	debug.SetMemoryLimit(trialMemory * 3 / 4)
	for what, most := range map[int]uint64{unix.RLIMIT_DATA: trialMemory, unix.RLIMIT_CORE: 0} {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}
