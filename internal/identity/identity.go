package identity

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of this package.
var Migrations = db.Migrations{Room: "identity", FS: schema}

// Room knows who everybody is.
type Room struct {
	db   *db.DB
	mu   sync.Mutex
	used map[string]time.Time // token id → when its last use was last written
	// callers are those of tokens that were presented, by the hash.
	callers map[string]found
	// open is what is known of tenants, by id.
	open map[string]openness
	// Server is the identity of this server, whatever its address is: what a device signs names it.
	Server string
	// Wrong hears of a wrong PIN inside the transaction that writes it down.
	Wrong func(tx *db.Tx, w WrongPIN) error
	// Recovered hears what happens about a forgotten PIN inside the transaction of it.
	Recovered func(tx *db.Tx, what Recovered) error
	// CameBy hears of a machine that joined by an invitation for several, inside the transaction of it.
	CameBy func(tx *db.Tx, who CameBy) error
	// Waits lists what an actor would receive by its name alone, as kind:name; in the change under way, or outside of one where tx
	// is nil. Without it no name is given to a newcomer.
	Waits func(ctx context.Context, tx *db.Tx, tenant, principal string) ([]string, error)
	// Owners are those whose house it is, by name; in the change under way, or outside of one where tx is nil. Without it the first
	// person is the only one.
	Owners func(ctx context.Context, tx *db.Tx, tenant string) ([]string, error)
	// Own makes a person the one owner of a tenant, which is the caller's; the policy knows.
	Own func(ctx context.Context, tx *db.Tx, name string) error
	// Told writes into the journal of the caller's tenant what the house did there, with what the notes vouch for.
	Told func(ctx context.Context, tx *db.Tx, what string, notes *op.Notes) error
	// Uses is what a tenant used in a period of what can be limited; without it nobody knows.
	Uses func(ctx context.Context, tenant, period string) (TenantUse, error)
	// Has counts what a tenant has on this server.
	Has func(tx *db.Tx, tenant string) (TenantContents, error)
	// Erase hears that a tenant is to go.
	Erase func()
	// Carry writes tenants to files and reads them.
	Carry Carry
	// Vouch asks the journal about every row that says who somebody is.
	Vouch op.Vouch
	// Takes is which signed assertions are taken.
	Takes Taking
}

// New makes the room and, on a new database, the tenant and the actors that
// are always there.
func New(ctx context.Context, d *db.DB) (*Room, error) {
	r := &Room{db: d, used: map[string]time.Time{}, callers: map[string]found{}, open: map[string]openness{}}
	err := d.Write(ctx, func(tx *db.Tx) error {
		if _, err := tx.Exec("INSERT INTO tenant (id, name, created_at) VALUES (?, ?, ?) ON CONFLICT (id) DO NOTHING", LocalTenant,
			"this machine", tx.Now()); err != nil {
			return err
		}
		for _, a := range builtIn {
			if _, err := tx.Exec("INSERT INTO actor (tenant, id, kind, name, acts_for, created_at, disabled_at) VALUES (?, ?, ?, ?, ?, ?, "+
				"0) ON CONFLICT DO NOTHING",
				LocalTenant, WellKnown(a.Name), a.Kind, a.Name, WellKnown(a.For), tx.Now()); err != nil {
				return err
			}
		}
		return r.mcpAgent(tx)
	})
	if err != nil {
		return nil, fmt.Errorf("make the first actors: %w", err)
	}
	return r, nil
}

// WellKnown is the id of an actor that is always there.
func WellKnown(name string) string {
	if name == "" {
		return ""
	}
	return actorPrefix + name
}

const actorColumns = "tenant, id, kind, name, acts_for, created_at, disabled_at"

func scanActor(row interface{ Scan(...any) error }) (*Actor, error) {
	var a Actor
	var created, disabled int64
	if err := row.Scan(&a.Tenant, &a.ID, &a.Kind, &a.Name, &a.For, &created, &disabled); err != nil {
		return nil, err
	}
	a.CreatedAt = db.Time(created)
	if disabled != 0 {
		t := db.Time(disabled)
		a.DisabledAt = &t
	}
	return &a, nil
}

// Actor finds an actor by id or by name.
func (r *Room) Actor(ctx context.Context, tenant, who string) (*Actor, error) {
	known := r.bornAs(tenant, who)
	if known != nil {
		who = known.ID
	}
	a, err := scanActor(r.db.QueryRow(ctx, "SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND (id = ? OR name = ?)", tenant, who, who))
	if db.NoRows(err) && known != nil {
		return known, nil
	}
	if db.NoRows(err) {
		return nil, fault.New(fault.NotFound, "actor", "there is no actor %s", who).WithNext("list them: tandem actor list")
	}
	if err != nil {
		return nil, err
	}
	if a = r.asBorn(a); !r.counts(ctx, a) {
		return nil, forged("identity", a.Seal().What)
	}
	return a, nil
}

// forged refuses a row that somebody wrote into the database, or put back there.
func forged(where, what string) *fault.Error {
	return fault.New(fault.Unauthenticated, where, "%s is not what the journal knows: somebody changed the database", what).With("reason",
		"forged").
		WithNext("see what else was changed: tandem audit verify --whole")
}

// chain follows "acts for" to its end, as kind:name; it is short and cannot loop, because
// an actor is made after the one it acts for.
func (r *Room) chain(ctx context.Context, a *Actor) ([]string, error) {
	var chain []string
	for next := a.For; next != "" && len(chain) < 16; {
		b, err := r.Actor(ctx, a.Tenant, next)
		if err != nil {
			return nil, err
		}
		chain = append(chain, string(b.Kind)+":"+b.Name)
		if b.DisabledAt != nil {
			return nil, fault.New(fault.Unauthenticated, "identity", "%s, for whom %s acts, is disabled", b.Name, a.Name)
		}
		next = b.For
	}
	return chain, nil
}

// Caller is a live actor as a caller by some door.
func (r *Room) Caller(ctx context.Context, tenant, who string, door op.Door) (op.Caller, error) {
	if err := r.Open(ctx, tenant); err != nil {
		return op.Caller{}, err
	}
	a, err := r.Actor(ctx, tenant, who)
	if err != nil {
		return op.Caller{}, err
	}
	if a.DisabledAt != nil {
		return op.Caller{}, fault.New(fault.Unauthenticated, "identity", "%s is disabled", a.Name)
	}
	chain, err := r.chain(ctx, a)
	if err != nil {
		return op.Caller{}, err
	}
	c := a.Caller(door, chain)
	c.Request = id.New("req")
	return c, nil
}

// liveIn reports whether an actor and everybody it acts for are there and not disabled, in the eyes of a change under way.
func (r *Room) liveIn(ctx context.Context, tx *db.Tx, tenant, actorID string) (bool, error) {
	for next, steps := actorID, 0; next != "" && steps < 16; steps++ {
		a, err := scanActor(tx.QueryRow("SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND id = ?", tenant, next))
		if db.NoRows(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if a = r.asBorn(a); a.DisabledAt != nil || !r.counts(ctx, a) {
			return false, nil
		}
		next = a.For
	}
	return true, nil
}

// Bearer is the caller behind a token.
func (r *Room) Bearer(ctx context.Context, secret string, door op.Door) (op.Caller, error) {
	unknown := fault.New(fault.Unauthenticated, "identity", "the token is not known, has expired or was revoked").
		WithNext("show the current one: tandem token show api")
	hash, now := hashOf(secret), r.db.Now()
	if c, ok := r.recall(hash, now); ok {
		c.Door, c.Request = door, id.New("req")
		r.touch(ctx, c.Tenant, c.Token, now)
		return c, nil
	}
	far := r.far()
	t, err := scanToken(r.db.QueryRow(ctx, "SELECT "+tokenColumns+" FROM token WHERE hash = ?", hash))
	if db.NoRows(err) {
		return op.Caller{}, unknown
	}
	if err != nil {
		return op.Caller{}, err
	}
	if t.revoked != 0 || t.expires != 0 && !now.Before(db.Time(t.expires)) || !r.Vouch.Holds(ctx, t.Seal()) {
		return op.Caller{}, unknown
	}
	c, err := r.Caller(ctx, t.tenant, t.actor, door)
	if err != nil {
		return op.Caller{}, err
	}
	c.Token, c.Decides = t.id, t.decides == 1 && c.Kind == op.Person
	r.remember(hash, c, t.expires, far)
	r.touch(ctx, t.tenant, t.id, now)
	return c, nil
}

// touch remembers when a token was last used, at most once a minute. It is a
// convenience for people, so losing one is not worth failing a request for.
func (r *Room) touch(ctx context.Context, tenant, token string, now time.Time) {
	r.mu.Lock()
	recent := now.Sub(r.used[token]) < time.Minute
	if !recent {
		r.used[token] = now
	}
	r.mu.Unlock()
	if !recent {
		_ = r.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec("UPDATE token SET used_at = ? WHERE tenant = ? AND id = ?", now, tenant, token)
			return err
		})
	}
}

// Keep stores a token whose secret is known already (from the environment or
// sealed by an earlier start), replacing what that id held before. record writes down that it did, if that is news.
func (r *Room) Keep(ctx context.Context, tokenID, actorName, secret string, record func(tx *db.Tx, row op.Sealed) error) error {
	return r.db.Write(ctx, func(tx *db.Tx) error {
		row, err := KeepIn(tx, tokenID, actorName, secret)
		if err != nil || r.Vouch.Holds(ctx, row) {
			return err
		}
		return record(tx, row)
	})
}

// KeepIn is Keep as part of a change that is recorded by whoever makes it.
func KeepIn(tx *db.Tx, tokenID, actorName, secret string) (op.Sealed, error) {
	_, err := tx.Exec(`INSERT INTO token (tenant, id, actor, hash, label, decides, created_at, created_by, expires_at, revoked_at, used_at)
		VALUES (?, ?, ?, ?, ?, 0, ?, ?, 0, 0, 0) ON CONFLICT (tenant, id) DO UPDATE SET
		revoked_at = CASE WHEN token.hash = excluded.hash THEN token.revoked_at ELSE 0 END, hash = excluded.hash, actor = excluded.actor,
		decides = 0, expires_at = 0`,
		LocalTenant, tokenID, WellKnown(actorName), hashOf(secret), "made by tandem", tx.Now(), WellKnown(System))
	if err != nil {
		return op.Sealed{}, err
	}
	t, err := scanToken(tx.QueryRow("SELECT "+tokenColumns+" FROM token WHERE tenant = ? AND id = ?", LocalTenant, tokenID))
	return t.Seal(), err
}

// Revoked reports whether a token was taken back, by the journal or by its row.
func (r *Room) Revoked(ctx context.Context, tenant, tokenID string) (bool, error) {
	gone := tokenRow{tenant: tenant, id: tokenID, revoked: 1}.Seal()
	if r.Vouch.Asks() && r.Vouch.Holds(ctx, gone) {
		return true, nil
	}
	var at int64
	err := r.db.QueryRow(ctx, "SELECT revoked_at FROM token WHERE tenant = ? AND id = ?", tenant, tokenID).Scan(&at)
	if db.NoRows(err) {
		return false, nil
	}
	return at > 0, err
}

// NewSecret makes a credential for one of the default tokens.
func NewSecret(prefix string) string { return newSecret(prefix) }

func collectActors(rows *sql.Rows, err error) ([]*Actor, error) {
	return db.Collect(rows, err, func(rows *sql.Rows) (*Actor, error) { return scanActor(rows) })
}
