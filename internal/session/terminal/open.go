package terminal

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/agents"
	"tandem/internal/session/checkout"
)

// Open opens a session for the caller of ctx.
func (d *Driver) Open(ctx context.Context, in OpenIn) (Seat, error) {
	c := op.CallerFrom(ctx)
	if in.Name == "" {
		in.Name = "s" + newConversation()[:8]
	}
	if strings.HasPrefix(in.Name, "ses_") && in.Resume {
		known, err := d.named(ctx, c.Tenant, in.Name)
		if err != nil {
			return Seat{}, err
		}
		in.Name = known.Name
	}
	if err := CheckName(in.Name, in.Relay != ""); err != nil {
		return Seat{}, err
	}
	if in.As != "" {
		as, err := d.As(ctx, c, in.As)
		if err != nil {
			return Seat{}, err
		}
		c = as
		op.Note(ctx, "as", as.Name)
	}
	old, err := d.named(ctx, c.Tenant, in.Name)
	switch {
	case err == nil && old.ClosedAt.IsZero():
		if in.Resume { // it goes on where it was, whoever asks from wherever
			in.Cwd = orElse(in.Cwd, orElse(old.Repo, old.Folder))
		}
		in.Agent = orElse(in.Agent, old.Agent)
	case err != nil && !fault.Is(err, fault.NotFound):
		return Seat{}, err
	default:
		old = nil
	}
	in.Agent = orElse(in.Agent, agents.ClaudeName)
	for _, err := range []error{agents.Check(in.Agent, in.Model, in.Effort), checkBudget(in.Budget), d.tmux.Missing()} {
		if err != nil {
			return Seat{}, err
		}
	}
	if in.Cwd == "" {
		usual, err := d.usual(ctx, c)
		if err != nil {
			return Seat{}, err
		}
		in.Cwd = usual
	}
	folder, err := d.Allow.Real(in.Cwd)
	if err != nil {
		return Seat{}, err
	}
	if rel, err := filepath.Rel(d.data(), folder); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return Seat{}, fault.New(fault.Denied, "session.open", "%s belongs to tandem itself", folder)
	}
	if in.Skip {
		if err := d.maySkip(ctx, c.Tenant, folder, d.Skip); err != nil {
			return Seat{}, err
		}
	}
	if old != nil {
		return d.reopen(ctx, old, in, folder, c)
	}
	program, err := d.find(in.Agent)
	if err != nil {
		return Seat{}, err
	}
	confined, err := d.confinement(ctx)
	if err != nil {
		return Seat{}, err
	}
	if in.Narrow && confined != "bwrap" {
		return Seat{}, fault.New(fault.Denied, "session.open", "nothing keeps an agent to its folder on this machine").
			WithNext("install bubblewrap, and see whether it works: tandem doctor")
	}
	if err := d.notASetting(folder, confined); err != nil {
		return Seat{}, err
	}
	own, err := d.ownCheckout(ctx, in, folder)
	if err != nil {
		return Seat{}, err
	}
	repo := ""
	if own.Path != "" {
		repo, folder = folder, own.Folder
	}
	seat, err := d.openIn(ctx, c, in, folder, program, confined, own.Path, repo)
	if err != nil && own.Path != "" && in.Checkout == "" {
		if undone := d.room.Undo(ctx, c.Tenant, own); undone != nil {
			d.log.Error("take a checkout back", "path", own.Path, "err", undone)
		}
	}
	return seat, err
}

// branching is what opening a session touches beside it: the repository that gets a branch for it.
func (d *Driver) branching(ctx context.Context, in OpenIn) op.Touch {
	if !in.Worktree && !in.Workspace {
		return op.Touch{}
	}
	folder := in.Cwd
	if folder == "" {
		usual, err := d.usual(ctx, op.CallerFrom(ctx))
		if err != nil {
			return op.Touch{Caution: "nobody knows which folder gets a checkout"}
		}
		folder = usual
	}
	if real, err := d.Allow.Real(folder); err == nil {
		folder = real
	}
	return session.Branching(folder)
}

// ownCheckout makes the checkout that a session wants for itself; none when it wants none.
func (d *Driver) ownCheckout(ctx context.Context, in OpenIn, folder string) (session.Checkout, error) {
	switch {
	case in.Checkout != "" && (in.Worktree || in.Workspace):
		return session.Checkout{}, fault.New(fault.Invalid, "session.open", "a checkout is made, or taken over: choose one")
	case in.Checkout != "" && op.CallerFrom(ctx).Door != op.DoorInside: // whoever may change its repository started the job
		return session.Checkout{}, fault.New(fault.Denied, "session.open", "a checkout is given on within a job alone").
			WithNext("hand the job to another agent: tandem job resume JOB --agent AGENT; or work in a checkout of its own: --worktree")
	case in.Checkout != "":
		return d.room.Left(ctx, in.Checkout, folder)
	case in.Worktree && in.Workspace:
		return session.Checkout{}, fault.New(fault.Invalid, "session.open", "a worktree is git's and a workspace is jj's: choose one")
	case in.Worktree:
		return d.room.Apart(ctx, checkout.Worktree, folder, in.Name)
	case in.Workspace:
		return d.room.Apart(ctx, checkout.Workspace, folder, in.Name)
	}
	return session.Checkout{}, nil
}

// openIn opens a new session in a folder that it may use.
func (d *Driver) openIn(ctx context.Context, c op.Caller, in OpenIn, folder, program, confined, own, repo string) (Seat, error) {
	r := &row{Tenant: c.Tenant, Skips: in.Skip, Narrow: in.Narrow, Reads: len(in.Knowledge) > 0, Lives: d.Lives, Repo: repo, Program: program,
		Config: agents.StateFolder(in.Agent, d.Env, d.Home), RunModel: in.Model, RunEffort: in.Effort,
		Seat: Seat{Name: in.Name, Agent: in.Agent, Folder: folder,
			Checkout: own, Model: in.Model, Effort: in.Effort, State: Starting, Signal: "launch", Skip: in.Skip, Relay: in.Relay,
			Attach: d.attachLine(in.Name), Confined: confined}}
	r.Boundary = d.boundary(r.Agent, r.Confined)
	err := d.db.Write(ctx, func(tx *db.Tx) error {
		model := in.Model
		if model == "" {
			model = "default"
		}
		s := &session.Session{Title: in.Name, Directory: folder, Driver: DriverName, Model: in.Agent + "/" + model,
			Config: session.Config{Budget: in.Budget, Narrow: in.Narrow, Knowledge: in.Knowledge, Cite: in.Cite}}
		if err := d.room.Add(ctx, tx, c, s, r.reach()); err != nil {
			return err
		}
		r.Session, r.CreatedAt, r.Since = s.ID, tx.Now(), tx.Now()
		if err := save(tx, r); err != nil {
			return err
		}
		return d.room.Added(tx, c, s, r.seal())
	})
	if err != nil {
		return Seat{}, err
	}
	op.Note(ctx, "session", r.Session)
	op.Note(ctx, "confined", r.Confined)
	if err := d.room.Begun(ctx, &session.Session{Tenant: r.Tenant, ID: r.Session, Directory: folder}); err != nil {
		d.log.Warn("look at a session's folder", "session", r.Session, "err", err)
	}
	s := d.seat(r)
	if err := s.launch(ctx); err != nil {
		s.update(func(r *row) bool {
			r.State, r.Detail, r.ClosedAt = Closed, fault.Public(err).Msg, d.db.Now()
			return true
		})
		d.CloseSocket(r.Session)
		return Seat{}, err
	}
	d.start(s)
	return d.settled(ctx, s), nil
}

// reopen starts a session's program again when it ended, in the same conversation.
func (d *Driver) reopen(ctx context.Context, old *row, in OpenIn, folder string, c op.Caller) (Seat, error) {
	s, err := d.again(ctx, old, in, folder, c)
	if err != nil {
		return Seat{}, err
	}
	return d.settled(ctx, s), nil
}

// again starts it, once of all who want that at the same time: two who waited for its end both started it.
func (d *Driver) again(ctx context.Context, old *row, in OpenIn, folder string, c op.Caller) (*seat, error) {
	if !op.May(ctx, "session.prompt", at(old.Session)) {
		return nil, fault.New(fault.Conflict, "session.open", "the name %s is taken", in.Name)
	}
	over, err := d.alone(ctx, old.Session)
	if err != nil {
		return nil, err
	}
	defer over()
	stays := d.stays(ctx, old.Session)
	if old, err = d.named(ctx, c.Tenant, old.Session); err != nil { // what its end, or who came before, wrote down
		return nil, err
	}
	switch {
	case !old.ClosedAt.IsZero():
		return nil, fault.New(fault.Conflict, "session.open", "%s was closed meanwhile", in.Name).WithNext("say it again: it is a new one then")
	case old.Relay != "" && in.Relay == "":
		return nil, owned(old)
	case stays:
		return nil, fault.New(fault.Conflict, "session.open", "%s is open already", in.Name).WithNext("send to it, or close it first")
	case in.Agent != old.Agent:
		return nil, fault.New(fault.Conflict, "session.open", "%s is a session with %s", in.Name, old.Agent).
			WithNext("start it again as that: tandem session open %s --resume; or close it first", in.Name)
	case folder != orElse(old.Repo, old.Folder):
		return nil, fault.New(fault.Conflict, "session.open", "%s works in %s", in.Name, old.Folder).
			WithNext("start it again there: tandem session open %s --resume; or close it first", in.Name)
	}
	if err := d.driven(ctx, old); err != nil {
		return nil, err
	}
	if err := d.weigh(ctx, old); err != nil {
		return nil, err
	}
	if was, err := d.room.Get(ctx, c.Tenant, old.Session); err != nil {
		return nil, err
	} else if in.As != "" && !slices.Contains(was.Caller().For, string(op.Agent)+":"+c.Name) {
		return nil, fault.New(fault.Conflict, "session.open", "%s was not opened as %s", in.Name, c.Name).
			WithNext("close it first, or take another name")
	}
	s := d.seat(old)
	if err := s.launch(ctx); err != nil {
		return nil, err
	}
	op.Note(ctx, "session", old.Session)
	d.start(s)
	return s, nil
}

// settled waits until a program that was started can be told something, or somebody has to look at it.
func (d *Driver) settled(ctx context.Context, s *seat) Seat {
	for end := time.Now().Add(d.Wait); s.view().State == Starting && time.Now().Before(end) &&
		ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
	}
	return s.view()
}

// attachLine is what a person types to see a terminal.
func (d *Driver) attachLine(name string) string {
	line := "attach -t " + Prefix + name
	switch {
	case d.Socket == "":
		return "tmux " + line
	case strings.Contains(d.Socket, "/"):
		return "tmux -S " + agents.ShellQuote(d.Socket) + " " + line
	}
	return "tmux -L " + agents.ShellQuote(d.Socket) + " " + line
}

// boundary says in words what keeps a program in.
func (d *Driver) boundary(agent, confined string) string {
	if confined != "bwrap" {
		return "nothing keeps it from what this user may do, also not from answering its own dialogs in its terminal; " +
			"deciding asks needs a person all the same"
	}
	said := "it sees its folder, its own state and its session's socket"
	if agent == agents.OpenCodeName {
		said += "; what it runs can reach its own server and answer its own dialogs, which is recorded as unproven"
	}
	if d.boxes != nil && !d.boxes.KeepsAbstract() {
		said += "; " + session.OpenSockets
	}
	return said
}
