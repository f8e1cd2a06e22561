package team

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/internal/fault"
	job "tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

const sessionLive = op.Def[terminal.LiveIn, terminal.SeatsOut]("session.live")

// maxBreaks is how often a lead in a row is asked again by itself whose turn its program or its provider's rate ended.
const maxBreaks = 3

// Called is a team's name where its id is too long to be one: of its lead's session, and of what people are told.
func Called(id string) string { return "team-" + id[len(id)-6:] }

// program is the lead's program, as far as who started the team may see it; nil for a model.
func (r *Room) program(as context.Context, t *Team) (*terminal.Seat, error) {
	if !job.Program(t.Lead) {
		return nil, nil
	}
	open, err := op.Do(as, r.Rooms, sessionLive, terminal.LiveIn{})
	for _, s := range open.Sessions {
		if s.Session == t.Session {
			return &s, err
		}
	}
	return nil, err
}

// revive starts the lead's program again when it ended meanwhile, in the same conversation.
func (r *Room) revive(as context.Context, t *Team) error {
	if !job.Program(t.Lead) || t.Turns == 0 {
		return nil
	}
	s, err := r.program(as, t)
	if err != nil || s != nil && !s.State.Gone() {
		return err
	}
	now, err := op.Do(as, r.Rooms, sessionOpen, terminal.OpenIn{Name: Called(t.ID), Agent: t.Lead, Resume: true})
	if err == nil && now.Session != t.Session {
		err = fault.New(fault.Conflict, "team", "%s is the name of another session by now: its lead cannot be started again", Called(t.ID)).
			WithNext("see what is done: tandem team show %s", t.ID)
	}
	return err
}

// broke is the event of a lead's turn that came to nothing. One that its program's end or its provider's rate ended is asked for again.
func (r *Room) broke(as context.Context, t *Team, turn *session.Turn) Event {
	e := Event{Kind: Broke, Text: strings.TrimSuffix(fmt.Sprintf("it was %s: %s", turn.State, fault.Clip(turn.Reason, 300)), ": ")}
	s, err := r.program(as, t)
	if err != nil || s == nil || turn.State != session.Failed {
		return e
	}
	switch s.Outcome {
	case terminal.CrashOutcome:
		e.Later = r.DB.Now()
	case terminal.LimitedOutcome:
		e.Later = r.DB.Now().Add(r.Limit << min(t.Breaks, maxBreaks))
	}
	return e
}

// leading looks at a lead whose turn is under way: whether a person has to answer it, and whether its program hangs, which is ended then.
func (r *Room) leading(ctx, as context.Context, t *Team, turn *session.Turn) error {
	s, err := r.program(as, t)
	if err != nil {
		return r.blocked(ctx, t, err)
	}
	waits := turn.State == session.Waiting
	if s != nil {
		waits = waits || s.State == terminal.Permission || s.State == terminal.Asking || s.State == terminal.Dialog
	}
	switch {
	case s != nil && s.State == terminal.Hung:
		r.Log.Warn("a lead's program hangs, and is ended", "team", t.ID, "for", s.Detail)
		return r.Fell(ctx, t.Session) // which ends the turn, too
	case waits != t.Waits:
		return r.happened(ctx, t, Event{Kind: Waited, Waits: waits})
	}
	return nil
}

// breaks takes that the lead's turn came to nothing.
func (t *Team) breaks(e Event) {
	if t.Breaks++; e.Later.IsZero() || t.Breaks > maxBreaks {
		t.Breaks, t.Later = 0, time.Time{}
		t.block("the lead's turn came to nothing: " + e.Text)
		return
	}
	t.Later = e.Later
}
