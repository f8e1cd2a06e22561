package schedule

import (
	"path/filepath"
	"time"

	"tandem/internal/automation/clock"
	"tandem/internal/fault"
	"tandem/internal/schedule/wire"
)

// again is how long after a failure it is tried anew; soon is that where not even the failure could be stored, since the database was away:
// that it is back nobody says, and until then nobody is told.
const (
	again = time.Hour
	soon  = time.Minute
)

// check refuses what could not be done.
func check(in wire.SetIn, now time.Time) error {
	bad := func(format string, args ...any) *fault.Error {
		return fault.New(fault.Invalid, "schedule.set", format, args...)
	}
	if _, err := clock.Parse(in.When, time.Local, now); err != nil {
		return bad("%w", err)
	}
	switch in.Kind {
	case wire.Backup:
		switch {
		case !filepath.IsAbs(in.Path):
			return bad("the folder for copies is an absolute path")
		case in.Recipient == "" && !in.Unlocked:
			return bad("a copy holds the server's keys, and nothing locks these").
				WithNext("make a recipient: tandem server backup-key FILE; or say that they need no lock: --unlocked")
		case in.Keep < 1:
			return bad("at least one copy is kept")
		case in.Repos != "" && in.Repos != "content" && in.Repos != "reference":
			return bad("repositories are copied by content or by reference, not by %q", in.Repos)
		}
	case wire.Forget:
		if in.OlderThan < 1 {
			return bad("what is forgotten is at least an hour old")
		}
	default:
		return bad("%.40q is nothing that can be scheduled", string(in.Kind)).WithNext("it is backup or forget")
	}
	return nil
}

// due says whether a schedule is to be done now, and else when to look again.
func due(s *row, now time.Time) (yes bool, next time.Time) {
	if s.AskedAt.After(s.DoneAt) && s.AskedAt.After(s.FailedAt) { // what began before holds nothing of what came after
		return true, now
	}
	wait := again
	if s.unstored {
		wait = soon
	}
	if s.Failure != "" && now.Before(s.FailedAt.Add(wait)) {
		return false, s.FailedAt.Add(wait)
	}
	when, err := clock.Parse(s.What.When, time.Local, s.MadeAt)
	if err != nil { // it was parsed when it was set
		return false, time.Time{}
	}
	plan := clock.Plan(when, s.since, now, clock.Misfire{Policy: clock.Once})
	return len(plan.Run) > 0, plan.Next
}

// seen is the schedule as people see it, with the moment that comes next: now, when it is due.
func (r *row) seen(now time.Time) wire.Schedule {
	s := r.Schedule
	if yes, next := due(r, now); yes {
		s.Next = now
	} else {
		s.Next = next
	}
	return s
}
