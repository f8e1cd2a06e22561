package job

import (
	"context"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// reopens answers an open with a seat; nothing is live.
type reopens terminal.Seat

func (s reopens) Invoke(_ context.Context, name string, _ any) (any, error) {
	if name == string(sessionLive) {
		return terminal.SeatsOut{}, nil
	}
	return terminal.Seat(s), nil
}

// A session's name may be another one's by the time the program is started again: the job does not prompt the old one then.
func TestAnAgentComesBackInItsOwnSession(t *testing.T) {
	j := &Job{Job: wire.Job{ID: "job_1", Agent: "codex", Session: "ses_1", Turns: 2}, Seat: "job-1"}
	for session, other := range map[string]bool{"ses_1": false, "ses_2": true} {
		r := &Room{Rooms: reopens{Session: session}}
		if err := r.revive(t.Context(), j); fault.Is(err, fault.Conflict) != other || err != nil && !other {
			t.Errorf("%s comes back: %v", session, err)
		}
	}
}

// A turn that came to a program that had crashed already, which nobody had seen yet, is begun again: the job was stopped.
func TestATurnForACrashedProgramIsBegunAgain(t *testing.T) {
	j := &Job{Job: wire.Job{ID: "job_1", Agent: "claude", Session: "ses_1"}}
	began := time.Unix(2, 0)
	for what, c := range map[string]struct {
		seat  terminal.Seat
		turn  session.Turn
		again bool
	}{
		"crashed before":   {terminal.Seat{Session: "ses_1", State: terminal.Crashed}, session.Turn{}, true},
		"crashed later":    {terminal.Seat{Session: "ses_1", State: terminal.Crashed}, session.Turn{StartedAt: &began}, false},
		"closed by people": {terminal.Seat{Session: "ses_1", State: terminal.Closed}, session.Turn{}, false},
	} {
		r := &Room{Rooms: seats{c.seat}}
		c.turn.State, c.turn.CreatedAt, c.turn.Reason = session.Failed, time.Unix(1, 0), "the session is not live"
		if e := r.cutOff(t.Context(), j, &c.turn); (e.Kind == WasCut) != c.again {
			t.Errorf("%s: %+v", what, e)
		}
	}
}

// seats are live.
type seats []terminal.Seat

func (s seats) Invoke(context.Context, string, any) (any, error) {
	return terminal.SeatsOut{Sessions: s}, nil
}
