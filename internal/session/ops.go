package session

import (
	"context"
	"database/sql"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/provider"
)

// CreateIn opens a session.
type CreateIn struct {
	Title     string `json:"title,omitempty"`
	Directory string `json:"directory,omitempty" jsonschema:"the working folder, absolute; it should lie in a granted one"`
	Model     string `json:"model,omitempty" jsonschema:"provider/model; the default of the settings when left out"`
	Mode      Mode   `json:"mode,omitempty" jsonschema:"immediate or plan"`
	Parent    string `json:"parent,omitempty"`
	Config    Config `json:"config,omitzero"`
}

// IDIn names a session.
type IDIn struct {
	ID string `json:"id" jsonschema:"the session's id, ses_…"`
}

// ListIn asks for a page of sessions.
type ListIn struct {
	Query    string `json:"q,omitempty" jsonschema:"only titles and texts that hold this"`
	Archived bool   `json:"archived,omitempty" jsonschema:"the archived ones instead of the others"`
	Parent   string `json:"parent,omitempty" jsonschema:"only children of this session"`
	Before   string `json:"before,omitempty" jsonschema:"only sessions made before this one: the last of the page before"`
	Limit    int    `json:"limit,omitempty" jsonschema:"at most this many, 50 when left out, 500 at most"`
}

// ListOut is a page of sessions, newest first.
type ListOut struct {
	Sessions []*Session `json:"sessions"`
	More     bool       `json:"more,omitempty"`
}

// UpdateIn changes a session; what is left out stays.
type UpdateIn struct {
	ID        string  `json:"id"`
	Title     *string `json:"title,omitempty"`
	Archived  *bool   `json:"archived,omitempty"`
	Directory *string `json:"directory,omitempty"`
	Model     *string `json:"model,omitempty"`
	Mode      *Mode   `json:"mode,omitempty"`
	Config    *Config `json:"config,omitempty"`
}

// PromptIn gives a session something to do.
type PromptIn struct {
	ID      string           `json:"id"`
	Text    string           `json:"text,omitempty" jsonschema:"what to do"`
	Images  []provider.Image `json:"images,omitempty"`
	Options Options          `json:"options,omitzero"`
}

// MessagesOut is a conversation.
type MessagesOut struct {
	Messages []*Message `json:"messages"`
}

// TurnIn names a turn.
type TurnIn struct {
	ID   string `json:"id" jsonschema:"the session's id"`
	Turn string `json:"turn,omitempty" jsonschema:"the turn's id; the open ones when left out"`
}

// TurnsOut lists turns with their calls.
type TurnsOut struct {
	Turns []*Turn `json:"turns"`
	Calls []*Call `json:"calls,omitempty"`
}

// CancelOut says how many turns were told to stop.
type CancelOut struct {
	OK        bool `json:"ok"`
	Cancelled int  `json:"cancelled"`
}

// ForkIn copies a session.
type ForkIn struct {
	ID      string `json:"id"`
	Message string `json:"message,omitempty" jsonschema:"up to this message, without it; the whole conversation when left out"`
	Title   string `json:"title,omitempty"`
}

// EventsIn asks for stored events.
type EventsIn struct {
	ID    string `json:"id"`
	After int64  `json:"after,omitempty" jsonschema:"only events behind this number"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many, 200 when left out, 1000 at most"`
}

// EventsOut is a page of events.
type EventsOut struct {
	Events []Event `json:"events"`
	Last   int64   `json:"last" jsonschema:"the number of the session's newest event"`
}

// FollowIn follows a session.
type FollowIn struct {
	ID   string `json:"id"`
	From string `json:"from,omitempty" jsonschema:"a place, seq or seq.offset; the beginning when left out"`
}

func one(in IDIn) op.Resource { return at(in.ID) }

// Ops is this room's front door.
func (r *Room) Ops() []op.Op {
	ops := []op.Op{
		op.State(op.Spec{Name: "session.create", Right: "session.create", Method: "POST", Path: "/sessions", Doc: "Open a session: an agent at work, driven by a model."},
			func(CreateIn) op.Resource { return at("") }, r.create),
		op.Read(op.Spec{Name: "session.list", Right: "session.list", Masked: true, Method: "GET", Path: "/sessions", Doc: "List sessions, newest first, or search them."},
			func(ListIn) op.Resource { return at("") }, r.list),
		op.Read(op.Spec{Name: "session.get", Right: "session.read", Method: "GET", Path: "/sessions/{id}", Doc: "Read one session."}, one, r.get),
		op.State(op.Spec{Name: "session.update", Right: "session.write", Method: "PATCH", Path: "/sessions/{id}", Doc: "Rename, archive or reconfigure a session."},
			func(in UpdateIn) op.Resource { return at(in.ID) }, r.update),
		op.State(op.Spec{Name: "session.delete", Right: "session.delete", Method: "DELETE", Path: "/sessions/{id}", MCP: "-",
			Doc: "Delete a session with its messages and events. What it did stays in the journal."}, one, r.delete),
		op.State(op.Spec{Name: "session.fork", Right: "session.create", Method: "POST", Path: "/sessions/{id}/fork", Doc: "Copy a session, whole or up to a message."},
			func(in ForkIn) op.Resource { return at(in.ID) }, r.fork),
		op.Read(op.Spec{Name: "session.messages", Right: "session.read", Method: "GET", Path: "/sessions/{id}/messages", Doc: "Read a session's conversation."}, one, r.messagesOp),
		op.State(op.Spec{Name: "session.prompt", Right: "session.prompt", Method: "POST", Path: "/sessions/{id}/prompt",
			Doc: "Give a session something to do. The turn is queued, and runs when those before it have ended."},
			func(in PromptIn) op.Resource { return at(in.ID) }, r.promptOp),
		op.State(op.Spec{Name: "session.cancel", Right: "session.prompt", Method: "POST", Path: "/sessions/{id}/cancel",
			Doc: "Stop a turn, or all open turns of a session."},
			func(in TurnIn) op.Resource { return at(in.ID) }, r.cancel),
		op.Read(op.Spec{Name: "session.turns", Right: "session.read", Method: "GET", Path: "/sessions/{id}/turns", Doc: "List a session's turns and the calls of the newest, or one turn."},
			func(in TurnIn) op.Resource { return at(in.ID) }, r.turnsOp),
		op.Read(op.Spec{Name: "session.events", Right: "session.read", Method: "GET", Path: "/sessions/{id}/events", MCP: "-", Doc: "Read a session's stored events, page by page."},
			func(in EventsIn) op.Resource { return at(in.ID) }, r.eventsOp),
		op.Stream(op.Spec{Name: "session.follow", Right: "session.watch", Method: "GET", Path: "/sessions/{id}/stream", Doc: "Follow a session's events and streaming text, from any place on."},
			func(in FollowIn) op.Resource { return at(in.ID) },
			func(ctx context.Context, in FollowIn) error {
				if _, err := ParsePlace(in.From); err != nil {
					return err
				}
				_, err := r.Get(ctx, op.CallerFrom(ctx).Tenant, in.ID)
				return err
			}),
	}
	ops = append(ops, r.folderOps()...)
	ops = append(ops, r.questionOps()...)
	ops = append(ops, r.revertOps()...)
	ops = append(ops, r.providerOps()...)
	ops = append(ops, r.readOps()...)
	ops = append(ops, r.limitOps()...)
	return append(ops, r.toolOps()...)
}

func (r *Room) create(ctx context.Context, tx *db.Tx, in CreateIn) (*Session, error) {
	c := op.CallerFrom(ctx)
	s := &Session{ID: id.New("ses"), Tenant: c.Tenant, Title: in.Title, Directory: in.Directory, Driver: DriverModel, Model: in.Model, Parent: in.Parent, Mode: in.Mode,
		Config: in.Config, Owner: c.Name, CreatedAt: tx.Now(), UpdatedAt: tx.Now(), chain: chainOf(c)}
	if s.Model == "" {
		s.Model = r.defaultModel(tx, c.Tenant)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if s.Parent != "" {
		if _, err := loadSession(inTx{tx}, c.Tenant, s.Parent, ""); err != nil {
			return nil, err
		}
	}
	if err := tell(tx, s, "", EventSession, s); err != nil {
		return nil, err
	}
	op.Note(ctx, "session", s.ID)
	return s, saveSession(tx, s)
}

func (r *Room) list(ctx context.Context, in ListIn) (ListOut, error) {
	out := ListOut{Sessions: []*Session{}}
	if in.Limit < 0 || in.Limit > 500 {
		return out, fault.New(fault.Invalid, "session.list", "limit lies between 1 and 500")
	}
	if in.Limit == 0 {
		in.Limit = 50
	}
	before := in.Before
	for {
		where, args := "tenant = ? AND archived = ?", []any{op.CallerFrom(ctx).Tenant, in.Archived}
		if before != "" {
			where, args = where+" AND id < ?", append(args, before)
		}
		if in.Parent != "" {
			where, args = where+" AND parent = ?", append(args, in.Parent)
		}
		if in.Query != "" {
			like := "%" + strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`).Replace(strings.ToLower(in.Query)) + "%"
			where += ` AND (lower(title) LIKE ? ESCAPE '\' OR EXISTS (SELECT 1 FROM session_message m WHERE m.tenant = session.tenant AND m.session = session.id AND lower(m.blocks) LIKE ? ESCAPE '\'))`
			args = append(args, like, like)
		}
		rows, err := r.db.Query(ctx, "SELECT "+sessionColumns+" FROM session WHERE "+where+" ORDER BY id DESC LIMIT 200", args...)
		page, err := db.Collect(rows, err, func(rows *sql.Rows) (*Session, error) { return scanSession(rows) })
		if err != nil {
			return out, err
		}
		for _, s := range page {
			before = s.ID
			if !op.May(ctx, "session.list", at(s.ID)) {
				continue
			}
			if len(out.Sessions) == in.Limit {
				out.More = true
				return out, nil
			}
			out.Sessions = append(out.Sessions, s)
		}
		if len(page) < 200 {
			return out, nil
		}
	}
}

func (r *Room) get(ctx context.Context, in IDIn) (*Session, error) {
	return r.Get(ctx, op.CallerFrom(ctx).Tenant, in.ID)
}

func (r *Room) update(ctx context.Context, tx *db.Tx, in UpdateIn) (*Session, error) {
	return r.change(tx, op.CallerFrom(ctx).Tenant, in.ID, func(s *Session) error {
		set(&s.Title, in.Title)
		set(&s.Archived, in.Archived)
		set(&s.Directory, in.Directory)
		set(&s.Model, in.Model)
		set(&s.Mode, in.Mode)
		set(&s.Config, in.Config)
		if err := s.check(); err != nil {
			return err
		}
		return tell(tx, s, "", EventSession, s)
	})
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func (r *Room) delete(ctx context.Context, tx *db.Tx, in IDIn) (OK, error) {
	tenant := op.CallerFrom(ctx).Tenant
	if _, err := loadSession(inTx{tx}, tenant, in.ID, tx.ForUpdate()); err != nil {
		return OK{}, err
	}
	open, err := turnsWhere(inTx{tx}, "tenant = ? AND session = ? AND ended_at = 0", tenant, in.ID)
	if err != nil {
		return OK{}, err
	}
	if len(open) > 0 {
		return OK{}, fault.New(fault.Conflict, "session.delete", "the session has %d open turns", len(open)).WithNext("stop them first: tandem session cancel %s", in.ID)
	}
	for _, table := range []string{"session_turn", "session_message", "session_call", "session_event", "session_part", "session_question", "session_file", "session_child"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND session = ?", tenant, in.ID); err != nil {
			return OK{}, err
		}
	}
	_, err = tx.Exec("DELETE FROM session WHERE tenant = ? AND id = ?", tenant, in.ID)
	return OK{true}, err
}

func (r *Room) fork(ctx context.Context, tx *db.Tx, in ForkIn) (*Session, error) {
	c := op.CallerFrom(ctx)
	from, err := loadSession(inTx{tx}, c.Tenant, in.ID, "")
	if err != nil {
		return nil, err
	}
	s := *from
	s.ID, s.Parent, s.Owner, s.chain, s.CreatedAt, s.UpdatedAt = id.New("ses"), from.ID, c.Name, chainOf(c), tx.Now(), tx.Now()
	s.Events, s.messages, s.Archived, s.Reverted = 0, 0, false, ""
	if in.Title != "" {
		s.Title = in.Title
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	ms, err := loadMessages(inTx{tx}, c.Tenant, from.ID)
	if err != nil {
		return nil, err
	}
	if err := tell(tx, &s, "", EventSession, &s); err != nil {
		return nil, err
	}
	found := in.Message == ""
	for _, m := range ms {
		if m.ID == in.Message {
			found = true
			break
		}
		m.ID, m.Turn = id.New("msg"), ""
		if err := addMessage(tx, &s, m); err != nil {
			return nil, err
		}
	}
	if !found {
		return nil, fault.New(fault.NotFound, "session.fork", "there is no message %.60s in this session", in.Message)
	}
	op.Note(ctx, "session", s.ID)
	return &s, saveSession(tx, &s)
}

func (r *Room) messagesOp(ctx context.Context, in IDIn) (MessagesOut, error) {
	s, err := r.get(ctx, in)
	if err != nil {
		return MessagesOut{}, err
	}
	ms, err := r.Messages(ctx, s.Tenant, s.ID)
	if ms == nil {
		ms = []*Message{}
	}
	return MessagesOut{ms}, err
}

func (r *Room) promptOp(ctx context.Context, tx *db.Tx, in PromptIn) (*Turn, error) {
	if strings.TrimSpace(in.Text) == "" && len(in.Images) == 0 {
		return nil, fault.New(fault.Invalid, "session.prompt", "the prompt is empty")
	}
	if len(in.Text) > MaxPrompt {
		return nil, fault.New(fault.Invalid, "session.prompt", "the prompt has %d bytes; %d are allowed", len(in.Text), MaxPrompt)
	}
	switch in.Options.ToolChoice {
	case "", "auto", "none", "required":
	default:
		return nil, fault.New(fault.Invalid, "session.prompt", "tool_choice is auto, none or required, not %q", in.Options.ToolChoice)
	}
	var blocks []provider.Block
	if in.Text != "" {
		blocks = append(blocks, provider.Block{Kind: provider.Text, Text: in.Text})
	}
	for _, i := range in.Images {
		blocks = append(blocks, provider.Block{Kind: provider.ImageKind, Image: &i})
	}
	c := op.CallerFrom(ctx)
	var t *Turn
	s, err := r.change(tx, c.Tenant, in.ID, func(s *Session) (err error) {
		if err := r.guard(ctx, tx, s); err != nil {
			return err
		}
		check := *s
		check.Model, check.Mode = orElse(in.Options.Model, s.Model), orElse(in.Options.Mode, s.Mode)
		if err := check.check(); err != nil {
			return err
		}
		t, err = r.prompt(tx, s, c, blocks, in.Options)
		return err
	})
	if err != nil {
		return nil, err
	}
	op.Note(ctx, "turn", t.ID)
	tx.AfterCommit(func() { r.wake(s) })
	return t, nil
}

func orElse[T ~string](a, b T) T {
	if a != "" {
		return a
	}
	return b
}

func (r *Room) cancel(ctx context.Context, tx *db.Tx, in TurnIn) (CancelOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	out := CancelOut{OK: true}
	s, err := r.change(tx, tenant, in.ID, func(s *Session) error {
		if err := r.guard(ctx, tx, s); err != nil {
			return err
		}
		open, err := turnsWhere(inTx{tx}, "tenant = ? AND session = ? AND ended_at = 0 AND (? = '' OR id = ?)", tenant, s.ID, in.Turn, in.Turn)
		if err != nil {
			return err
		}
		out.Cancelled = len(open)
		return r.cancelTurns(tx, s, open)
	})
	if err != nil {
		return CancelOut{}, err
	}
	op.Note(ctx, "cancelled", out.Cancelled)
	tx.AfterCommit(func() { r.wake(s) })
	return out, nil
}

// cancelTurns ends what waits, and tells what runs to stop.
func (r *Room) cancelTurns(tx *db.Tx, s *Session, open []*Turn) error {
	for _, t := range open {
		before := *t
		t.Cancel = true
		if t.State != Running {
			now := tx.Now()
			t.State, t.Reason, t.Ask, t.EndedAt = Cancelled, "cancelled", "", &now
			if err := r.closeCalls(tx, s, t, "the turn was cancelled"); err != nil {
				return err
			}
			if err := r.tellParent(tx, s, t); err != nil {
				return err
			}
			if err := tell(tx, s, t.ID, EventTurn, t); err != nil {
				return err
			}
		}
		if err := saveTurn(tx, t); err != nil {
			return err
		}
		if err := r.count(tx, s, &before, t); err != nil {
			return err
		}
	}
	return nil
}

func (r *Room) turnsOp(ctx context.Context, in TurnIn) (TurnsOut, error) {
	s, err := r.get(ctx, IDIn{in.ID})
	if err != nil {
		return TurnsOut{}, err
	}
	out := TurnsOut{Turns: []*Turn{}}
	ts, err := turnsWhere(outside{ctx, r.db}, "tenant = ? AND session = ? AND (? = '' OR id = ?) ORDER BY id DESC LIMIT 200", s.Tenant, s.ID, in.Turn, in.Turn)
	if err != nil || len(ts) == 0 {
		if err == nil && in.Turn != "" {
			err = fault.New(fault.NotFound, "session.turns", "there is no turn %.60s in this session", in.Turn)
		}
		return out, err
	}
	out.Turns = ts
	out.Calls, err = r.Calls(ctx, ts[0])
	return out, err
}

func (r *Room) eventsOp(ctx context.Context, in EventsIn) (EventsOut, error) {
	if in.Limit < 0 || in.Limit > 1000 {
		return EventsOut{}, fault.New(fault.Invalid, "session.events", "limit lies between 1 and 1000")
	}
	if in.Limit == 0 {
		in.Limit = 200
	}
	s, err := r.get(ctx, IDIn{in.ID})
	if err != nil {
		return EventsOut{}, err
	}
	evs, err := loadEvents(outside{ctx, r.db}, s.Tenant, s.ID, in.After, in.Limit)
	if evs == nil {
		evs = []Event{}
	}
	return EventsOut{evs, s.Events}, err
}
