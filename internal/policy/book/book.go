package book

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/policy"
)

// Who finds an actor by name: what it is, and for whom it acts, nearest first. Identity knows.
type Who func(ctx context.Context, tenant, name string) (policy.PrincipalRef, []policy.PrincipalRef, error)

// Wants is what an operation needs: a right, and beside the policy a person, one who is present, or the control socket.
type Wants struct {
	Right                   string
	People, Present, Socket bool
}

// Wanted finds what an operation needs. The table of operations knows.
type Wanted func(op string) (w Wants, ok bool)

// Book keeps the policies.
type Book struct {
	db    *db.DB
	who   Who
	wants Wanted

	// Able says whether somebody is a person of this house now, and whether they could prove to be here. Identity knows.
	Able func(ctx context.Context, tx *db.Tx, tenant, name string) (here, able bool, err error)
	// Acts are the newest things that an actor did; without it nobody knows what was used.
	Acts func(ctx context.Context, tenant, actor string) ([]Act, error)
	// Keeps are rules about what the house keeps from a tenant, whatever that one's own rules say; "" for none.
	Keeps func(tenant string) string
	// Vouch asks the journal about every grant and about the rules.
	Vouch op.Vouch

	mu    sync.Mutex
	known map[string]known
	turn  int64 // counts changes, so that a slow read does not put an old policy back
}

// known is a compiled policy, who is away, what it was made of, and the journal's turn that all of it was read at.
type known struct {
	*policy.Compiled
	away    []away
	groups  []policy.Group
	listed  func() []*Grant // those in force and those that were taken back, by their ids
	vouched int64
}

// New makes a book.
func New(d *db.DB, who Who, wants Wanted) *Book {
	return &Book{db: d, who: who, wants: wants, known: map[string]known{}}
}

// Policy is the tenant's policy in force. On an error there is none, and everything is refused.
func (b *Book) Policy(ctx context.Context, tenant string) (*policy.Compiled, error) {
	k, err := b.current(ctx, tenant)
	return k.Compiled, err
}

// current is what is known of a tenant, read anew where something changed.
func (b *Book) current(ctx context.Context, tenant string) (known, error) {
	vouched := b.vouched()
	b.mu.Lock()
	have, turn := b.known[tenant], b.turn
	b.mu.Unlock()
	there := have.Compiled != nil && have.vouched == vouched
	if there && b.db.Name() == "sqlite" {
		return have, nil // one process owns the file, and it hears of every change below
	}
	if there {
		fresh, err := b.fresh(ctx, tenant, have.Version())
		if err != nil || fresh {
			return have, err
		}
	}
	k := known{vouched: vouched}
	err := b.db.Read(ctx, func(tx *db.Tx) error {
		src, all, err := b.inForce(ctx, tx, tenant)
		if err != nil {
			return err
		}
		_, d, _, err := b.rulesNow(ctx, tx, tenant)
		if err != nil {
			return err
		}
		k.away, k.groups, k.listed = d.Away, src.Groups, sync.OnceValue(func() []*Grant { return byID(all) })
		k.Compiled, err = policy.Compile(src)
		return err
	})
	if err != nil {
		return known{}, fmt.Errorf("load the policy of %s: %w", tenant, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turn == turn {
		b.known[tenant] = k
	}
	return k, nil
}

// fresh asks a database that several servers share whether the policy is still the one we know.
func (b *Book) fresh(ctx context.Context, tenant string, version int64) (bool, error) {
	var now int64
	err := b.db.QueryRow(ctx, "SELECT version FROM policy_head WHERE tenant = ?", tenant).Scan(&now)
	if db.NoRows(err) {
		return version == 0, nil
	}
	return now == version, err
}

// changed forgets a tenant's compiled policy once the change is on disk, before anybody is told of it.
func (b *Book) changed(tx *db.Tx, tenant string) {
	tx.AfterCommit(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.turn++
		delete(b.known, tenant)
	})
}

// check compiles the policy as the transaction would leave it: what does not compile is not written.
func (b *Book) check(ctx context.Context, tx *db.Tx, tenant, where string) (*policy.Compiled, error) {
	src, _, _, err := b.now(ctx, tx, tenant)
	if err != nil {
		return nil, err
	}
	c, err := policy.Compile(src)
	return c, refusal(where, err)
}

// refusal turns what the policy package says of its input into an answer for whoever wrote it.
func refusal(where string, err error) error {
	if errors.Is(err, policy.ErrMalformed) {
		return fault.New(fault.Invalid, where, "%v", err)
	}
	return err
}
