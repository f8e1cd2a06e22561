package terminal

import (
	"context"
	"strings"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session/terminal/tmux"
)

// A person may look at a session's terminal from afar, and take it over: then what they type reaches the program, and the
// driver types nothing. Looking needs the right to read the session. Taking over needs the right to prompt it and proof of
// presence, is recorded, belongs to the one browser that asked for it, and ends by itself when nothing is typed for a while.
const (
	holdIdle = 10 * time.Minute
	maxTyped = 64 << 10
	maxWatch = 32 // watchers of all terminals: each is a tmux client
)

// WatchIn names a session whose terminal is looked at.
type WatchIn struct {
	ID string `json:"id" jsonschema:"the session's id"`
}

// TypeIn is what a person typed.
type TypeIn struct {
	ID   string `json:"id" jsonschema:"the session's id"`
	Data []byte `json:"data" jsonschema:"the bytes of the keys, base64"`
}

// ScreenOut is what a terminal shows now.
type ScreenOut struct {
	Name string `json:"name"`
	Text string `json:"text" jsonschema:"the screen's lines, without colours"`
	HoldOut
	Mine bool `json:"mine,omitempty" jsonschema:"whoever asks has the terminal and may type"`
}

// HoldOut says who has a terminal.
type HoldOut struct {
	Held  string    `json:"held_by,omitempty" jsonschema:"who took it over; nobody when empty"`
	Until time.Time `json:"until,omitzero" jsonschema:"when it is given back unless something is typed"`
}

// hold is a terminal in a person's hands.
type hold struct {
	actor, name, token string // token is the credential that took it, by its id
	until              time.Time
}

// holds are the terminals that people took over. They live in memory: a restart gives all of them back.
type holds struct {
	mu  sync.Mutex
	now func() time.Time
	all map[string]hold
}

func (h *holds) get(session string) (hold, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	x, ok := h.all[session]
	if ok && !h.now().Before(x.until) {
		delete(h.all, session)
		return hold{}, false
	}
	return x, ok
}

func (h *holds) take(session string, x hold) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all == nil {
		h.all = map[string]hold{}
	}
	h.all[session] = x
}

func (h *holds) drop(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, session)
}

func (d *Driver) watchOps() []op.Op {
	return []op.Op{
		SessionWatch.Stream(op.Spec{Right: "session.read", Method: "GET", Path: "/sessions/{id}/terminal", MCP: "-",
			Doc: "Look at a session's terminal live, as server-sent events.\nThe first is the whole screen, " +
				"then what is printed; bytes are base64."},
			func(in WatchIn) op.Resource { return at(in.ID) }, func(ctx context.Context, in WatchIn) error {
				_, err := d.open(ctx, in.ID)
				return err
			}),
		SessionScreen.Read(op.Spec{Right: "session.read", Method: "GET", Path: "/sessions/{id}/screen", MCP: "-",
			Doc: "Show what a session's terminal shows now, as text."},
			func(in WatchIn) op.Resource { return at(in.ID) }, d.screenOp),
		SessionTake.State(op.Spec{Right: "session.prompt", MCP: "-", Present: true, People: true,
			Doc: "Take over a session's terminal, to type into it from the panel. Needs a person present; prompts wait meanwhile."},
			func(in WatchIn) op.Resource { return at(in.ID) }, d.takeOp),
		SessionRelease.State(op.Spec{Right: "session.prompt", Method: "DELETE", Path: "/sessions/{id}/terminal", MCP: "-",
			People: true,
			Doc:    "Give a session's terminal back."},
			func(in WatchIn) op.Resource { return at(in.ID) }, d.releaseOp),
		// The keys are a stream in pieces: each is admitted by the gate, none is an event.
		SessionType.Stream(op.Spec{Right: "session.prompt", MCP: "-", People: true, Secret: []string{"data"},
			Doc: "Type into a session's terminal that was taken over."},
			func(in TypeIn) op.Resource { return at(in.ID) }, d.typeOp),
	}
}

// open finds an open seat of the caller's tenant.
func (d *Driver) open(ctx context.Context, id string) (*row, error) {
	rows, err := d.rows(ctx, "tenant = ? AND session = ?", op.CallerFrom(ctx).Tenant, id)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fault.New(fault.NotFound, "session", "the session %.64s has no terminal", id)
	}
	if !rows[0].ClosedAt.IsZero() {
		return nil, fault.New(fault.Conflict, "session", "%s is closed", rows[0].Name)
	}
	return rows[0], d.tmux.Missing()
}

func (d *Driver) screenOp(ctx context.Context, in WatchIn) (ScreenOut, error) {
	r, err := d.open(ctx, in.ID)
	if err != nil {
		return ScreenOut{}, err
	}
	out := ScreenOut{Name: r.Name}
	out.HoldOut, out.Mine = d.held(ctx, in.ID)
	text, err := d.tmux.Capture(ctx, r.Name, 0)
	if fault.Is(err, fault.NotFound) {
		return out, nil // it is gone, and its seat says so
	}
	out.Text = strings.TrimRight(text, "\n ")
	return out, err
}

// Watch sends what a session's terminal shows. The caller was admitted to session.watch.
func (d *Driver) Watch(ctx context.Context, id string, send func(tmux.Frame) error) error {
	r, err := d.open(ctx, id)
	if err != nil {
		return err
	}
	if d.watching.Add(1) > maxWatch {
		d.watching.Add(-1)
		return fault.New(fault.Exhausted, "session.watch", "%d people watch terminals already", maxWatch).WithNext("close a page that shows one")
	}
	defer d.watching.Add(-1)
	return d.tmux.Watch(ctx, r.Name, send)
}

// held is who has a session's terminal, and whether it is the caller of ctx.
func (d *Driver) held(ctx context.Context, id string) (out HoldOut, mine bool) {
	h, ok := d.holds.get(id)
	if !ok {
		return HoldOut{}, false
	}
	return HoldOut{h.name, h.until}, h.same(op.CallerFrom(ctx))
}

func (h hold) same(c op.Caller) bool {
	return c.Actor != "" && h.actor == c.Actor && h.token == c.Token
}

func (d *Driver) takeOp(ctx context.Context, tx *db.Tx, in WatchIn) (HoldOut, error) {
	r, err := d.open(ctx, in.ID)
	if err != nil {
		return HoldOut{}, err
	}
	if d.live(in.ID) == nil {
		return HoldOut{}, fault.New(fault.Conflict, "session.take", "%s is not live: %s", r.Name, r.State).
			WithNext("open it again: tandem session open %s --resume", r.Name)
	}
	c := op.CallerFrom(ctx)
	h := hold{c.Actor, c.Name, c.Token, tx.Now().Add(holdIdle)}
	if other, ok := d.holds.get(in.ID); ok {
		op.Note(ctx, "taken_from", other.name)
	}
	tx.AfterCommit(func() { d.holds.take(in.ID, h); d.moved() })
	return HoldOut{h.name, h.until}, nil
}

func (d *Driver) releaseOp(ctx context.Context, tx *db.Tx, in WatchIn) (HoldOut, error) {
	if _, err := d.open(ctx, in.ID); err != nil {
		return HoldOut{}, err
	}
	tx.AfterCommit(func() {
		d.holds.drop(in.ID)
		d.moved()
		if s := d.live(in.ID); s != nil {
			s.nudge()
		}
	})
	return HoldOut{}, nil
}

func (d *Driver) typeOp(ctx context.Context, in TypeIn) error {
	r, err := d.open(ctx, in.ID)
	if err != nil {
		return err
	}
	h, ok := d.holds.get(in.ID)
	switch {
	case !ok:
		return fault.New(fault.Denied, "session.type", "the terminal is not taken over").WithNext("take it over first")
	case !h.same(op.CallerFrom(ctx)):
		return fault.New(fault.Denied, "session.type", "%s has the terminal, in another browser", h.name).WithNext("take it over yourself")
	case len(in.Data) > maxTyped:
		return fault.New(fault.Invalid, "session.type", "%d bytes at once are too many; %d are allowed", len(in.Data), maxTyped)
	}
	pane, err := d.tmux.Pane(ctx, r.Name)
	if err != nil {
		return err
	}
	if pane.InMode {
		return fault.New(fault.Conflict, "session.type", "somebody scrolls in the terminal (copy mode); keys would not reach the program")
	}
	if err := d.tmux.Bytes(ctx, r.Name, in.Data); err != nil {
		return err
	}
	h.until = d.db.Now().Add(holdIdle)
	d.holds.take(in.ID, h)
	return nil
}

// moved tells whoever shows terminals that one of them changed.
func (d *Driver) moved() {
	if d.Moved != nil {
		d.Moved()
	}
}

// Owned are the open sessions that belong to relays, with their relays.
func (d *Driver) Owned(ctx context.Context) (map[string]string, error) {
	rows, err := d.rows(ctx, "closed_at = 0 AND relay <> ''")
	out := map[string]string{}
	for _, r := range rows {
		if r.Lives == d.Lives {
			out[r.Session] = r.Relay
		}
	}
	return out, err
}
