//go:build !linux

package health

import "time"

// sinceBoot is nil: the clocks that nobody can set stand still here while the machine sleeps, so each waking would look like a step.
func sinceBoot() func() time.Duration { return nil }
