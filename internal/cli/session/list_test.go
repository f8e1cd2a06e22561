package session

import (
	"strings"
	"testing"
	"time"

	room "tandem/internal/session"
	"tandem/internal/session/terminal"
)

// The list had what was closed among what was live, in no order, and a session that only checked a program.
func TestTheListLeadsWithWhatNeedsMe(t *testing.T) {
	program := func(id string) *room.Session {
		return &room.Session{ID: id, Driver: terminal.DriverName, State: string(room.Done)}
	}
	sessions := []*room.Session{program("closed"), program("ready"), {ID: "idle", State: string(room.Done)}, program("working"),
		{ID: "running", State: string(room.Running)},
		program("asking"), program("probe"), {ID: "waiting", State: string(room.Waiting)}, program("crashed"), program("limited")}
	seats := []terminal.Seat{{Session: "closed", State: terminal.Closed, ClosedAt: time.Now()}, {Session: "ready", State: terminal.Ready},
		{Session: "working", State: terminal.Working},
		{Session: "asking", State: terminal.Asking}, {Session: "crashed", State: terminal.Crashed},
		{Session: "limited", State: terminal.RateLimited}}
	var got []string
	for _, l := range arranged(sessions, seats) {
		got = append(got, l.ID)
	}
	if order := strings.Join(got, " "); order != "asking waiting crashed limited working running ready idle closed" {
		t.Errorf("the order is %s", order)
	}
}
