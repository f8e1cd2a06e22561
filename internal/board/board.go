package board

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// Room is the service behind the board operations.
type Room struct {
	db     *db.DB
	spaces *space.Room
}

// New makes the room. Its entries go into the log of the space they belong to.
func New(d *db.DB, spaces *space.Room) *Room { return &Room{db: d, spaces: spaces} }

// Classes are the classes of envelope that change a board: "task." and a kind.
func Classes() []string {
	var out []string
	for _, k := range []Kind{KindAdd, KindClaim, KindUnclaim, KindStart, KindBlock, KindFinish, KindHandoff, KindRenew, KindDepend,
		KindTakeBack, KindEdit, KindReopen, KindCancel, KindComment} {
		out = append(out, "task."+string(k))
	}
	return append(out, ClassPlan)
}

// ClassPlan is an envelope that adds several tasks at once.
const ClassPlan = "task.plan"

// Clear is what an envelope of a board class shows the host.
type Clear struct {
	Task  TaskID   `json:"task,omitempty"`
	Prio  Priority `json:"priority,omitempty"`
	Needs []TaskID `json:"depends_on,omitempty"`
	To    string   `json:"to,omitempty"`
	IfVer int64    `json:"if_version,omitempty"`
	Tasks []Clear  `json:"tasks,omitempty"` // of a plan, in order
}

// MaxPlan bounds the tasks of one plan.
const MaxPlan = 100

// Facts are what the host decided: they make a replay exact.
type Facts struct {
	Person bool     `json:"person,omitempty"`
	Gone   bool     `json:"gone,omitempty"`
	Opened []TaskID `json:"opened,omitempty"` // tasks that this one unblocked
}

// ExpireFacts are the host's own entry when leases run out.
type ExpireFacts struct {
	Task   TaskID `json:"task"`
	Holder string `json:"holder"`
}

// Events turns a log entry into the events it stands for. Members use it to
// keep a board of their own; the host uses the same.
func Events(e *space.Entry) ([]Event, error) {
	at := db.Time(e.At)
	if e.Class == space.ClassExpire {
		var f ExpireFacts
		if err := json.Unmarshal(e.Facts, &f); err != nil {
			return nil, fault.New(fault.Invalid, "board", "entry %d is malformed", e.Seq)
		}
		return []Event{{Kind: KindExpire, Task: f.Task, At: at}}, nil
	}
	if e.Env == nil {
		return nil, nil
	}
	var c Clear
	kind, ok := cutClass(e.Class)
	if !ok {
		return nil, nil
	}
	if err := space.Clear(e.Env, &c); err != nil {
		return nil, err
	}
	var f Facts
	if len(e.Facts) > 0 {
		if err := json.Unmarshal(e.Facts, &f); err != nil {
			return nil, fault.New(fault.Invalid, "board", "entry %d is malformed", e.Seq)
		}
	}
	return events(kind, c, string(e.Env.From), at, f)
}

func cutClass(class string) (Kind, bool) {
	if len(class) > 5 && class[:5] == "task." {
		return Kind(class[5:]), true
	}
	return "", false
}

func events(kind Kind, c Clear, by string, at time.Time, f Facts) ([]Event, error) {
	one := func(k Kind, c Clear) Event {
		return Event{Kind: k, Task: c.Task, By: by, At: at, Prio: c.Prio, Needs: c.Needs, To: c.To, IfVer: c.IfVer, Person: f.Person,
			Gone: f.Gone}
	}
	if kind != "plan" {
		return []Event{one(kind, c)}, nil
	}
	if len(c.Tasks) == 0 || len(c.Tasks) > MaxPlan {
		return nil, fault.New(fault.Invalid, "board.plan", "a plan has 1 to %d tasks", MaxPlan)
	}
	var out []Event
	for _, t := range c.Tasks {
		out = append(out, one(KindAdd, t))
	}
	return out, nil
}

// change is every operation of this room that a member asks for.
func (r *Room) change(ctx context.Context, tx *db.Tx, in space.PostIn) (space.Accepted, error) {
	tenant, env := op.CallerFrom(ctx).Tenant, in.Envelope
	var touched []Task
	rules := func(now time.Time) (any, error) {
		var c Clear
		if err := space.Clear(env, &c); err != nil {
			return nil, err
		}
		kind, _ := cutClass(env.Class)
		f, err := r.facts(ctx, tx, tenant, env.Space, kind, c)
		if err != nil {
			return nil, err
		}
		evs, err := events(kind, c, string(env.From), now, f)
		if err != nil {
			return nil, err
		}
		for _, e := range evs {
			if err := r.known(tx, tenant, env.Space, e.To); err != nil {
				return nil, err
			}
			b, err := around(tx, tenant, env.Space, e)
			if err != nil {
				return nil, err
			}
			changed, err := b.Apply(e)
			if err != nil {
				return nil, err
			}
			if err := save(tx, tenant, env.Space, changed); err != nil {
				return nil, err
			}
			touched = append(touched, changed...)
			for _, t := range changed[1:] {
				f.Opened = append(f.Opened, t.ID)
			}
		}
		if !f.Person && !f.Gone && f.Opened == nil {
			return nil, nil
		}
		return f, nil
	}
	a, err := r.spaces.Accept(tx, tenant, env, Classes(), rules)
	if err != nil {
		return a, err
	}
	space.Note(ctx, env, a)
	if len(touched) > 0 {
		op.Note(ctx, "task", touched[0].ID)
		op.Note(ctx, "status", touched[0].Status)
		op.Note(ctx, "version", touched[0].Version)
	}
	return a, nil
}

// facts are what only the host can know: whether a person is there, and of a take-back whether the holder is gone.
func (r *Room) facts(ctx context.Context, tx *db.Tx, tenant, spc string, kind Kind, c Clear) (Facts, error) {
	switch kind {
	case KindTakeBack:
	case KindEdit, KindReopen, KindCancel:
		return Facts{Person: op.CallerFrom(ctx).Present != ""}, nil
	default:
		return Facts{}, nil
	}
	b := Board{}
	if err := b.fill(tx, tenant, spc, "id = ?", c.Task); err != nil {
		return Facts{}, err
	}
	t, ok := b[c.Task]
	if !ok || t.Holder == "" {
		return Facts{}, nil // Apply says what is wrong
	}
	gone, err := r.spaces.Gone(tx, tenant, spc, seal.MemberID(t.Holder))
	return Facts{Gone: gone, Person: op.CallerFrom(ctx).Present != ""}, err
}

// known refuses a task for somebody who is not in the space.
func (r *Room) known(tx *db.Tx, tenant, spc, who string) error {
	if who == "" {
		return nil
	}
	ok, err := r.spaces.IsMember(tx, tenant, spc, seal.MemberID(who))
	if err == nil && !ok {
		err = fault.New(fault.NotFound, "board", "%s is not a member of this space", clip(who)).WithNext("see who is: intandem_peers")
	}
	return err
}

// ExpireOut counts what came back.
type ExpireOut struct {
	Returned int `json:"returned"`
}

// expire returns the tasks whose leases ran out and says so in their spaces.
func (r *Room) expire(ctx context.Context, tx *db.Tx, _ struct{}) (ExpireOut, error) {
	tenant := op.CallerFrom(ctx).Tenant
	rows, err := tx.Query("SELECT b.space, b.id FROM board_task b JOIN space s ON s.tenant = b.tenant AND s.id = b.space WHERE b.tenant = "+
		"? AND b.until > 0 AND b.until <= ? AND s.state = 'open' ORDER BY b.space, b.id", tenant, tx.Now())
	type key struct{ space, task string }
	due, err := db.Collect(rows, err, func(rows *sql.Rows) (k key, err error) { return k, rows.Scan(&k.space, &k.task) })
	if err != nil {
		return ExpireOut{}, err
	}
	var out ExpireOut
	for _, k := range due {
		b := Board{}
		if err := b.fill(tx, tenant, k.space, "id = ?", k.task); err != nil {
			return out, err
		}
		before := b[TaskID(k.task)]
		changed, err := b.Apply(Event{Kind: KindExpire, Task: before.ID, At: tx.Now()})
		if fault.Is(err, fault.Conflict) {
			continue
		}
		if err != nil {
			return out, err
		}
		if err := save(tx, tenant, k.space, changed); err != nil {
			return out, err
		}
		if err := r.spaces.HostEntry(tx, tenant, k.space, space.ClassExpire, ExpireFacts{Task: before.ID, Holder: before.Holder}); err != nil {
			return out, err
		}
		out.Returned++
	}
	op.Note(ctx, "returned", out.Returned)
	return out, nil
}

// Due reports whether a lease has run out, so that an idle server writes
// nothing.
func (r *Room) Due(ctx context.Context) (bool, error) {
	var n int
	err := r.db.QueryRow(ctx, "SELECT count(*) FROM board_task b JOIN space s ON s.tenant = b.tenant AND s.id = b.space WHERE b.tenant = ? "+
		"AND b.until > 0 AND b.until <= ? AND s.state = 'open'", op.CallerFrom(ctx).Tenant, r.db.Now()).Scan(&n)
	return n > 0, err
}

// StructureIn names a space.
type StructureIn struct {
	Space string `json:"space"`
}

// StructureOut is a board without its words, for a host's panel.
type StructureOut struct {
	Space string `json:"space"`
	Tasks []Task `json:"tasks"`
}

func (r *Room) structure(ctx context.Context, in StructureIn) (StructureOut, error) {
	b := Board{}
	err := r.db.Read(ctx, func(tx *db.Tx) error { return b.fill(tx, op.CallerFrom(ctx).Tenant, in.Space, "1 = 1") })
	return StructureOut{Space: in.Space, Tasks: b.Sorted()}, err
}

// AdoptIn hands a space's log to the daemon that becomes its host.
type AdoptIn struct {
	Space    string         `json:"space"`
	Entries  []*space.Entry `json:"entries"`
	Envelope *seal.Envelope `json:"envelope"`
}

// adopt takes a space over: its log, members and leases, and the board that
// its log makes, in one transaction.
func (r *Room) adopt(ctx context.Context, tx *db.Tx, in AdoptIn) (space.Accepted, error) {
	tenant := op.CallerFrom(ctx).Tenant
	a, err := r.spaces.Adopt(tx, tenant, in.Space, in.Entries, in.Envelope)
	if err != nil {
		return a, err
	}
	for _, table := range []string{"board_task", "board_need"} {
		if _, err := tx.Exec("DELETE FROM "+table+" WHERE tenant = ? AND space = ?", tenant, in.Space); err != nil {
			return a, err
		}
	}
	b := Board{}
	err = r.spaces.Log(tx, tenant, in.Space, func(e *space.Entry) error {
		evs, err := Events(e)
		if err != nil {
			return err
		}
		for _, ev := range evs {
			if _, err := b.Apply(ev); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return a, err
	}
	space.Note(ctx, in.Envelope, a)
	return a, insert(tx, tenant, in.Space, b)
}
