package daemon

import "time"

// ahead moves the daemon's clock, e.g. 2160h. Nothing but the linker sets it,
// for the proof that nothing happens by itself on a later day either.
var ahead string

// clock is the clock that every row and event gets its time from; nil is the
// system's.
func clock(ahead string) func() time.Time {
	by, err := time.ParseDuration(ahead)
	if err != nil {
		return moved
	}
	return func() time.Time { return time.Now().Add(by) }
}
