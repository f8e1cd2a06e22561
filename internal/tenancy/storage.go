package tenancy

import (
	"context"
	"database/sql"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/contextrun/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/policy"
	"tandem/internal/policy/book"
)

// KeepsBytes are the operations by which a tenant keeps more: they are refused once it has as much as the house lets it keep. In the rooms
// that keep any each operation that changes anything is here or in keepsNothing: TestWhatKeepsBytesIsDecided.
var KeepsBytes = setOf("artifact.keep", "memory.add", "memory.edit", "memory.import", "memory.propose", "knowledge.add",
	"knowledge.change", "knowledge.create", "context.add", "context.append", "context.checkpoint", "context.claim", "context.next",
	"context.patch", "context.place", "context.start",
	"resource.put", "session.create", "session.fork", "session.prompt", "session.send",
	"session.update", "session.model_call", "secret.set", "space.attach", "space.create", "space.join", "space.post", "space.piece_put",
	"space.send", "space.send_files", "space.set_var", "space.share", "space.start", "automation.add", "automation.deliver",
	"automation.hand", "automation.repair", "automation.run", "automation.replay", "pack.install", "board.add", "board.comment", "board.edit",
	"board.finding", "board.plan", "board.update", "actor.add", "approval.always", "assertion.key_add", "grant.add", "grant.take",
	"group.add", "join.invite", "oauth.consent", "oauth.register", "owner.add", "person.away", "policy.label",
	"provider.add", "provider.key", "token.new")

// weighed is what a tenant was found to keep, and what came since. Whoever weighs it holds it, and no other tenant waits for that.
type weighed struct {
	since atomic.Int64

	mu    sync.Mutex
	bytes int64
	at    time.Time
	took  time.Duration
}

// Scales know what tenants keep. A tenant is weighed anew when that is some seconds old, and when what came since could fill it: what
// models answer within those seconds can go over the limit, what somebody sends cannot go over it twice.
type Scales struct {
	db       *db.DB
	identity *identity.Room

	mu      sync.Mutex
	weigher *db.Weigher
	tenants map[string]*weighed
}

// NewScales weigh what is in a database, and hold it against the limits that identity knows.
func NewScales(d *db.DB, i *identity.Room) *Scales { return &Scales{db: d, identity: i} }

// WeighedFor is how long a weight counts, fullFor how long when it is the reason of a refusal; both are longer where weighing is dear.
const WeighedFor, fullFor, dear = 10 * time.Second, time.Second, 20

// of is what is known of a tenant, and what weighs it.
func (s *Scales) of(ctx context.Context, tenant string) (*weighed, *db.Weigher, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.weigher == nil {
		w, err := s.db.NewWeigher(ctx, Listed())
		if err != nil {
			return nil, nil, err
		}
		s.weigher, s.tenants = w, map[string]*weighed{}
	}
	w := s.tenants[tenant]
	if w == nil {
		if len(s.tenants) > identity.MaxTenants {
			clear(s.tenants)
		}
		w = &weighed{}
		s.tenants[tenant] = w
	}
	return w, s.weigher, nil
}

// Weigh is what a tenant keeps, as of the last so many moments.
func (s *Scales) Weigh(ctx context.Context, tenant string, within time.Duration) (int64, error) {
	w, weigher, err := s.of(ctx, tenant)
	if err != nil {
		return 0, err
	}
	w.mu.Lock()
	defer w.mu.Unlock() // many requests at once weigh a tenant once
	now := s.db.Now()
	if age := now.Sub(w.at); !w.at.IsZero() && age >= 0 && age < max(within, dear*w.took) {
		return w.bytes + w.since.Load(), nil
	}
	came := w.since.Load()
	began := time.Now()
	n, err := weigher.Bytes(ctx, tenant)
	if err != nil {
		return 0, err
	}
	w.since.Add(-came)
	w.bytes, w.at, w.took = n, now, time.Since(began)
	return n + w.since.Load(), nil
}

// Forget has tenants weighed anew at the next look, as after some seconds.
func (s *Scales) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.tenants)
}

// came counts what is about to be kept.
func (s *Scales) came(tenant string, in any) {
	data, err := json.Marshal(in)
	if err != nil {
		return // it is weighed in some seconds
	}
	s.mu.Lock()
	w := s.tenants[tenant]
	s.mu.Unlock()
	if w != nil {
		w.since.Add(int64(len(data)))
	}
}

// RoomLeft refuses what would keep more in a tenant that is full.
func (s *Scales) RoomLeft(ctx context.Context, c op.Caller, o *op.Op, in any) error {
	if g, ok := in.(book.GrantIn); ok && g.Effect == policy.Deny.String() { // whoever filled it can be stopped
		return nil
	}
	if said, ok := in.(wire.AppendIn); ok && said.Status.Ended() { // a context run can be ended, and deleted then
		return nil
	}
	if c.Tenant == identity.LocalTenant || !KeepsBytes[o.Name] {
		return nil
	}
	row := func(query string, args ...any) *sql.Row { return s.db.QueryRow(ctx, query, args...) }
	name, l, err := s.identity.Limits(row, c.Tenant)
	if err != nil || l.Bytes == 0 {
		return err
	}
	n, err := s.Weigh(ctx, c.Tenant, WeighedFor)
	if err == nil && n >= l.Bytes {
		n, err = s.Weigh(ctx, c.Tenant, fullFor) // something may have been deleted
	}
	if err != nil {
		return err
	}
	if n >= l.Bytes {
		return fault.New(fault.Exhausted, o.Name, "the tenant %s keeps %s, and its limit is %s", name, identity.Storage(n),
			identity.Storage(l.Bytes)).
			WithNext("delete what nobody needs: sessions, artifacts, memory, keys; the people who run this server raise it: "+
				"tandem tenant limit %s", name)
	}
	s.came(c.Tenant, in)
	return nil
}

func setOf(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, n := range names {
		out[n] = true
	}
	return out
}
