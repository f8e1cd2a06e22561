//go:build !movedclock

package daemon

import "time"

// moved is nil: nothing but a build for tests moves the clock.
var moved func() time.Time
