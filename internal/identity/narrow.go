package identity

import (
	"context"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// KeepNarrowing keeps what a caller is narrowed to, for what it begins: a session has it in its chain by a digest of the text, which nobody
// can change without changing the chain.
func (r *Room) KeepNarrowing(ctx context.Context, c op.Caller) error {
	by := op.Narrowings(c)
	if c.Narrow == "" || len(by) == 0 {
		return nil
	}
	_, id, _ := strings.Cut(by[len(by)-1], ":") // its own is in its chain, behind those of who prompted it
	if _, err := r.narrowing(ctx, c.Tenant, id); !db.NoRows(err) {
		return err
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("INSERT INTO assertion_narrowing (tenant, id, text, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
			c.Tenant, id, c.Narrow, tx.Now())
		return err
	})
}

// Narrowing is the text behind a name in a chain.
func (r *Room) Narrowing(ctx context.Context, c op.Caller, by string) (string, error) {
	_, id, _ := strings.Cut(by, ":")
	text, err := r.narrowing(ctx, c.Tenant, id)
	if db.NoRows(err) {
		return "", fault.New(fault.Denied, "assertion", "what narrows %s is not known here", c.Name).
			WithNext("it was begun by a request with a signed assertion: begin it anew")
	}
	return text, err
}

func (r *Room) narrowing(ctx context.Context, tenant, id string) (text string, err error) {
	err = r.db.QueryRow(ctx, "SELECT text FROM assertion_narrowing WHERE tenant = ? AND id = ?", tenant, id).Scan(&text)
	return text, err
}
