package job

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// How often a turn in a row is begun again by itself: when something ended it, and when the provider refused it for its rate.
const (
	maxCut     = 3
	maxLimited = 6
)

const cutNote = "Your last turn was cut off before its end. Look at what is done already, and go on from there.\n\n"

// cut has a turn begun again that something ended.
func (j *Job) cut(why string) {
	if j.Cut++; j.Cut >= maxCut {
		j.fail(strings.TrimSuffix("its turn was cut off again and again: "+why, ": "))
		return
	}
	j.repeat()
	j.Reason = why
}

// limited has a turn begun again later that the provider refused for its rate.
func (j *Job) limited(e Event) {
	if j.Limited++; j.Limited > maxLimited {
		j.fail("its provider refuses it for its rate: " + e.Text)
		return
	}
	j.repeat()
	j.Later = e.Later
	j.Reason = fmt.Sprintf("its provider refused it for its rate; it goes on at %s: %s", e.Later.UTC().Format("15:04:05 UTC"), e.Text)
}

func (j *Job) repeat() {
	j.Flight = ""
	j.Turns++
	j.Prompt = cutNote + strings.TrimPrefix(j.Prompt, cutNote)
}

// cutOff is what became of a turn that failed: one that its program's end or its provider's rate ended is begun again.
func (r *Room) cutOff(ctx context.Context, j *Job, t *session.Turn) Event {
	e := Event{Kind: Failed, Text: strings.TrimSuffix(fmt.Sprintf("its turn was %s: %s", t.State, t.Reason), ": ")}
	if t.State != session.Failed {
		return e
	}
	if t.Cause == session.Circling {
		return Event{Kind: Circled, Text: fault.Clip(t.Reason, 300)}
	}
	if t.CreatedAt.Before(r.born) {
		return Event{Kind: WasCut}
	}
	s, err := r.program(ctx, j)
	switch {
	case err != nil || s == nil:
	case t.StartedAt == nil && s.State == terminal.Crashed: // it had crashed before the turn reached it, and nobody had seen that yet
		return Event{Kind: WasCut, Text: "its program had ended: " + fault.Clip(t.Reason, 300)}
	case s.Outcome == terminal.CrashOutcome:
		return Event{Kind: WasCut, Text: "its program ended: " + fault.Clip(t.Reason, 300)}
	case s.Outcome == terminal.LimitedOutcome:
		return Event{Kind: Limited, Text: fault.Clip(t.Reason, 300), Later: r.DB.Now().Add(r.Limit << min(j.Limited, maxLimited))}
	}
	return e
}

// program is the agent's program, as far as who started the job may see it; nil for a model.
func (r *Room) program(ctx context.Context, j *Job) (*terminal.Seat, error) {
	if !wire.Program(j.Agent) {
		return nil, nil
	}
	open, err := op.Do(op.WithCaller(ctx, j.Caller), r.Rooms, sessionLive, terminal.LiveIn{})
	for _, s := range open.Sessions {
		if s.Session == j.Session {
			return &s, err
		}
	}
	return nil, err
}

// hung ends a program that hangs in its turn, which ends the turn, too.
func (r *Room) hung(ctx context.Context, j *Job) error {
	s, err := r.program(ctx, j)
	if err != nil || s == nil || s.State != terminal.Hung {
		return nil // whoever may not see it does not know
	}
	r.Log.Warn("a job's program hangs, and is ended", "job", j.ID, "for", s.Detail)
	return r.Fell(ctx, j.Session)
}

// later waits until a job that its provider refused may go on.
func (r *Room) later(ctx context.Context, j *Job, w *worker) bool {
	left := j.Later.Sub(r.DB.Now())
	if left <= 0 {
		return false
	}
	pause(ctx, w.woken, min(left, time.Minute))
	return true
}
