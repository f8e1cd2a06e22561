package terminal

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/session/agents"
)

// OpenIn opens a real agent program in a terminal.
type OpenIn struct {
	Cwd    string `json:"cwd,omitempty" jsonschema:"the working folder, absolute, in the allowlist; the default one when left out"`
	Name   string `json:"name,omitempty" jsonschema:"letters, digits, - and _; one is made when left out. The terminal is ccm-NAME"`
	Agent  string `json:"agent,omitempty" jsonschema:"the program: claude"`
	Model  string `json:"model,omitempty" jsonschema:"default, opus, sonnet, haiku or a full claude-* id, for this session only"`
	Effort string `json:"effort,omitempty" jsonschema:"low, medium, high, xhigh or max, for this session only"`
	Skip   bool   `json:"skip_permissions,omitempty" jsonschema:"ask for no permissions; only where a person granted that"`
	Resume bool   `json:"resume,omitempty" jsonschema:"start a session of this name again whose program ended, in the same conversation"`
	Relay  string `json:"-"`
}

// NameIn names a session.
type NameIn struct {
	Name string `json:"name" jsonschema:"the session's name, without ccm-"`
}

// SendIn gives a session a prompt, or asks what is new.
type SendIn struct {
	Name   string `json:"name" jsonschema:"the session's name, without ccm-"`
	Text   string `json:"text,omitempty" jsonschema:"the prompt, or a slash command; without it only new output is fetched"`
	Model  string `json:"model,omitempty" jsonschema:"for this turn only"`
	Effort string `json:"effort,omitempty" jsonschema:"for this turn only"`
	Cursor *int64 `json:"cursor,omitempty" jsonschema:"only output behind this place, as the last answer gave it"`
	Wait   *int   `json:"wait_ms,omitempty" jsonschema:"wait at most this long; TANDEM_WAIT_MS when left out"`
}

// SendOut is what a session said.
type SendOut struct {
	Name   string `json:"name"`
	Turn   string `json:"turn,omitempty"`
	Status string `json:"status" jsonschema:"done, running, waiting (for a person), interrupted, failed, idle, or the state of a program that is gone"`
	Idle   bool   `json:"idle" jsonschema:"no turn is under way: nothing more will come"`
	Report string `json:"report,omitempty" jsonschema:"what the agent said, whole"`
	Reason string `json:"reason,omitempty"`
	Ask    string `json:"ask,omitempty" jsonschema:"the approval or question that it waits for"`
	State  State  `json:"state"`
	Signal string `json:"signal" jsonschema:"what this was read from"`
	Cursor int64  `json:"cursor" jsonschema:"give this next time to get only what is new"`
}

// SeatsOut lists sessions, newest first.
type SeatsOut struct {
	Sessions []Seat `json:"sessions"`
}

// LiveIn asks for sessions with agent programs.
type LiveIn struct {
	Recent int `json:"recent,omitempty" jsonschema:"so many closed ones too, 20 when left out"`
}

func at(id string) op.Resource { return op.Resource{Kind: "session", Path: "/" + id} }

// byName resolves a name for policy: what does not exist is the whole kind, and its handler says not found.
func (d *Driver) byName(name string) op.Resource {
	if rows, err := d.rows(context.Background(), "name = ? AND closed_at = 0", name); err == nil && len(rows) == 1 {
		return at(rows[0].Session)
	}
	return at("")
}

// Ops is the driver's front door: the tools of the bridge, and what programs call.
func (d *Driver) Ops() []op.Op {
	named := func(in NameIn) op.Resource { return d.byName(in.Name) }
	return append(d.watchOps(),
		op.Effect(op.Spec{Name: "session.open", Right: "session.create", Method: "POST", Path: "/terminals", MCP: "open_session",
			Doc: "Open a real, interactive Claude Code session in an allowed folder.\nIt runs in a terminal that the person can attach to: tmux attach -t ccm-NAME."},
			func(OpenIn) op.Resource { return at("") }, d.Open, nil),
		op.Read(op.Spec{Name: "session.live", Right: "session.list", Masked: true, Method: "GET", Path: "/terminals", MCP: "list_sessions",
			Doc: "List sessions with real agent programs: live ones with their state, and recent ones."},
			func(LiveIn) op.Resource { return at("") }, d.liveOp),
		op.Read(op.Spec{Name: "session.send", Right: "session.read", Method: "POST", Path: "/terminals/{name}/send", MCP: "send_to_session",
			Doc: "Send a prompt or slash command to a session and wait for the turn, for a bounded time.\nstatus \"running\" means: call again without text, with the cursor, until idle is true. Sending needs the right to prompt the session."},
			func(in SendIn) op.Resource { return d.byName(in.Name) }, d.send),
		op.Read(op.Spec{Name: "session.interrupt", Right: "session.read", Method: "POST", Path: "/terminals/{name}/interrupt", MCP: "interrupt_session",
			Doc: "Interrupt a session's running turn and keep the session. Needs the right to prompt it."}, named, d.interruptOp),
		op.Effect(op.Spec{Name: "session.close", Right: "session.prompt", Method: "DELETE", Path: "/terminals/{name}", MCP: "close_session",
			Doc: "Close a session: its program ends; its conversation and record stay."}, named, d.closeOp, nil),
		d.hookOp(),
		d.useOp(),
	)
}

// Open opens a session for the caller of ctx.
func (d *Driver) Open(ctx context.Context, in OpenIn) (Seat, error) {
	c := op.CallerFrom(ctx)
	if in.Agent == "" {
		in.Agent = "claude"
	}
	if in.Agent != "claude" {
		return Seat{}, fault.New(fault.Invalid, "session.open", "agent %.40q is not accepted: use claude", in.Agent)
	}
	if in.Name == "" {
		in.Name = "s" + newConversation()[:8]
	}
	for _, err := range []error{CheckName(in.Name, in.Relay != ""), agents.CheckModel(in.Model), agents.CheckEffort(in.Effort), d.noTmux} {
		if err != nil {
			return Seat{}, err
		}
	}
	if in.Cwd == "" {
		in.Cwd = d.Default
	}
	folder, err := d.Allow.Real(in.Cwd)
	if err != nil {
		return Seat{}, err
	}
	if rel, err := filepath.Rel(d.data(), folder); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return Seat{}, fault.New(fault.Denied, "session.open", "%s belongs to tandem itself", folder)
	}
	if in.Skip && !d.Skip {
		return Seat{}, fault.New(fault.Denied, "session.open", "skipping permissions was not granted").WithNext("a person grants it in the settings: TANDEM_SKIP_PERMISSIONS=1")
	}
	if old, err := d.named(ctx, c.Tenant, in.Name); err == nil && old.ClosedAt.IsZero() {
		return d.reopen(ctx, old, in, folder)
	} else if err != nil && !fault.Is(err, fault.NotFound) {
		return Seat{}, err
	}
	program, err := d.findClaude()
	if err != nil {
		return Seat{}, err
	}
	r := &row{Tenant: c.Tenant, Program: program, Config: agents.ConfigFolder(d.Env, d.Home), RunModel: in.Model, RunEffort: in.Effort, Seat: Seat{Name: in.Name, Agent: in.Agent, Folder: folder,
		Model: in.Model, Effort: in.Effort, State: Starting, Signal: "launch", Skip: in.Skip, Relay: in.Relay, Attach: "tmux attach -t " + Prefix + in.Name, Confined: d.confinement()}}
	err = d.db.Write(ctx, func(tx *db.Tx) error {
		model := in.Model
		if model == "" {
			model = "default"
		}
		s := &session.Session{Title: in.Name, Directory: folder, Driver: DriverName, Model: "claude/" + model}
		if err := d.room.Add(tx, c, s); err != nil {
			return err
		}
		r.Session, r.CreatedAt, r.Since = s.ID, tx.Now(), tx.Now()
		return save(tx, r)
	})
	if err != nil {
		return Seat{}, err
	}
	op.Note(ctx, "session", r.Session)
	op.Note(ctx, "confined", r.Confined)
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
func (d *Driver) reopen(ctx context.Context, old *row, in OpenIn, folder string) (Seat, error) {
	switch {
	case !op.May(ctx, "session.prompt", at(old.Session)):
		return Seat{}, fault.New(fault.Conflict, "session.open", "the name %s is taken", in.Name)
	case old.Relay != "" && in.Relay == "":
		return Seat{}, owned(old)
	case d.present(ctx, old.Session) != nil:
		return Seat{}, fault.New(fault.Conflict, "session.open", "%s is open already", in.Name).WithNext("send to it, or close it first")
	case folder != old.Folder:
		return Seat{}, fault.New(fault.Conflict, "session.open", "%s works in %s", in.Name, old.Folder).WithNext("open it there, or close it first")
	}
	s := d.seat(old)
	if err := s.launch(ctx); err != nil {
		return Seat{}, err
	}
	op.Note(ctx, "session", old.Session)
	d.start(s)
	return d.settled(ctx, s), nil
}

// settled waits until a program that was started can be told something, or somebody has to look at it.
func (d *Driver) settled(ctx context.Context, s *seat) Seat {
	for end := time.Now().Add(d.Wait); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(50 * time.Millisecond) {
		if v := s.view(); v.State != Starting {
			return v
		}
	}
	return s.view()
}

func (d *Driver) confinement() string {
	switch d.Confine {
	case "bwrap":
		return "bwrap"
	case "auto":
		if haveBwrap() {
			return "bwrap"
		}
	}
	return "none"
}

func owned(r *row) error {
	return fault.New(fault.Conflict, "session", "%s belongs to the relay %s", r.Name, r.Relay).WithNext("steer it with the relay tool: inject, enqueue or stop")
}

func (d *Driver) liveOp(ctx context.Context, in LiveIn) (SeatsOut, error) {
	if in.Recent < 0 || in.Recent > 500 {
		return SeatsOut{}, fault.New(fault.Invalid, "session.live", "recent lies between 0 and 500")
	}
	if in.Recent == 0 {
		in.Recent = 20
	}
	tenant := op.CallerFrom(ctx).Tenant
	out := SeatsOut{Sessions: []Seat{}}
	open, err := d.rows(ctx, "tenant = ? AND closed_at = 0 ORDER BY created_at DESC", tenant)
	if err != nil {
		return out, err
	}
	closed, err := d.rows(ctx, "tenant = ? AND closed_at > 0 ORDER BY closed_at DESC LIMIT ?", tenant, in.Recent)
	if err != nil {
		return out, err
	}
	for _, r := range append(open, closed...) {
		if !op.May(ctx, "session.list", at(r.Session)) {
			continue
		}
		if s := d.present(ctx, r.Session); s != nil {
			r.Seat = s.view()
		}
		held, _ := d.held(ctx, r.Session)
		r.Held = held.Held
		out.Sessions = append(out.Sessions, r.Seat)
	}
	return out, nil
}

// drivable finds an open session that generic tools may drive.
func (d *Driver) drivable(ctx context.Context, name string) (*row, error) {
	r, err := d.named(ctx, op.CallerFrom(ctx).Tenant, strings.TrimPrefix(name, Prefix))
	if err != nil {
		return nil, err
	}
	if !op.May(ctx, "session.read", at(r.Session)) {
		return nil, fault.New(fault.NotFound, "session", "there is no session %.64q", name)
	}
	if r.Relay != "" {
		return nil, owned(r)
	}
	return r, nil
}

func (d *Driver) send(ctx context.Context, in SendIn) (SendOut, error) {
	r, err := d.drivable(ctx, in.Name)
	if err != nil {
		return SendOut{}, err
	}
	return d.Send(ctx, r.Session, in)
}

// Send prompts a session as the caller of ctx and waits a bounded time for the end of the turn.
func (d *Driver) Send(ctx context.Context, id string, in SendIn) (SendOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	for _, err := range []error{agents.CheckModel(in.Model), agents.CheckEffort(in.Effort)} {
		if err != nil {
			return SendOut{}, err
		}
	}
	if op.CallerFrom(ctx).Session == id {
		return SendOut{}, fault.New(fault.Conflict, "session.send", "a session that sends to itself would wait for itself")
	}
	s, err := d.room.Get(ctx, tenant, id)
	if err != nil {
		return SendOut{}, err
	}
	cursor, turn := int64(0), ""
	if in.Cursor != nil {
		cursor = *in.Cursor
	}
	if in.Text != "" {
		if err := CheckText(in.Text); err != nil {
			return SendOut{}, err
		}
		if d.present(ctx, id) == nil {
			return SendOut{}, fault.New(fault.Conflict, "session.send", "%s is not live", in.Name).WithNext("start it again in the same conversation: open_session with its name and resume")
		}
		if in.Cursor == nil {
			cursor = s.Events
		}
		p := session.PromptIn{ID: id, Text: in.Text, Options: session.Options{Effort: in.Effort}}
		if in.Model != "" {
			p.Options.Model = "claude/" + in.Model
		}
		out, err := d.gate.Invoke(ctx, "session.prompt", p)
		if err != nil {
			return SendOut{}, err
		}
		turn = out.(*session.Turn).ID
	}
	wait := d.Wait
	if in.Wait != nil {
		wait = min(time.Duration(max(*in.Wait, 0))*time.Millisecond, 10*time.Minute)
	}
	t, err := d.await(ctx, tenant, id, turn, wait)
	if err != nil {
		return SendOut{}, err
	}
	only := ""
	if in.Cursor == nil {
		only = turn
	}
	return d.report(ctx, id, in.Name, t, cursor, only)
}

// await waits for a turn (any open one when turn is empty) to end or to need somebody.
func (d *Driver) await(ctx context.Context, tenant, id, turn string, wait time.Duration) (t *session.Turn, err error) {
	for end := time.Now().Add(wait); ; {
		if turn == "" {
			if t, err = d.room.Next(ctx, tenant, id); err != nil || t == nil {
				return t, err
			}
			turn = t.ID
		} else if t, err = d.room.Turn(ctx, tenant, turn); err != nil {
			return nil, err
		}
		if t.State.Ended() || t.State == session.Waiting || !time.Now().Before(end) {
			return t, nil
		}
		select {
		case <-ctx.Done():
			return t, nil
		case <-time.After(40 * time.Millisecond):
		}
	}
}

// report is what a session said behind a place, or only in one turn.
func (d *Driver) report(ctx context.Context, id, name string, t *session.Turn, cursor int64, only string) (SendOut, error) {
	rows, err := d.rows(ctx, "tenant = ? AND session = ?", op.CallerFrom(ctx).Tenant, id)
	if err != nil || len(rows) == 0 {
		return SendOut{}, err
	}
	v := rows[0].Seat
	if s := d.live(id); s != nil {
		v = s.view()
	}
	out := SendOut{Name: name, Status: "idle", Idle: true, State: v.State, Signal: v.Signal, Cursor: cursor}
	var said []string
	for {
		page, err := d.gate.Invoke(ctx, "session.events", session.EventsIn{ID: id, After: out.Cursor, Limit: 1000})
		if err != nil {
			return SendOut{}, err
		}
		events := page.(session.EventsOut).Events
		for _, e := range events {
			out.Cursor = e.Seq
			if e.Type != session.EventMessage {
				continue
			}
			var m session.Message
			if err := json.Unmarshal(e.Body, &m); err != nil {
				return SendOut{}, err
			}
			if text := words(m); m.Role == session.RoleAssistant && text != "" && (only == "" || m.Turn == only) {
				said = append(said, text)
			}
		}
		if len(events) < 1000 {
			break
		}
	}
	out.Report = strings.Join(said, "\n\n")
	if v.State.Gone() {
		out.Status, out.Reason = string(v.State), v.Detail
	}
	if t == nil {
		return out, nil
	}
	out.Turn, out.Reason, out.Ask = t.ID, t.Reason, t.Ask
	out.Idle = t.State.Ended()
	switch t.State {
	case session.Done:
		out.Status, out.Signal = "done", v.EndedBy
	case session.Failed:
		out.Status, out.Signal = "failed", v.EndedBy
	case session.Cancelled:
		out.Status, out.Signal = "interrupted", v.EndedBy
	case session.Waiting:
		out.Status = "waiting"
	default:
		out.Status = "running"
	}
	return out, nil
}

func words(m session.Message) string {
	var all []string
	for _, b := range m.Blocks {
		if b.Text != "" {
			all = append(all, b.Text)
		}
	}
	return strings.Join(all, "\n")
}

func (d *Driver) interruptOp(ctx context.Context, in NameIn) (SendOut, error) {
	r, err := d.drivable(ctx, in.Name)
	if err != nil {
		return SendOut{}, err
	}
	t, err := d.room.Next(ctx, r.Tenant, r.Session)
	if err != nil {
		return SendOut{}, err
	}
	if d.present(ctx, r.Session) == nil {
		return SendOut{}, fault.New(fault.Conflict, "session.interrupt", "%s is not live", in.Name)
	}
	s, err := d.room.Get(ctx, r.Tenant, r.Session)
	if err != nil {
		return SendOut{}, err
	}
	if t == nil {
		return d.report(ctx, r.Session, in.Name, nil, s.Events, "")
	}
	if _, err := d.gate.Invoke(ctx, "session.cancel", session.TurnIn{ID: r.Session}); err != nil {
		return SendOut{}, err
	}
	if t, err = d.await(ctx, r.Tenant, r.Session, t.ID, 15*time.Second); err != nil {
		return SendOut{}, err
	}
	return d.report(ctx, r.Session, in.Name, t, s.Events, "")
}

func (d *Driver) closeOp(ctx context.Context, in NameIn) (Seat, error) {
	r, err := d.drivable(ctx, in.Name)
	if err != nil {
		return Seat{}, err
	}
	if !r.ClosedAt.IsZero() {
		return r.Seat, nil
	}
	return d.Shut(ctx, r.Session)
}

// Shut ends a session's program and its terminal. What it said and did stays.
func (d *Driver) Shut(ctx context.Context, id string) (Seat, error) {
	rows, err := d.rows(ctx, "session = ?", id)
	if err != nil || len(rows) == 0 {
		return Seat{}, fault.New(fault.NotFound, "session.close", "there is no session %.64s", id)
	}
	r := rows[0]
	s := d.present(ctx, id)
	if s != nil {
		s.stop()
		s.dropWaits("the session was closed")
		<-s.done
		d.mu.Lock()
		delete(d.seats, id)
		d.mu.Unlock()
	} else {
		s = d.seat(r)
	}
	if err := d.end(ctx, s.row.Name); err != nil {
		return Seat{}, err
	}
	for {
		t, err := d.room.Next(ctx, r.Tenant, id)
		if err != nil {
			return Seat{}, err
		}
		if t == nil {
			break
		}
		if _, err := d.room.End(ctx, t, session.Cancelled, "the session was closed"); err != nil && !fault.Is(err, fault.Conflict) {
			return Seat{}, err
		}
	}
	d.CloseSocket(id)
	s.update(func(r *row) bool {
		r.State, r.Signal, r.Detail, r.ClosedAt = Closed, "request", "", d.db.Now()
		return true
	})
	if err := os.RemoveAll(s.folder()); err != nil {
		d.log.Warn("remove a session's folder", "session", id, "err", err)
	}
	return s.view(), nil
}

// end closes a terminal, and makes sure that its program is gone.
func (d *Driver) end(ctx context.Context, name string) error {
	p, err := d.tmux.Pane(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := d.tmux.Kill(ctx, name); err != nil {
		return err
	}
	return reap(p.PID)
}
