package job

import (
	"context"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
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
