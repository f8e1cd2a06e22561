package job

import (
	"context"
	"fmt"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// A job may change its agent, a model's or a program's, and stays the job that it is: its workspace, its commits, its evidence and what
// is left of its budget. The one before it is gone when the other one is opened, so that two never work in the same files.

// known refuses a name that is no agent's.
func known(what, agent string) error {
	if agent == "" || wire.Program(agent) || strings.Contains(agent, "/") {
		return nil
	}
	return fault.New(fault.Invalid, what, "%.60q is neither a program that works here nor a model", agent).
		WithNext("name one of claude, codex and opencode, or provider/model: tandem provider list")
}

// hands says who goes on with the job; nothing where nobody is named.
func (j *Job) hands(agent string) error {
	switch {
	case agent == "":
		return nil
	case wire.Program(agent) && j.Budget.Cents > 0:
		return fault.New(fault.Invalid, "job", "the job's budget is in money, and what a turn of %s costs is not known here", agent).
			WithNext("name a model: tandem provider list")
	case j.Session == "" && (j.State == wire.Planned || j.State == wire.Stopped):
		if j.Opening {
			return fault.New(fault.Conflict, "job", "its agent is being opened").WithNext("see where it stands: tandem job show %s", j.ID)
		}
		j.Agent = agent
	case j.State == wire.Review || j.State == wire.Queued || j.State == wire.Stopped:
		j.Taker = agent
	default:
		return fault.New(fault.Conflict, "job", "the job is %s: its agent is not changed meanwhile", j.State).
			WithNext("stop it first: tandem job stop %s", j.ID)
	}
	return nil
}

// takenOver has another agent's session be the job's. It knows nothing of what was said before, and hears the task.
func (j *Job) takenOver(e Event) {
	rest := j.Prompt
	for _, note := range []string{goOn, cutNote, circledNote} {
		rest = strings.TrimPrefix(rest, note)
	}
	first := j.first()
	if said, whole := strings.CutPrefix(rest, first); whole {
		rest = strings.TrimSpace(said)
	}
	j.Prompt = fmt.Sprintf("You take this over from another agent (%s). What it did lies in the checkout that you are in; its commits are "+
		"those since %.12s. Look at them first. The task:\n\n%s", j.Agent, j.Base, first)
	if rest != "" {
		j.Prompt += "\n\nWhat comes next:\n" + rest
	}
	j.Former = append(j.Former, j.Session)
	j.Session, j.Agent, j.Taker, j.Cut, j.Limited, j.Rounds = e.Session, e.Agent, "", 0, 0, 0
}

// takesOver opens the agent that takes the job over, once the one before it is gone. A step that a crash cut off is done again, and ends
// what it had opened: the row names it before it is.
func (r *Room) takesOver(ctx context.Context, j *Job) error {
	as := op.WithCaller(ctx, j.Caller)
	left, err := r.left(as, j) // before its agent is gone, for which another one may not begin
	if err == nil {
		if _, err = op.Do(as, r.Rooms, sessionClose, terminal.NameIn{Name: j.Seat}); fault.Is(err, fault.NotFound) {
			err = nil
		}
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		e := r.failure(j, err)
		e.Untaken = true
		return r.happened(ctx, j, e)
	}
	if err := r.happened(ctx, j, Event{Kind: Seated}); err != nil {
		return err
	}
	now, err := r.get(ctx, j.Tenant, j.ID)
	if err != nil || now.Try == j.Try {
		return err // it is elsewhere by now
	}
	e, err := r.seats(as, now, left)
	if err != nil {
		return r.failed(ctx, now, err)
	}
	return r.happened(ctx, now, e)
}

// seats opens the session of the agent that takes the job over, in the job's workspace.
func (r *Room) seats(as context.Context, j *Job, left session.Budget) (Event, error) {
	e := Event{Kind: TookOver, Agent: j.Taker}
	if wire.Program(j.Taker) {
		seat, err := op.Do(as, r.Rooms, sessionOpen, terminal.OpenIn{Agent: j.Taker, Name: j.Seat, Cwd: j.Folder, Checkout: j.Path,
			Knowledge: j.Knowledge, Budget: session.Budget{Tokens: left.Tokens, Turns: left.Turns}})
		e.Session = seat.Session
		return e, err
	}
	s, err := op.Do(as, r.Rooms, sessionCreate, session.CreateIn{Title: j.Seat, Directory: j.Work, Model: j.Taker,
		Config: session.Config{Knowledge: j.Knowledge, Budget: left}})
	if err == nil {
		e.Session, e.Agent = s.ID, s.Model
	}
	return e, err
}

// left is what is left of the job's budget.
func (r *Room) left(as context.Context, j *Job) (session.Budget, error) {
	b := session.Budget{Cents: j.Budget.Cents, Tokens: j.Budget.Tokens, Turns: j.Budget.Turns}
	if b == (session.Budget{}) {
		return b, nil
	}
	var used session.Used
	for _, id := range append([]string{j.Session}, j.Former...) {
		u, err := r.Used(as, id)
		if err != nil {
			return b, err
		}
		used.Tokens, used.Turns, used.Cost = used.Tokens+u.Tokens, used.Turns+u.Turns, used.Cost+u.Cost
	}
	spent := int64(used.Cost.Dollars()*100 + 0.999)
	for _, part := range []struct {
		limit *int64
		used  int64
	}{{&b.Tokens, used.Tokens}, {&b.Turns, used.Turns}, {&b.Cents, spent}} {
		if *part.limit == 0 {
			continue
		}
		if *part.limit -= part.used; *part.limit <= 0 {
			return b, fault.New(fault.Exhausted, "job", "the job's budget of %s is used up", j.Budget).
				WithNext("start another one: tandem job start TASK")
		}
	}
	return b, nil
}
