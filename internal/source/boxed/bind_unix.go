//go:build unix

package boxed

import (
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// bind keeps this process within its bounds, before it has read anything: memory, time of the processor, and no file at all.
func bind() error {
	debug.SetMemoryLimit(maxMemory * 3 / 4) // collects before the kernel refuses
	for what, most := range map[int]uint64{unix.RLIMIT_DATA: maxMemory, unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: 0} {
		if err := unix.Setrlimit(what, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}
