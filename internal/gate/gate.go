package gate

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"time"

	"tandem/internal/approval"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/policy/book"
	"tandem/internal/secret"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the gate's own tables.
var Migrations = db.Migrations{Room: "gate", FS: schema}

// Policies gives a tenant's compiled policy.
type Policies func(ctx context.Context, tenant string) (*policy.Compiled, error)

// Gate runs operations.
type Gate struct {
	table     *op.Table
	db        *db.DB
	journal   *journal.Journal
	policies  Policies
	asks      *approval.Room
	log       *slog.Logger
	Strangers Strangers
	// Server is whose intents these are, while it lives; see Recover.
	Server string
	// Elsewhere refuses what is about a thing that another server has, and names that one; nil where one server is alone.
	Elsewhere func(ctx context.Context, o *op.Op, r op.Resource) error
	// Redact takes secrets out of errors, events and stored answers.
	Redact *secret.Redactor
	// Seen hears of every call, after it. Without it nobody is told.
	Seen   func(Seen)
	links  book.Links
	guards Guards
}

// Guards are what the gate asks beside the policy. It does not do without one: where none was named, the answer is no.
type Guards struct {
	// Caution says why a person should decide a call that policy allows: it touches what somebody else asked to be left
	// alone. "" lets it pass; an error refuses it.
	Caution func(ctx context.Context, c op.Caller, o *op.Op, in any) (why string, err error)
	// Still says why a caller who was let in would not be let in again.
	Still func(ctx context.Context, c op.Caller) error
	// Whose tells the principals that a session or relay belongs to, itself among them. Only sessions are held to it.
	Whose func(ctx context.Context, tenant string, r op.Resource) []string
	// Kin finds the repository that a path lies in: what is denied in one of its checkouts is denied in all. policy.NoKin where there
	// are none.
	Kin policy.Kin
	// Narrowed is what a name in a caller's chain narrows it to, and Keep keeps it for what the caller begins.
	Narrowed func(ctx context.Context, c op.Caller, by string) (*policy.Narrowed, error)
	Keep     func(ctx context.Context, c op.Caller) error
	// Past says of which operations an open intent is of a time that a copy was made in: nobody completes it then.
	Past func(name string) bool
}

// New makes a gate over a table of operations.
func New(t *op.Table, d *db.DB, j *journal.Journal, p Policies, a *approval.Room, guards Guards, log *slog.Logger) *Gate {
	if guards.Caution == nil {
		guards.Caution = func(context.Context, op.Caller, *op.Op, any) (string, error) { return "", unguarded() }
	}
	if guards.Still == nil {
		guards.Still = func(context.Context, op.Caller) error { return unguarded() }
	}
	if guards.Whose == nil {
		guards.Whose = func(context.Context, string, op.Resource) []string { return nil } // nobody's
	}
	if guards.Narrowed == nil {
		guards.Narrowed = func(context.Context, op.Caller, string) (*policy.Narrowed, error) { return nil, unguarded() }
	}
	if guards.Keep == nil {
		guards.Keep = func(context.Context, op.Caller) error { return unguarded() }
	}
	if guards.Past == nil {
		guards.Past = func(string) bool { return true }
	}
	return &Gate{table: t, db: d, journal: j, policies: p, asks: a, guards: guards, log: log}
}

func unguarded() error {
	return fault.New(fault.Unavailable, "gate", "this gate was made without one of its guards, so it lets nobody pass")
}

// Table is the operations this gate runs.
func (g *Gate) Table() *op.Table { return g.table }

// Invoke runs an operation by name, with an input of its type or one that
// reads as it. It makes the gate an op.Invoker.
func (g *Gate) Invoke(ctx context.Context, name string, in any) (any, error) {
	o := g.table.Get(name)
	if o == nil {
		return nil, fault.New(fault.NotFound, "gate", "there is no operation %s", name)
	}
	if in == nil || reflect.TypeOf(in) != o.In {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("encode the input of %s: %w", name, err)
		}
		if in == nil {
			data = nil
		}
		if in, err = o.Decode(data); err != nil {
			return nil, err
		}
	}
	return g.Do(ctx, o, in)
}

// call is one operation on its way through the gate.
type call struct {
	kin      policy.Kin
	real     func(path string) string // where a path leads
	op       *op.Op
	in       any
	caller   op.Caller
	resource op.Resource
	view     *policy.View
	program  *policy.View // what a program of this user may, for a person who is not present
	decision policy.Decision
	notes    op.Notes
	first    func(*db.Tx) error // written with the intent
	digest   string
	bound    []op.Bound // what names in the input stand for, once somebody has to approve the call
	asked    string     // the digest with them
	facts    *policy.Facts
	tool     string
	approval string // the approved ask that lets this call pass, spent with it, or the rule
	ruled    bool   // a standing answer lets it pass: nothing is spent
	touch    *op.Touch
	looked   bool // touch was found out
	refused  bool // it ended at policy's no
	minded   bool // the house's caution is due: a person looks each time
	whose    func(r op.Resource) []string
}

// ref is a resource as policy names it for this caller.
func (c *call) ref(r op.Resource) policy.ResourceRef {
	out := policy.ResourceRef{Kind: policy.ResourceKind(r.Kind), Path: r.Path}
	if c.whose != nil && r.Path != "/" && (out.Kind == policy.KindSession || out.Kind == policy.KindRelay) {
		out.Of = policy.Belongs(c.whose(r)...)
	}
	return out
}

// Seen is a call that ended.
type Seen struct {
	Op       *op.Op
	Actor    string
	Resource op.Resource
	Took     time.Duration
	Refused  bool // by policy, not by what was asked for
	Err      error
}

// Do runs one operation for the caller in ctx. Its error holds no secret.
func (g *Gate) Do(ctx context.Context, o *op.Op, in any) (any, error) {
	began := time.Now()
	c := &call{op: o, in: in, caller: op.Entering(ctx, o)}
	out, err := g.do(ctx, c)
	err = g.record(op.CallerFrom(ctx)).Error(g.Explain(err))
	if g.Seen != nil {
		g.Seen(Seen{o, c.caller.Name, c.resource, time.Since(began), c.refused, err})
	}
	return out, err
}

// Explain gives a failure of the storage, which a door met, its sentence.
func (g *Gate) Explain(err error) error { return g.db.Explain(err) }

func (g *Gate) do(ctx context.Context, c *call) (any, error) {
	o, in := c.op, c.in
	if err := op.Admits(ctx, o); err != nil {
		return nil, err
	}
	if !o.Alive {
		if err := g.journal.CatchUp(ctx); err != nil {
			return nil, err
		}
	}
	c.first, ctx = op.First(op.WithCaller(ctx, c.caller))
	if o.Public {
		return c.run(op.Inside(ctx, o))
	}
	if !c.caller.Known() {
		return nil, fault.New(fault.Unauthenticated, o.Name, "tandem does not know you").
			WithNext("send a token: Authorization: Bearer …; show yours with: tandem token show api")
	}
	// Its door knows a session; whom it acts for may have been disabled since. A request may have come slowly, and what let it in ended.
	if c.caller.Kind == op.Session || c.caller.Aged() {
		if err := g.Still(ctx, c.caller); err != nil {
			return nil, err
		}
	}
	// Whom nothing can let in is told that, whatever the input is.
	if sane, ok := in.(op.Checked); ok && forbidden(o, c.caller) == nil {
		if err := sane.Check(); err != nil {
			return nil, err
		}
	}
	if o.Once && c.caller.Idempotency != "" {
		return nil, fault.New(fault.Invalid, o.Name,
			"%s takes no idempotency key: what it is told or answers is kept nowhere, so it cannot be repeated",
			o.Name).WithNext("call it without one")
	}
	c.in = o.Plan(ctx, in)
	c.resource = o.Resource(ctx, c.in)
	if err := g.decide(ctx, c); err != nil {
		return nil, err
	}
	if c.caller.Narrow != "" && o.Changes() {
		if err := g.guards.Keep(ctx, c.caller); err != nil {
			return nil, err
		}
	}
	if g.Elsewhere != nil {
		if err := g.Elsewhere(ctx, o, c.resource); err != nil {
			return nil, err
		}
	}
	if len(c.bound) > 0 {
		ctx = op.WithBound(ctx, c.bound)
	}
	ctx = op.WithSight(op.WithAllowed(op.WithMay(ctx, c.may), c.allowed), c.sight())
	ctx = op.Inside(op.WithNotes(ctx, &c.notes), o)
	switch o.Class {
	case op.ClassState:
		return g.state(ctx, c)
	case op.ClassEffect:
		return g.effect(ctx, c)
	}
	if err := g.spendAlone(ctx, c); err != nil {
		return nil, err
	}
	if err := g.looked(ctx, c); err != nil {
		return nil, err
	}
	began := time.Now()
	out, err := c.run(ctx)
	if err == nil && time.Since(began) > waited {
		if err := g.again(ctx, c); err != nil {
			return nil, err
		}
	}
	return out, err
}

// errPanic marks a call that a panic cut off: nobody knows how far it came.
var errPanic = errors.New("panic")

// run calls the handler of a read, an effect, a stream or a call. A panic in it is a failure of this one call: not every door that
// calls the gate has somebody behind it who would catch it.
func (c *call) run(ctx context.Context) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, fmt.Errorf("%w in %s: %v\n%s", errPanic, c.op.Name, p, debug.Stack())
		}
	}()
	return c.op.RunRead(ctx, c.in)
}

// looked writes down that somebody is about to see data of a sensitive class. An approved look is an event already.
func (g *Gate) looked(ctx context.Context, c *call) error {
	if !c.decision.Recorded() || c.decision.Effect == policy.Ask && !c.ruled {
		return nil
	}
	return g.db.Write(ctx, func(tx *db.Tx) error {
		_, err := g.append(tx, c, journal.Done, 0, map[string]any{"class": c.decision.Class})
		return err
	})
}

// May reports whether the caller of ctx could call an operation at all: what
// they may not use, doors do not show them.
func (g *Gate) May(ctx context.Context, o *op.Op) bool {
	c := &call{op: o, caller: op.CallerFrom(ctx)}
	if o.Public {
		return true
	}
	if !c.caller.Known() || forbidden(o, c.caller) != nil || needsPresence(o) && c.caller.Kind != op.Person {
		return false
	}
	right, err := policy.ParseRight(o.Right)
	if err != nil {
		return false
	}
	if err := g.lookUp(ctx, c); err != nil {
		return false
	}
	return o.Masked || c.view.MayAny(right.Permission, right.Kind)
}

func needsPresence(o *op.Op) bool {
	r, err := policy.ParseRight(o.Right)
	return o.Present || err != nil || r.Presence
}

// may answers rooms that mask their lists.
func (c *call) may(right string, r op.Resource) bool {
	p, err := policy.ParseRight(right)
	return err == nil && c.view.May(p.Permission, c.ref(r))
}

// allowed answers rooms that do several things in one call. Where the call itself is for a person who is present, they are present for
// each of these things.
func (c *call) allowed(right string, r op.Resource) bool {
	p, err := policy.ParseRight(right)
	return err == nil && c.view.Decide(policy.Request{Permission: p.Permission, Resource: c.ref(r),
		Present: c.op.Present && present(c.op, c.caller)}).Effect == policy.Allow
}

// maxInput is how much of an input an event holds; of a longer one it names
// the hash, so that content is kept once, in its room.
const maxInput = 64 << 10

// keepAnswers is how long an idempotency key is remembered.
const keepAnswers = 48 * time.Hour

// Sweep forgets idempotency keys that are too old to be repeated and records
// how many strangers were refused.
func (g *Gate) Sweep(ctx context.Context, tenant string) error {
	refused := g.Strangers.take()
	var old int
	before := g.db.Now().Add(-keepAnswers)
	if err := g.db.QueryRow(ctx, "SELECT count(*) FROM gate_call WHERE created_at < ?", before).Scan(&old); err != nil {
		return err
	}
	if old == 0 && len(refused) == 0 {
		return nil
	}
	return g.db.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec("DELETE FROM gate_call WHERE created_at < ? AND state <> 'running'", before); err != nil {
			return err
		}
		for _, s := range refused {
			payload, err := json.Marshal(s)
			if err != nil {
				return err
			}
			if _, err := g.journal.Append(tx, journal.Event{Tenant: tenant, Type: "gate.stranger", Phase: journal.Denied,
				Payload: payload}); err != nil {
				return err
			}
		}
		return nil
	})
}
