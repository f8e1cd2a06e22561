package book

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/policy"
)

// Who finds an actor by name: what it is, and for whom it acts, nearest first. Identity knows.
type Who func(ctx context.Context, tenant, name string) (policy.PrincipalRef, []policy.PrincipalRef, error)

// Rights finds the right that an operation needs. The table of operations knows.
type Rights func(op string) (right string, ok bool)

// Book keeps the policies.
type Book struct {
	db     *db.DB
	who    Who
	rights Rights

	mu    sync.Mutex
	known map[string]*policy.Compiled
	turn  int64 // counts changes, so that a slow read does not put an old policy back
}

// New makes a book.
func New(d *db.DB, who Who, rights Rights) *Book {
	return &Book{db: d, who: who, rights: rights, known: map[string]*policy.Compiled{}}
}

// Policy is the tenant's policy in force. On an error there is none, and everything is refused.
func (b *Book) Policy(ctx context.Context, tenant string) (*policy.Compiled, error) {
	b.mu.Lock()
	c, turn := b.known[tenant], b.turn
	b.mu.Unlock()
	if c != nil && b.db.Name() == "sqlite" {
		return c, nil // one process owns the file, and it hears of every change below
	}
	if c != nil {
		fresh, err := b.fresh(ctx, tenant, c.Version())
		if err != nil || fresh {
			return c, err
		}
	}
	err := b.db.Read(ctx, func(tx *db.Tx) error {
		v, err := head(tx, tenant)
		if err != nil {
			return err
		}
		src, _, err := source(tx, tenant, v)
		if err != nil {
			return err
		}
		c, err = policy.Compile(src)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the policy of %s: %w", tenant, err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.turn == turn {
		b.known[tenant] = c
	}
	return c, nil
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
func (b *Book) check(tx *db.Tx, tenant, where string) (*policy.Compiled, error) {
	v, err := head(tx, tenant)
	if err != nil {
		return nil, err
	}
	src, _, err := source(tx, tenant, v)
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
