package occasion

import (
	"fmt"

	"tandem/internal/db"
	"tandem/internal/inbox"
	"tandem/internal/job"
	"tandem/internal/job/wire"
	"tandem/internal/notify"
	"tandem/internal/session"
	relays "tandem/internal/session/relay"
	"tandem/internal/session/terminal"
	"tandem/internal/team"
	teams "tandem/internal/team/wire"
)

// says is what is told of a program that cannot go on by itself.
var says = map[terminal.State]string{terminal.Crashed: "crashed", terminal.Hung: "does not answer any more",
	terminal.RateLimited: "is rate-limited"}

// Became tells people of such a program. A relay's own are its business.
func (tell *Teller) Became(tx *db.Tx, tenant string, seat terminal.Seat) error {
	what, known := says[seat.State]
	if !known || seat.Relay != "" {
		return nil
	}
	return tell.notify.Put(tx, tenant, notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "program", Status: string(seat.State),
		ID: seat.Name, Summary: summary(seat.Detail), Reason: seat.Signal},
		Says: what, Push: notify.Urgent, Next: inbox.GoOnWith(seat), Page: "/panel/sessions/" + seat.Session})
}

// TurnEnded tells of a turn in a terminal. A relay's own turns are its business.
func (tell *Teller) TurnEnded(tx *db.Tx, seat terminal.Seat, s *session.Session, t *session.Turn, left terminal.Left) error {
	if seat.Relay != "" {
		return nil
	}
	status := map[session.TurnState]string{session.Done: "done", session.Failed: "failed", session.Cancelled: "interrupted"}[t.State]
	e := notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "session", Status: status, ID: seat.Name, Cursor: s.Events,
		Summary: summary(left.Said), Reason: t.Reason},
		Left: &notify.Left{Commit: left.Commit, Files: left.Files}, Push: notify.Normal, Page: "/panel/sessions/" + seat.Session}
	switch {
	case seat.State == terminal.RateLimited:
		e.Push, e.Says, e.Next = notify.Urgent, says[terminal.RateLimited], inbox.GoOnWith(seat)
	case seat.Outcome == terminal.CrashOutcome: // that it crashed wakes the phone
		e.Push = notify.Quiet
	}
	return tell.notify.Put(tx, t.Tenant, e)
}

// Relay tells of a relay: routine ends are only written down, what a person should know wakes the phone.
func (tell *Teller) Relay(tx *db.Tx, r relays.Relay, what string) error {
	e := notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "relay", Status: what, ID: r.ID, Cursor: r.Step, Summary: summary(r.Summary),
		Reason: r.Reason}, Folder: r.Folder, Page: "/panel/relays/" + r.ID}
	switch r.Status {
	case relays.NeedsInput:
		e.Push, e.Summary, e.Next = notify.Answer, summary(r.Question), "Answer it: relay enqueue with the answer as task."
	case relays.Blocked:
		e.Push, e.Summary = notify.Urgent, summary(r.Reason)
	case relays.Done, relays.Stopped:
		e.Push = notify.Normal
	}
	return tell.notify.Put(tx, r.Tenant, e)
}

// Job tells people of a job that waits for them.
func (tell *Teller) Job(tx *db.Tx, tenant string, j wire.Job, from wire.State) error {
	if j.State == from || !j.State.Waits() || j.StoppedBy != "" {
		return nil
	}
	e := notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "job", Status: string(j.State), ID: j.ID, Summary: summary(j.Task),
		Reason: j.Reason}, Name: job.Called(j.ID), Left: &notify.Left{Commit: j.Commit, Files: -1}, Push: notify.Normal,
		Page: "/panel/jobs/" + j.ID, Next: fmt.Sprintf("See it: tandem job show %s", j.ID)}
	return tell.notify.Put(tx, tenant, e)
}

// Team tells people of a team that came to wait for them by itself, or is done.
func (tell *Teller) Team(tx *db.Tx, tenant string, one teams.Team, from teams.State) error {
	e := notify.Notice{Event: notify.Event{TS: tx.Now(), Type: "team", Status: string(one.State), ID: one.ID, Summary: summary(one.Goal),
		Reason: one.Reason}, Name: team.Called(one.ID), Left: &notify.Left{Files: -1}, Push: notify.Answer, Page: "/panel/teams/" + one.ID,
		Next: fmt.Sprintf("See it: tandem team show %s", one.ID)}
	switch {
	case one.State == from:
		return nil
	case one.State == teams.Proposed:
		e.Says = "has a plan that waits for you"
	case one.State == teams.Blocked:
		e.Says = "cannot go on by itself"
	case one.State == teams.Paused:
		e.Says = "is paused: its time is over"
	case one.State == teams.Done:
		e.Push = notify.Normal
	default:
		return nil
	}
	return tell.notify.Put(tx, tenant, e)
}
