package health

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot is a clock that nobody can set and that goes on while the machine sleeps.
func sinceBoot() func() time.Duration {
	return func() time.Duration {
		var t unix.Timespec
		if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil {
			return 0
		}
		return time.Duration(t.Nano())
	}
}
