package job

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/provider"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// reviewOp has another agent look at a job.
func (r *Room) reviewOp(ctx context.Context, tx *db.Tx, in wire.ReviewIn) (*wire.Job, error) {
	if err := known("job.review", in.By); err != nil {
		return nil, err
	}
	return r.move(ctx, tx, in.ID, Event{Kind: Look, Agent: in.By, Commit: in.Commit, By: op.CallerFrom(ctx).Name})
}

// bindReview is the model that would look. Which program an agent is stands in settings.
func (r *Room) bindReview(ctx context.Context, in wire.ReviewIn) ([]op.Bound, error) {
	if wire.Program(in.By) {
		return nil, nil
	}
	return r.Model(ctx, in.By)
}

// looks takes a review one step further. A step that a crash cut off is done again.
func (r *Room) looks(ctx context.Context, j *Job, w *worker) error {
	l := j.Look
	switch {
	case !l.wanted(j):
		if err := r.closes(ctx, j); err != nil {
			return err
		}
		return r.looked(ctx, j, Event{Kind: Overlooked})
	case r.DB.Now().Sub(l.At) > reviewLasts:
		return r.reviewed(ctx, j, wire.Unclear, "it took longer than "+reviewLasts.String())
	case l.Session == "":
		return r.unable(ctx, j, r.opensLook(ctx, j))
	case l.Turn == "":
		return r.unable(ctx, j, r.asksLook(ctx, j))
	}
	out, err := op.Do(op.WithCaller(ctx, j.Caller), r.Rooms, sessionTurns, session.TurnIn{ID: l.Session, Turn: l.Turn})
	if err == nil && len(out.Turns) == 0 {
		err = fault.New(fault.NotFound, "job.review", "the turn %s is gone", l.Turn)
	}
	if err != nil {
		return r.unable(ctx, j, err)
	}
	t := out.Turns[0]
	switch {
	case !t.State.Ended():
		pause(ctx, w.woken, 300*time.Millisecond)
		return nil
	case t.State != session.Done:
		return r.reviewed(ctx, j, wire.Unclear, strings.TrimSuffix(fmt.Sprintf("its turn was %s: %s", t.State, fault.Clip(t.Reason, 300)), ": "))
	}
	said, err := r.answer(op.WithCaller(ctx, j.Caller), l)
	if err != nil {
		return r.unable(ctx, j, err)
	}
	says, text := opinion(said)
	return r.reviewed(ctx, j, says, text)
}

// unable ends a review that cannot be had, with what keeps it from that; what a room that is away says is tried again.
func (r *Room) unable(ctx context.Context, j *Job, err error) error {
	if k := fault.KindOf(err); err == nil || ctx.Err() != nil || k == fault.Unavailable || k == fault.Internal {
		return err
	}
	return r.reviewed(ctx, j, wire.Unclear, r.failure(j, err).Text)
}

// opensLook opens the reviewer's session: a model in plan mode in the job's workspace, a program in a checkout of the commit that nobody
// merges. What a program's try before left goes first; a model's session is found again by its key.
func (r *Room) opensLook(ctx context.Context, j *Job) error {
	if j.Look.Seat == "" || wire.Program(j.Look.By) {
		if err := r.closes(ctx, j); err != nil {
			r.Log.Warn("take away what a review left", "job", j.ID, "err", err)
		}
		if err := r.looked(ctx, j, Event{Kind: LookOpens}); err != nil {
			return err
		}
		now, err := r.get(ctx, j.Tenant, j.ID)
		if err != nil || now.Look == nil {
			return err
		}
		*j = *now
	}
	as, budget := op.WithCaller(ctx, j.Caller), session.Budget{Tokens: j.Budget.Tokens, Turns: j.Budget.Turns}
	if wire.Program(j.Look.By) {
		seat, err := op.Do(as, r.Rooms, sessionOpen, terminal.OpenIn{Agent: j.Look.By, Name: j.Look.Seat, Cwd: j.Folder, Worktree: true,
			Knowledge: j.Knowledge, Budget: budget})
		if err == nil {
			err = r.Tools.Begin(ctx, seat.Checkout, j.Commit)
		}
		if err != nil {
			return err
		}
		return r.looked(ctx, j, Event{Kind: LookOpened, Session: seat.Session})
	}
	budget.Cents = j.Budget.Cents
	c := j.Caller
	c.Idempotency = fmt.Sprintf("%s.%s.open", j.ID, j.Look.Seat)
	s, err := op.Do(op.WithCaller(ctx, c), r.Rooms, sessionCreate, session.CreateIn{Title: j.Look.Seat, Directory: j.Work, Model: j.Look.By,
		Mode: session.PlanMode, Config: session.Config{Knowledge: j.Knowledge, Budget: budget}})
	if err != nil {
		return err
	}
	return r.looked(ctx, j, Event{Kind: LookOpened, Session: s.ID, Agent: s.Model})
}

// asksLook gives the reviewer its words. It is shown the change only where its session may see all files of it.
func (r *Room) asksLook(ctx context.Context, j *Job) error {
	if hides, err := r.hides(ctx, j, j.Look.Session); err != nil {
		return err
	} else if hides {
		return fault.New(fault.Denied, "job.review", "the commit holds files that its session may not see")
	}
	c := j.Caller
	diff, err := op.Do(op.WithCaller(ctx, c), r.Rooms, wire.Diff, wire.DiffIn{ID: j.ID})
	if err != nil {
		return err
	}
	c.Idempotency = fmt.Sprintf("%s.%s", j.ID, j.Look.Seat)
	t, err := op.Do(op.WithCaller(ctx, c), r.Rooms, sessionPrompt, session.PromptIn{ID: j.Look.Session, Text: asked(j, diff)})
	if err != nil {
		return err
	}
	return r.looked(ctx, j, Event{Kind: LookAsked, Turn: t.ID})
}

// answer is the last thing that the reviewer said.
func (r *Room) answer(as context.Context, l *look) (said string, err error) {
	out, err := op.Do(as, r.Rooms, session.SessionMessages, session.IDIn{ID: l.Session})
	for _, m := range out.Messages {
		if m.Turn == l.Turn && m.Role == session.RoleAssistant {
			if text := (provider.Reply{Blocks: m.Blocks}).Text(); text != "" {
				said = text
			}
		}
	}
	return said, err
}

// reviewed writes down what came of a review, once its session is closed.
func (r *Room) reviewed(ctx context.Context, j *Job, says wire.Opinion, text string) error {
	if err := r.closes(ctx, j); err != nil {
		return err
	}
	return r.looked(ctx, j, Event{Kind: Reviewed, Says: says, Text: text})
}

// closes ends the reviewer's session, and takes its checkout away.
func (r *Room) closes(ctx context.Context, j *Job) error {
	l, as := j.Look, op.WithCaller(ctx, j.Caller)
	if l.Seat == "" {
		return nil
	}
	if !wire.Program(l.By) {
		if l.Session == "" {
			return nil
		}
		err := r.End(ctx, j.Tenant, l.Session, false)
		if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Conflict) {
			return nil
		}
		return err
	}
	if _, err := op.Do(as, r.Rooms, sessionClose, terminal.NameIn{Name: l.Seat}); err != nil && !refused(err) {
		return err
	}
	if l.Session != "" {
		if err := r.End(ctx, j.Tenant, l.Session, true); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	if err := r.TakeBack(as, j.Tenant, j.Repo+"-"+l.Seat); err != nil {
		return err
	}
	err := r.Tools.TakeUnused(ctx, j.Repo, l.Seat) // made, and not written down
	if fault.Is(err, fault.Conflict) {
		r.Log.Warn("what a review left stays", "job", j.ID, "err", err)
		return nil
	}
	return err
}

// looked moves a review that is under way; where it is another one by now, nothing happens.
func (r *Room) looked(ctx context.Context, j *Job, e Event) error {
	err := r.DB.Write(ctx, func(tx *db.Tx) error {
		after, err := r.change(tx, j.Tenant, j.ID, func(now *Job) error {
			if now.Look == nil || now.Look.Seat != j.Look.Seat || !now.Look.At.Equal(j.Look.At) {
				return errStale
			}
			return now.Apply(e, tx.Now())
		})
		if err != nil {
			return err
		}
		if err := r.vouchFor(tx, after.Caller, after, map[string]any{"event": e.Kind, "by": j.Look.By, "commit": j.Look.Commit, "says": e.Says,
			"state": after.State}); err != nil {
			return err
		}
		return r.Told(tx, j.Tenant, after.Job, after.State)
	})
	if errors.Is(err, errStale) {
		return nil
	}
	return err
}
