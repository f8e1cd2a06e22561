package book

import (
	"context"
	"errors"
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
	// Narrowed is what a signed assertion in somebody's chain narrows it to; without it nobody who has one there may anything.
	Narrowed func(ctx context.Context, tenant string, by policy.PrincipalRef) (*policy.Narrowed, error)
	// Vouch asks the journal about every grant and about the rules.
	Vouch op.Vouch

	mu    sync.Mutex
	known map[string]known
	turn  int64 // counts changes, so that a slow read does not put an old policy back
}

// New makes a book.
func New(d *db.DB, who Who, wants Wanted) *Book {
	return &Book{db: d, who: who, wants: wants, known: map[string]known{}}
}

// refusal turns what the policy package says of its input into an answer for whoever wrote it.
func refusal(where string, err error) error {
	if errors.Is(err, policy.ErrMalformed) {
		return fault.New(fault.Invalid, where, "%v", err)
	}
	return err
}
