package team

import (
	"context"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/session/terminal"
	"tandem/internal/team/wire"
)

// reopens answers an open with a seat; nothing is live.
type reopens terminal.Seat

func (s reopens) Invoke(_ context.Context, name string, _ any) (any, error) {
	if name == string(sessionLive) {
		return terminal.SeatsOut{}, nil
	}
	return terminal.Seat(s), nil
}

// A session's name may be another one's by the time the program is started again: the team does not prompt the old one then.
func TestALeadComesBackInItsOwnSession(t *testing.T) {
	team := &Team{Team: wire.Team{ID: "team_01jabcdef", Lead: "codex", Session: "ses_1"}}
	team.Turns = 1
	for session, other := range map[string]bool{"ses_1": false, "ses_2": true} {
		r := &Room{Rooms: reopens{Session: session}}
		if err := r.revive(t.Context(), team); fault.Is(err, fault.Conflict) != other || err != nil && !other {
			t.Errorf("%s comes back: %v", session, err)
		}
	}
}
