package relay

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/session"
)

// Side says what drives a side of the relay.
type Side struct {
	Agent  string `json:"agent,omitempty" jsonschema:"claude for a real Claude Code in a terminal (the default), codex, opencode, or model for a session with a model"`
	Model  string `json:"model,omitempty" jsonschema:"its model"`
	Effort string `json:"effort,omitempty" jsonschema:"its effort"`
}

// StartIn starts a relay.
type StartIn struct {
	Task    string `json:"task" jsonschema:"the first task"`
	Mission string `json:"mission,omitempty" jsonschema:"the standing definition of done; the task when left out"`
	Cwd     string `json:"cwd,omitempty" jsonschema:"the working folder of both"`
	Lead    Side   `json:"lead,omitzero"`
	Worker  Side   `json:"worker,omitzero"`
	Turns   int64  `json:"max_turns,omitempty" jsonschema:"turns of the lead for each task, 24 when left out, 50 at most"`
	Budget  int64  `json:"budget_secs,omitempty" jsonschema:"time for each task, half an hour when left out"`
	Tokens  int64  `json:"budget_tokens,omitempty" jsonschema:"tokens of both for each task; no limit when left out"`
	Cents   int64  `json:"budget_cents,omitempty" jsonschema:"cost of both for each task in US cents, where it is known; no limit when left out"`
	Park    int64  `json:"idle_secs,omitempty" jsonschema:"how long it waits for the next task, 15 minutes when left out, an hour at most"`
	Answer  int64  `json:"answer_secs,omitempty" jsonschema:"how long it waits for an answer, an hour when left out, six at most"`
}

// IDIn names a relay.
type IDIn struct {
	ID string `json:"loopId"`
}

// ReadIn reads a relay.
type ReadIn struct {
	ID     string `json:"loopId"`
	Cursor int64  `json:"cursor,omitempty" jsonschema:"only steps behind this one"`
}

// TextIn gives a relay words.
type TextIn struct {
	ID   string `json:"loopId"`
	Text string `json:"text" jsonschema:"the task, the answer, or what to tell the lead"`
}

// ReadOut is a relay and its log.
type ReadOut struct {
	Relay
	Log    []Entry `json:"log"`
	Cursor int64   `json:"cursor"`
	Parked bool    `json:"parked"`
}

// ListOut lists relays.
type ListOut struct {
	Relays []*Relay `json:"relays"`
}

// ToolIn is the one tool that the bridge's clients know.
type ToolIn struct {
	Action string `json:"action" jsonschema:"start, read, enqueue, inject or stop"`
	ID     string `json:"loopId,omitempty" jsonschema:"of an existing relay; not for start"`
	Task   string `json:"task,omitempty" jsonschema:"for start and enqueue: the task, or the answer to its question"`
	Text   string `json:"text,omitempty" jsonschema:"for inject: what to tell the lead"`
	Cursor int64  `json:"cursor,omitempty" jsonschema:"for read: only steps behind this one"`
	StartOptions
}

// StartOptions are what else start takes.
type StartOptions struct {
	Mission string `json:"mission,omitempty"`
	Cwd     string `json:"cwd,omitempty"`
	Lead    Side   `json:"lead,omitzero"`
	Worker  Side   `json:"worker,omitzero"`
	Turns   int64  `json:"max_turns,omitempty"`
	Budget  int64  `json:"budget_secs,omitempty"`
	Tokens  int64  `json:"budget_tokens,omitempty"`
	Cents   int64  `json:"budget_cents,omitempty"`
	Park    int64  `json:"idle_secs,omitempty"`
	Answer  int64  `json:"answer_secs,omitempty"`
}

func at(id string) op.Resource { return op.Resource{Kind: "relay", Path: "/" + id} }

// Ops is this room's front door.
func (r *Runner) Ops() []op.Op {
	return []op.Op{
		RelayStart.Effect(op.Spec{Right: "relay.create", Method: "POST", Path: "/relays", MCP: "-",
			Doc: "Start a relay: a lead and a worker on a task."},
			func(StartIn) op.Resource { return at("") }, r.start, nil),
		RelayList.Read(op.Spec{Right: "relay.list", Masked: true, Method: "GET", Path: "/relays", MCP: "-", Doc: "List relays."},
			func(session.Nothing) op.Resource { return at("") }, r.list),
		RelayRead.Read(op.Spec{Right: "relay.read", Method: "GET", Path: "/relays/{loopId}", MCP: "-",
			Doc: "Read a relay: where it stands, and its log."},
			func(in ReadIn) op.Resource { return at(in.ID) }, r.read),
		RelayEnqueue.State(op.Spec{Right: "relay.prompt", Method: "POST", Path: "/relays/{loopId}/enqueue", MCP: "-",
			Doc: "Give a relay its next task, or the answer to its question."}, func(in TextIn) op.Resource { return at(in.ID) }, r.enqueue),
		RelayInject.State(op.Spec{Right: "relay.prompt", Method: "POST", Path: "/relays/{loopId}/inject", MCP: "-",
			Doc: "Tell a running relay's lead something, with its next turn."}, func(in TextIn) op.Resource { return at(in.ID) }, r.inject),
		RelayStop.State(op.Spec{Right: "relay.prompt", Method: "POST", Path: "/relays/{loopId}/stop", MCP: "-",
			Doc: "Stop a relay and close its sessions."}, func(in IDIn) op.Resource { return at(in.ID) }, r.stop),
		RelayDo.Call(op.Spec{Right: "relay.read", Method: "POST", Path: "/relay", MCP: "relay",
			Doc: "Run two sessions that work together without a person in between: a lead plans, a worker builds.\nactions: " +
				"start {task, cwd}, read {loopId}, enqueue {loopId, task} (the next task, or the answer to its question), inject {loopId, text}, " +
				"stop {loopId}. Each needs its own right."},
			func(in ToolIn) op.Resource { return at(in.ID) }, r.tool),
	}
}

func (r *Runner) tool(ctx context.Context, in ToolIn) (ReadOut, error) {
	var x *Relay
	var err error
	switch in.Action {
	case "start":
		o := in.StartOptions
		x, err = op.Do(ctx, r.gate, RelayStart, StartIn{Task: in.Task, Mission: o.Mission, Cwd: o.Cwd, Lead: o.Lead, Worker: o.Worker,
			Turns: o.Turns, Budget: o.Budget, Tokens: o.Tokens, Cents: o.Cents, Park: o.Park, Answer: o.Answer})
	case "read":
		return op.Do(ctx, r.gate, RelayRead, ReadIn{ID: in.ID, Cursor: in.Cursor})
	case "enqueue":
		x, err = op.Do(ctx, r.gate, RelayEnqueue, TextIn{ID: in.ID, Text: in.Task})
	case "inject":
		x, err = op.Do(ctx, r.gate, RelayInject, TextIn{ID: in.ID, Text: or(in.Text, in.Task)})
	case "stop":
		x, err = op.Do(ctx, r.gate, RelayStop, IDIn{ID: in.ID})
	default:
		return ReadOut{}, fault.New(fault.Invalid, "relay", "action %.40q is not accepted: use start, read, enqueue, inject or stop", in.Action)
	}
	if err != nil {
		return ReadOut{}, err
	}
	return r.read(ctx, ReadIn{ID: x.ID, Cursor: in.Cursor})
}

func seconds(given int64, usual, most time.Duration, what string) (time.Duration, error) {
	d := time.Duration(given) * time.Second
	if given == 0 {
		d = usual
	}
	if given < 0 || d > most {
		return 0, fault.New(fault.Invalid, "relay.start", "%s lies between 1 and %d seconds", what, int64(most/time.Second))
	}
	return d, nil
}

func (r *Runner) start(ctx context.Context, in StartIn) (*Relay, error) {
	c := op.CallerFrom(ctx).Later(op.DoorInside)
	x := &Relay{ID: id.New("loop"), Tenant: c.Tenant, Lives: r.sessions.Lives, Mission: or(in.Mission, in.Task), Turns: in.Turns,
		Queue: []string{}, Caller: c, Folder: in.Cwd}
	if strings.TrimSpace(in.Task) == "" || len(in.Task) > MaxTask || len(in.Mission) > MaxTask {
		return nil, fault.New(fault.Invalid, "relay.start", "a task has between 1 and %d bytes", MaxTask)
	}
	if x.Turns == 0 {
		x.Turns = DefaultTurns
	}
	if x.Turns < 1 || x.Turns > MaxTurns {
		return nil, fault.New(fault.Invalid, "relay.start", "max_turns lies between 1 and %d", MaxTurns)
	}
	if in.Tokens < 0 || in.Cents < 0 {
		return nil, fault.New(fault.Invalid, "relay.start", "a budget is not negative")
	}
	x.MaxTokens, x.MaxCost = in.Tokens, in.Cents*10_000_000 // a cent is 10^7 nano dollars
	var err error
	if x.Budget, err = seconds(in.Budget, DefaultBudget, MaxBudget, "budget_secs"); err != nil {
		return nil, err
	}
	if x.Park, err = seconds(in.Park, DefaultPark, MaxPark, "idle_secs"); err != nil {
		return nil, err
	}
	if x.Answer, err = seconds(in.Answer, DefaultAnswer, MaxAnswer, "answer_secs"); err != nil {
		return nil, err
	}
	short := id.Short(x.ID)
	short = short[strings.LastIndex(short, "_")+1:]
	if x.Lead, x.Folder, err = r.sessions.Open(ctx, x.ID, "relay-"+short+"-lead", in.Lead, in.Cwd); err != nil {
		return nil, err
	}
	if x.Worker, _, err = r.sessions.Open(ctx, x.ID, "relay-"+short+"-worker", in.Worker, in.Cwd); err != nil {
		r.closeSides(x)
		return nil, err
	}
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		x.CreatedAt, x.UpdatedAt = tx.Now(), tx.Now()
		x.begin(in.Task, tx.Now())
		for _, side := range []string{x.Lead, x.Worker} {
			if _, err := tx.Exec("INSERT INTO relay_side (tenant, session, relay) VALUES (?, ?, ?)", x.Tenant, side, x.ID); err != nil {
				return err
			}
		}
		if err := save(tx, x); err != nil {
			return err
		}
		return r.vouchFor(tx, x, "", map[string]any{"status": x.Status}) // it is at work before the outcome of this call is known
	})
	if err != nil {
		r.closeSides(x)
		return nil, err
	}
	op.Note(ctx, "relay", x.ID)
	r.show(x)
	r.wake(x.Tenant, x.ID)
	return x, nil
}

func (r *Runner) list(ctx context.Context, _ session.Nothing) (ListOut, error) {
	out := ListOut{}
	err := r.view(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(columns+"tenant = ? ORDER BY created_at", op.CallerFrom(ctx).Tenant)
		all, err := db.Collect(rows, err, func(rows *sql.Rows) (*Relay, error) { return scan(rows) })
		out.Relays = []*Relay{}
		for _, x := range all {
			if !op.May(ctx, "relay.list", at(x.ID)) {
				continue
			}
			err := r.counts(tx, x)
			if fault.Is(err, fault.Denied) {
				x, err = x.refused(), nil
			}
			if err != nil {
				return err
			}
			out.Relays = append(out.Relays, x)
		}
		return err
	})
	return out, err
}

func (r *Runner) read(ctx context.Context, in ReadIn) (ReadOut, error) {
	x, held, err := r.weigh(ctx, op.CallerFrom(ctx).Tenant, in.ID)
	if err != nil {
		return ReadOut{}, err
	}
	if !held {
		x = x.refused()
	}
	log, err := r.entries(ctx, x.Tenant, x.ID, in.Cursor, 500)
	if log == nil {
		log = []Entry{}
	}
	out := ReadOut{Relay: *x, Log: log, Cursor: in.Cursor, Parked: x.Status == Parked}
	if len(log) > 0 {
		out.Cursor = log[len(log)-1].Step
	}
	return out, err
}

// move changes a relay for a caller.
func (r *Runner) move(ctx context.Context, tx *db.Tx, relay string, fn func(x *Relay) error) (*Relay, error) {
	x, err := load(tx, op.CallerFrom(ctx).Tenant, relay)
	if err != nil {
		return nil, err
	}
	if err := r.counts(tx, x); err != nil {
		return nil, err
	}
	before := *x
	if err := fn(x); err != nil {
		return nil, err
	}
	x.UpdatedAt = tx.Now()
	if err := save(tx, x); err != nil {
		return nil, err
	}
	op.Row(ctx, x.seal())
	after := *x
	if err := r.tell(tx, before, after); err != nil {
		return nil, err
	}
	tx.AfterCommit(func() {
		r.wake(x.Tenant, x.ID)
		r.all.Go(func() { r.show(&after) })
	})
	return x, nil
}

func (r *Runner) enqueue(ctx context.Context, tx *db.Tx, in TextIn) (*Relay, error) {
	return r.move(ctx, tx, in.ID, func(x *Relay) error {
		x.steered(op.CallerFrom(ctx))
		answer, err := x.enqueue(in.Text, tx.Now())
		op.Note(ctx, "answer", answer)
		return err
	})
}

func (r *Runner) inject(ctx context.Context, tx *db.Tx, in TextIn) (*Relay, error) {
	return r.move(ctx, tx, in.ID, func(x *Relay) error {
		switch {
		case strings.TrimSpace(in.Text) == "" || len(in.Text) > MaxTask:
			return fault.New(fault.Invalid, "relay.inject", "the text has between 1 and %d bytes", MaxTask)
		case x.Status != Running:
			return fault.New(fault.Conflict, "relay.inject", "the relay is %s; only a running one can be told something", x.Status).
				WithNext("use enqueue")
		case len(x.Injected) >= MaxQueue:
			return fault.New(fault.Exhausted, "relay.inject", "%d texts wait for the lead already", len(x.Injected))
		}
		x.steered(op.CallerFrom(ctx))
		x.Injected = append(x.Injected, in.Text)
		return nil
	})
}

func (r *Runner) stop(ctx context.Context, tx *db.Tx, in IDIn) (*Relay, error) {
	x, err := load(tx, op.CallerFrom(ctx).Tenant, in.ID)
	if err == nil {
		err = r.counts(tx, x)
	}
	if x != nil && fault.Is(err, fault.Denied) {
		return r.giveUp(ctx, tx, x)
	}
	return r.move(ctx, tx, in.ID, func(x *Relay) error {
		if !x.Status.Over() {
			x.Status, x.Reason, x.Next = Stopped, "stopped by "+op.CallerFrom(ctx).Name, ""
		}
		return nil
	})
}
