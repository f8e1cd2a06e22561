package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/job/wire"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/checkout"
	"tandem/internal/session/terminal"
)

// The operations of sessions that a job works with.
const (
	sessionCheckout = op.Def[session.CheckoutIn, session.Checkout]("session.checkout")
	sessionGet      = op.Def[session.IDIn, *session.Session]("session.get")
	sessionCreate   = op.Def[session.CreateIn, *session.Session]("session.create")
	sessionOpen     = op.Def[terminal.OpenIn, terminal.Seat]("session.open")
	sessionLive     = op.Def[terminal.LiveIn, terminal.SeatsOut]("session.live")
	sessionClose    = op.Def[terminal.NameIn, terminal.Seat]("session.close")
	sessionPrompt   = op.Def[session.PromptIn, *session.Turn]("session.prompt")
	sessionTurns    = op.Def[session.TurnIn, session.TurnsOut]("session.turns")
	sessionCancel   = op.Def[session.TurnIn, session.CancelOut]("session.cancel")
	sessionDiscard  = op.Def[session.IDIn, session.DiscardOut]("session.discard")
)

// seat names the session and the workspace of a try: each has its own, so that what a crash left half done is in nobody's way.
func (j *Job) seat(try int64) string {
	name := Called(j.ID)
	if try > 1 {
		name += fmt.Sprintf("-%d", try)
	}
	return name
}

// Called is a job's name where its id is too long to be one: of its first session, and of what people are told.
func Called(id string) string { return "job-" + id[len(id)-6:] }

// open makes the workspace and the session.
func (r *Room) open(ctx context.Context, j *Job, w *worker) error {
	if j.sought() {
		return r.seek(ctx, j)
	}
	lower, wait, err := r.footing(ctx, j, w)
	if err != nil {
		return r.failed(ctx, j, err)
	} else if wait {
		return nil
	}
	if err := r.again(ctx, j); err != nil {
		return err
	}
	if err := r.mayCheck(ctx, j, ""); err != nil {
		return r.failed(ctx, j, err)
	}
	if err := r.hasBranch(ctx, j); err != nil {
		return r.failed(ctx, j, err)
	}
	as := op.WithCaller(ctx, j.Caller)
	e := Event{Kind: Opened, Branch: "tandem/" + j.Seat, Agent: j.Agent}
	if wire.Program(j.Agent) {
		seat, err := op.Do(as, r.Rooms, sessionOpen, terminal.OpenIn{Agent: j.Agent, Name: j.Seat, Cwd: j.Folder, Worktree: true,
			Knowledge: j.Knowledge, Budget: session.Budget{Tokens: j.Budget.Tokens, Turns: j.Budget.Turns}})
		if err != nil {
			return r.failed(ctx, j, err)
		}
		e.Session, e.Path, e.Work = seat.Session, seat.Checkout, seat.Folder
		if e.Repo, err = r.Tools.Top(ctx, j.Folder); err != nil {
			return r.failed(ctx, j, err)
		}
		e.Base = r.Tools.Tip(ctx, e.Path, "HEAD")
	} else {
		made, err := op.Do(as, r.Rooms, sessionCheckout, session.CheckoutIn{Directory: j.Folder, Name: j.Seat, Kind: checkout.Worktree})
		if err != nil {
			return r.failed(ctx, j, err)
		}
		s, err := op.Do(as, r.Rooms, sessionCreate, session.CreateIn{Title: j.Seat, Directory: made.Folder, Model: j.Agent,
			Config: session.Config{Knowledge: j.Knowledge,
				Budget: session.Budget{Cents: j.Budget.Cents, Tokens: j.Budget.Tokens, Turns: j.Budget.Turns}}})
		if err != nil {
			return r.failed(ctx, j, err)
		}
		e.Session, e.Path, e.Work, e.Repo, e.Base, e.Agent = s.ID, made.Path, made.Folder, made.Repo, made.Base, s.Model
	}
	begins := ""
	if e.Onto = j.Onto; lower != nil {
		e.Onto, begins = lower.Onto, lower.Commit
	} else if e.Onto == "" {
		e.Onto = r.Tools.Branch(ctx, e.Repo)
	}
	if e.Tip, err = r.tipNow(ctx, e.Repo, e.Onto); err != nil {
		return err
	}
	e.Unsaved = r.Tools.Unsaved(ctx, e.Repo)
	if begins == "" && j.Onto != "" { // it begins where its branch stands, whatever is checked out
		begins = e.Tip
	}
	if begins != "" && begins != e.Base {
		if err := r.Tools.Begin(ctx, e.Path, begins); err != nil {
			return r.failed(ctx, j, err)
		}
		e.Base = begins
	}
	return r.opened(ctx, j, e)
}

// hasBranch refuses a job for a branch that is not there.
func (r *Room) hasBranch(ctx context.Context, j *Job) error {
	if j.Onto == "" {
		return nil
	}
	repo, err := r.Tools.Top(ctx, j.Folder)
	if err == nil && r.tip(ctx, repo, j.Onto) == "" {
		err = fault.New(fault.NotFound, "job.start", "%s has no branch %s", repo, j.Onto).WithNext("see them: git -C %s branch", repo)
	}
	return err
}

// opened writes down what was opened, also for a job that was stopped meanwhile: then it can be taken away, or gone on with.
func (r *Room) opened(ctx context.Context, j *Job, e Event) error {
	for {
		err := r.settle(ctx, j, e)
		if !errors.Is(err, errStale) {
			return err
		}
		now, err := r.get(ctx, j.Tenant, j.ID)
		if err != nil || now.Try != j.Try || !now.Opening {
			return err
		}
		j = now
	}
}

// again counts the try before it is made, and takes away what the one before left.
func (r *Room) again(ctx context.Context, j *Job) error {
	if err := r.tidy(ctx, j); err != nil { // the next one has a name of its own
		r.Log.Warn("take away what a job left", "job", j.ID, "err", err)
	}
	return r.DB.Write(ctx, func(tx *db.Tx) error {
		after, err := r.change(tx, j.Tenant, j.ID, func(now *Job) error {
			now.Try++
			now.Seat = now.seat(now.Try)
			now.Opening = true
			j.Try, j.Seat, j.Opening = now.Try, now.Seat, true
			return nil
		})
		if err == nil {
			err = r.vouchFor(tx, after.Caller, after, map[string]any{"event": "try", "try": after.Try})
		}
		return err
	})
}

// tidy takes away what was opened in a try that came to nothing: a session may be there, but was told nothing yet.
func (r *Room) tidy(ctx context.Context, j *Job) error {
	if j.Try == 0 {
		return nil
	}
	left := j.seat(j.Try)
	if wire.Program(j.Agent) {
		_, err := op.Do(op.WithCaller(ctx, j.Caller), r.Rooms, sessionClose, terminal.NameIn{Name: left})
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	repo, err := r.Tools.Around(ctx, j.Folder)
	if err != nil || repo == "" { // where there is no repository nothing was opened
		return err
	}
	if err := r.TakeBack(op.WithCaller(ctx, j.Caller), j.Tenant, repo+"-"+left); err != nil {
		return err
	}
	return r.Tools.TakeUnused(ctx, repo, left) // made, and not written down
}

// prompt gives the agent its words. The key makes a step that a crash interrupted find the same turn again.
func (r *Room) prompt(ctx context.Context, j *Job) error {
	c := j.Caller
	if err := r.revive(op.WithCaller(ctx, c), j); err != nil {
		return r.failed(ctx, j, err)
	}
	if now, err := r.get(ctx, j.Tenant, j.ID); err != nil || now.State != j.State || now.Turns != j.Turns { // that can last
		return err
	}
	if err := r.before(ctx, j); err != nil {
		return r.failed(ctx, j, err)
	}
	c.Idempotency = fmt.Sprintf("%s.%d", j.ID, j.Turns)
	t, err := op.Do(op.WithCaller(ctx, c), r.Rooms, sessionPrompt, session.PromptIn{ID: j.Session, Text: j.Prompt})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return r.after(ctx, j, r.failure(j, err))
	}
	return r.happened(ctx, j, Event{Kind: Prompted, Turn: t.ID})
}

// revive starts an agent's program again when it ended meanwhile, in the same conversation.
func (r *Room) revive(as context.Context, j *Job) error {
	if !wire.Program(j.Agent) || j.Turns < 2 {
		return nil
	}
	open, err := op.Do(as, r.Rooms, sessionLive, terminal.LiveIn{})
	if err != nil {
		return err
	}
	for _, s := range open.Sessions {
		if s.Session == j.Session && !s.State.Gone() {
			return nil
		}
	}
	s, err := op.Do(as, r.Rooms, sessionOpen, terminal.OpenIn{Name: j.Seat, Agent: j.Agent, Resume: true})
	if err == nil && s.Session != j.Session {
		err = fault.New(fault.Conflict, "job", "%s is the name of another session by now: its agent cannot be started again", j.Seat).
			WithNext("see what is done: tandem job diff %s", j.ID)
	}
	return err
}

// follow waits for the end of the turn, and has what it left committed.
func (r *Room) follow(ctx context.Context, j *Job, w *worker) error {
	as := op.WithCaller(ctx, j.Caller)
	for look := 1; ; look++ {
		out, err := op.Do(as, r.Rooms, sessionTurns, session.TurnIn{ID: j.Session, Turn: j.Flight})
		if err == nil && len(out.Turns) == 0 {
			err = fault.New(fault.NotFound, "job", "the turn %s is gone", j.Flight)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if fault.Is(err, fault.Unavailable) {
			return err // the database was away, say: the turn goes on, and so does looking for its end
		}
		if err != nil {
			e := r.failure(j, err)
			e.Running = true
			return r.happened(ctx, j, e) // what it moved is looked at when it has ended
		}
		if t := out.Turns[0]; t.State.Ended() {
			return r.turned(ctx, j, t)
		}
		if look%10 == 0 { // every two seconds
			if err := r.hung(ctx, j); err != nil {
				return err
			}
		}
		pause(ctx, w.woken, 200*time.Millisecond)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if now, err := r.get(ctx, j.Tenant, j.ID); err != nil || now.State != wire.Working {
			return err
		}
	}
}

// turned takes what a turn left.
func (r *Room) turned(ctx context.Context, j *Job, t *session.Turn) error {
	if t.State != session.Done {
		return r.after(ctx, j, r.cutOff(ctx, j, t))
	}
	title := j.Title()
	stands, err := answers(r.Tools.At(ctx, j.Path, "HEAD"))
	if err != nil {
		return err
	}
	branch, err := r.tipNow(ctx, j.Repo, j.Branch)
	if err != nil {
		return err
	}
	own := []string{stands, branch} // commits of the agent's own
	head, err := r.Tools.Commit(ctx, j.Path, j.Base, r.line(ctx, j),
		fmt.Sprintf("%s\n\nJob: %s\nTurn: %s\n", fault.Clip(title, 72), j.ID, t.ID), j.author())
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return r.after(ctx, j, r.failure(j, err))
	}
	now := ""
	if j.Onto != "" {
		if now, err = r.tipNow(ctx, j.Repo, j.Onto); err != nil {
			return err
		}
	}
	if merged, err := r.merged(ctx, j, now, append(own, head)...); err != nil {
		return err
	} else if merged {
		return r.after(ctx, j, Event{Kind: Failed, Tip: now, Text: fmt.Sprintf("during the turn the branch %s moved to %s, which holds "+
			"work of this job, and nobody merged it with tandem; look at it: git -C %s log %s", j.Onto, now, quoted(j.Repo), now)})
	}
	answered, err := r.answered(ctx, j, head)
	if err != nil { // they stay open, which a person sees
		r.Log.Warn("see whether comments were answered", "job", j.ID, "err", err)
	}
	return r.after(ctx, j, Event{Kind: Ended, Commit: head, Answered: answered})
}

// tip is where the branch of a job stands; "" when there is none.
func (r *Room) tip(ctx context.Context, repo, onto string) string {
	if onto == "" {
		return ""
	}
	return r.Tools.Tip(ctx, repo, "refs/heads/"+onto)
}

// tipNow is where the branch of a job stands, for what is decided or written down by that; "" when there is none.
func (r *Room) tipNow(ctx context.Context, repo, onto string) (string, error) {
	if onto == "" {
		return "", nil
	}
	return answers(r.Tools.At(ctx, repo, "refs/heads/"+onto))
}

// merged says whether the branch came to hold work of the job during its turn. The agent's own git can write refs of the repository: this
// tells that it did.
func (r *Room) merged(ctx context.Context, j *Job, now string, own ...string) (bool, error) {
	if j.Tip == "" || now == "" || now == j.Tip {
		return false, nil
	}
	if has, err := answers(r.Tools.Has(ctx, j.Repo, j.Base, now)); err != nil || has {
		return false, err
	}
	for _, c := range own {
		if c == "" {
			continue
		}
		if has, err := answers(r.Tools.Has(ctx, j.Repo, c, now)); err != nil || has {
			return has, err
		}
		if c == j.Base {
			continue
		}
		if has, err := answers(r.Tools.Has(ctx, j.Repo, now, c)); err != nil || has {
			return has, err
		}
	}
	return false, nil
}

// line is where the next commit of the job goes: on its own branch, on top of its last commit and of a branch that was merged into its
// workspace meanwhile. It is known from the job's row: what the agent did to HEAD and to history does not count.
func (r *Room) line(ctx context.Context, j *Job) checkout.Line {
	l := checkout.Line{Branch: j.Branch, Parents: []string{cmp.Or(j.Commit, j.Base)}}
	if l.Parents[0] != j.Base && !r.Tools.Holds(ctx, j.Repo, l.Parents[0], j.Base) {
		l.Parents = append(l.Parents, j.Base)
	}
	return l
}

// author is the session, as commits name it.
func (j *Job) author() checkout.Author {
	return checkout.Author{Name: j.Agent, Mail: j.Session + "@tandem.invalid"}
}

// hush ends what the session of a stopped job is about; a prompt that was on its way when it was stopped has arrived by now. What cannot
// be ended is tried again.
func (r *Room) hush(ctx context.Context, j *Job) error {
	_, err := op.Do(op.WithCaller(ctx, j.Caller), r.Rooms, sessionCancel, session.TurnIn{ID: j.Session})
	if refused(err) {
		err = r.End(ctx, j.Tenant, j.Session, false)
	}
	if err == nil || fault.Is(err, fault.NotFound) {
		return r.after(ctx, j, Event{Kind: Hushed})
	}
	if why := fault.Public(err).Msg; why != j.Unended && ctx.Err() == nil {
		if said := r.happened(ctx, j, Event{Kind: Unended, Text: why}); said != nil {
			return said
		}
	}
	return fmt.Errorf("end the turn of a stopped job: %w", err)
}

// refused says that something was not done because of who wanted it. What somebody may not see is not found for them. Who stops or merges
// a job was let in for that, and the rights that its starter has left are no reason for an agent to go on.
func refused(err error) bool {
	switch fault.KindOf(err) {
	case fault.Denied, fault.Unauthenticated, fault.NotFound, fault.Pending:
		return err != nil
	}
	return false
}

// leave takes the workspace away.
func (r *Room) leave(ctx context.Context, j *Job) error {
	as := op.WithCaller(ctx, j.Caller)
	if wire.Program(j.Agent) || wire.Program(j.Taker) { // of one that was about to take over, too
		_, err := op.Do(as, r.Rooms, sessionClose, terminal.NameIn{Name: j.Seat})
		if refused(err) {
			err = r.End(ctx, j.Tenant, j.Session, true)
		}
		if err != nil && !fault.Is(err, fault.NotFound) {
			return r.happened(ctx, j, Event{Kind: Stuck, Text: "its session could not be closed: " + fault.Public(err).Msg})
		}
	}
	for begun := time.Now(); ; pause(ctx, nil, 100*time.Millisecond) {
		_, err := op.Do(as, r.Rooms, sessionDiscard, session.IDIn{ID: j.Session})
		if refused(err) {
			err = r.TakeBack(op.WithCaller(ctx, j.Caller), j.Tenant, j.Path)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if _, there := os.Lstat(j.Path); os.IsNotExist(there) {
			return r.happened(ctx, j, Event{Kind: Gone})
		}
		// A turn that was just cancelled is still open for a moment.
		if err != nil && time.Since(begun) > 10*time.Second {
			return r.happened(ctx, j, Event{Kind: Stuck, Text: "its workspace " + j.Path + " could not be taken away: " + fault.Public(err).Msg})
		}
	}
}
