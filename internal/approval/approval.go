package approval

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

// Room keeps the asks.
type Room struct {
	db *db.DB

	// Filed is told of every new ask, in its transaction; nil where nobody listens.
	Filed func(tx *db.Tx, a *Ask) error
	// Called is a session's name, as people know it; nil where nobody has names.
	Called func(ctx context.Context, tenant, session string) string

	guards  Guards
	mu      sync.Mutex
	changed chan struct{} // closed and replaced whenever an ask changed
}

// Guards are what the room asks before an answer counts. It does not do without one: where none was named, the answer is no.
type Guards struct {
	// Circle says whom approvers name, as the policy is now.
	Circle func(ctx context.Context, tx *db.Tx, tenant string) (Named, error)
	// Vouches asks the journal itself about the first answer of two: memory knows only those that this process wrote.
	Vouches func(tx *db.Tx, s op.Sealed) (bool, error)
}

// ByName are the guards of a house without groups and without seals: for tests and measurements of other rooms.
var ByName = Guards{Circle: func(context.Context, *db.Tx, string) (Named, error) { return byName, nil },
	Vouches: func(*db.Tx, op.Sealed) (bool, error) { return true, nil }}

// New makes the room.
func New(d *db.DB, guards Guards) *Room {
	if guards.Circle == nil {
		guards.Circle = func(context.Context, *db.Tx, string) (Named, error) {
			return func([]string, string) ([]string, bool) { return nil, false }, nil
		}
	}
	if guards.Vouches == nil {
		guards.Vouches = func(*db.Tx, op.Sealed) (bool, error) { return false, nil }
	}
	return &Room{db: d, guards: guards, changed: make(chan struct{})}
}

// Call is an exact call that needs an answer.
type Call struct {
	Caller   op.Caller
	Op       string
	Resource string
	Digest   string
	Input    json.RawMessage // as it may be shown: without secrets
	// Reason, By and Approvers are the policy's.
	Reason    string
	By        string
	Approvers []string
	Needs     Needs
	// Bound is what names in the input stand for now.
	Bound []op.Bound
	// Command is the shell line that would run, if it is one.
	Command string
	// Always is what a standing answer would let pass, in the session and in the call's folder.
	Always, AlwaysInFolder string
	// Until is when an answer comes too late, if that is sooner than for any ask.
	Until time.Time
}

// File finds the ask that stands for this call, or makes one. It is part of the caller's transaction, so that the ask and the
// event that tells of it are one. fresh says that it was made now.
func (r *Room) File(tx *db.Tx, c Call) (a *Ask, fresh bool, err error) {
	if c.Digest == "" || c.Caller.Actor == "" || len(c.Approvers) == 0 {
		return nil, false, fmt.Errorf("an ask needs an asker, a digest and somebody who may answer")
	}
	a, err = standing(tx, c.Caller.Tenant, c.Caller.Actor, c.Digest)
	if err != nil {
		return nil, false, err
	}
	if a != nil {
		if a.Stands(tx.Now()) {
			return a, false, a.follow(tx, c)
		}
		if a.Stands(tx.Ended()) {
			return nil, false, fault.New(fault.Unavailable, c.Op, "the clock of the server was set, so nobody knows whether the time of %s is over",
				a.ID).
				WithNext("set the server's clock right, or wait until it is taken as right; at the server: tandem doctor")
		}
		if err := retire(tx, a); err != nil {
			return nil, false, err
		}
	}
	if err := c.showable(); err != nil {
		return nil, false, err
	}
	gone, err := r.makeRoom(tx, c)
	if err != nil {
		return nil, false, err
	}
	a = &Ask{ID: id.New("ask"), From: c.Caller.Source, Gone: gone,
		Tenant: c.Caller.Tenant, State: Pending, Op: c.Op, Resource: c.Resource, Digest: c.Digest,
		Input:   orNothing(c.Input),
		AskerID: c.Caller.Actor, Asker: c.Caller.Name, AskerKind: c.Caller.Kind, For: c.Caller.For, Session: c.Caller.Session, Reason: c.Reason,
		By:     c.By,
		Always: c.Always, AlwaysInFolder: c.AlwaysInFolder, Approvers: c.Approvers, Needs: c.Needs, Bound: c.Bound, CreatedAt: tx.Now(),
		ExpiresAt: tx.Now().Add(Patience)}
	if c.Until.After(tx.Now()) && c.Until.Before(a.ExpiresAt) {
		a.ExpiresAt = c.Until
	}
	ok, err := insert(tx, a)
	if err != nil {
		return nil, false, err
	}
	if !ok { // somebody filed the same call between the look and the insert
		a, err = standing(tx, c.Caller.Tenant, c.Caller.Actor, c.Digest)
		if err == nil && a == nil {
			err = fmt.Errorf("the ask for %s came and went", c.Op)
		}
		return a, false, err
	}
	if r.Filed != nil {
		if err := r.Filed(tx, a.listed()); err != nil {
			return nil, false, err
		}
	}
	tx.AfterCommit(r.wake)
	return a, true, nil
}

// follow has an ask that nobody answered yet follow the policy: who may answer it, and what that needs.
func (a *Ask) follow(tx *db.Tx, c Call) error {
	if a.State != Pending || len(a.Answers) > 0 || slices.Equal(a.Approvers, c.Approvers) && a.Needs.equal(c.Needs) {
		return nil
	}
	a.Approvers, a.Needs = c.Approvers, c.Needs
	approvers, needs, _, err := a.texts()
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE approval SET approvers = ?, needs = ? WHERE tenant = ? AND id = ? AND state = 'pending' AND answers = ''",
		approvers,
		needs, a.Tenant, a.ID)
	return err
}

// Spend uses the approval that stands for this call, in the transaction of the call itself: when that fails, the approval is
// still there. It answers the ask and true at most once for each approval; otherwise what stands instead, if anything does.
func (r *Room) Spend(tx *db.Tx, tenant, askerID, digest string) (*Ask, bool, error) {
	a, err := standing(tx, tenant, askerID, digest)
	if err != nil || a == nil || !a.Stands(tx.Now()) {
		return nil, false, err
	}
	if a.State != Approved {
		return a, false, nil
	}
	ok, err := spend(tx, a)
	if err != nil || !ok {
		return nil, false, err
	}
	tx.AfterCommit(r.wake)
	now := tx.Now()
	a.State, a.SpentAt = Spent, &now
	return a, true, nil
}

// Withdraw takes back an asker's own ask that nobody answered, because it was settled elsewhere; why says how. It answers
// false when there was nothing left to take back.
func (r *Room) Withdraw(tx *db.Tx, tenant, askerID, askID, why string) (bool, error) {
	return r.endUnanswered(tx, tenant, askerID, askID, Withdrawn, why)
}

// Abandon ends an ask that nobody waits for any more: an answer would do nothing. The inbox says why, and the same call asks anew.
func (r *Room) Abandon(tx *db.Tx, tenant, askerID, askID, why string) (bool, error) {
	return r.endUnanswered(tx, tenant, askerID, askID, Abandoned, why)
}

func (r *Room) endUnanswered(tx *db.Tx, tenant, askerID, askID, how, why string) (bool, error) {
	n, err := tx.Changed(`UPDATE approval SET state = 'cancelled', standing = 0, decided_at = ?, decided_by = ?, feedback = ?
		WHERE tenant = ? AND id = ? AND asker_id = ? AND state = 'pending'`, tx.Now(), how, why, tenant, askID, askerID)
	if n > 0 {
		tx.AfterCommit(r.wake)
	}
	return n > 0, err
}

// WithdrawnBy are the inputs of an asker's newest asks for an operation that were settled elsewhere.
func (r *Room) WithdrawnBy(ctx context.Context, tenant, askerID, opName string) (inputs []json.RawMessage, err error) {
	asks, err := collect(r.db.Query(ctx, "SELECT "+columns+" FROM approval WHERE tenant = ? AND asker_id = ? AND op = ? AND state = ? AND "+
		"decided_by = ? ORDER BY id DESC LIMIT 1000", tenant, askerID, opName, Cancelled, Withdrawn))
	for _, a := range asks {
		inputs = append(inputs, a.Input)
	}
	return inputs, err
}

// Waiting are the unanswered asks for an operation, of every tenant.
func (r *Room) Waiting(ctx context.Context, opName string) ([]*Ask, error) {
	return collect(r.db.Query(ctx, "SELECT "+columns+
		" FROM approval WHERE standing = 1 AND state = 'pending' AND op = ? AND expires_at > ? ORDER BY id", opName, r.db.Now()))
}

// named puts the names of sessions onto asks.
func (r *Room) named(ctx context.Context, asks ...*Ask) {
	known := map[string]string{}
	for _, a := range asks {
		if a.Session == "" || r.Called == nil {
			continue
		}
		if _, ok := known[a.Session]; !ok {
			known[a.Session] = r.Called(ctx, a.Tenant, a.Session)
		}
		a.Called = known[a.Session]
	}
}

// Stir has everybody who waits for an answer look again: another server may have taken it.
func (r *Room) Stir() { r.wake() }

func (r *Room) wake() {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.changed)
	r.changed = make(chan struct{})
}

// changes is closed at the next change of any ask.
func (r *Room) changes() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}
