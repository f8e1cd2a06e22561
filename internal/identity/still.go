package identity

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Still says why a caller who was let in would not be let in again: a token that
// was revoked or ran out, a browser that was signed out, an actor that was
// disabled, or one that it acts for.
func (r *Room) Still(ctx context.Context, c op.Caller) error {
	in, err := r.holds(ctx, c)
	if err == nil && in {
		in, err = r.enabled(ctx, c)
	}
	if err == nil && !in {
		err = fault.New(fault.Unauthenticated, "identity", "what let %s in has ended", c.Name).WithNext("sign in again, or use a new token")
	}
	return err
}

// holds reports whether the caller's own credential is good; who has none came
// by a socket.
func (r *Room) holds(ctx context.Context, c op.Caller) (bool, error) {
	if c.Token == "" {
		return true, nil
	}
	if c.Door == op.DoorPanel {
		rows, err := r.db.Query(ctx, "SELECT hash FROM signin WHERE tenant = ? AND kind = ? AND expires_at > ?", c.Tenant, kindCookie, r.db.Now())
		hashes, err := db.Collect(rows, err, func(rows *sql.Rows) (hash []byte, err error) { return hash, rows.Scan(&hash) })
		return slices.ContainsFunc(hashes, func(hash []byte) bool { return browserID(hash) == c.Token }), err
	}
	var n int
	err := r.db.QueryRow(ctx, "SELECT count(*) FROM token WHERE tenant = ? AND id = ? AND revoked_at = 0 AND (expires_at = 0 OR expires_at > ?)",
		c.Tenant, c.Token, r.db.Now()).Scan(&n)
	return n > 0, err
}

// enabled reports whether neither the caller nor anybody it acts for was
// disabled. A session is no actor of the table; whom it acts for is.
func (r *Room) enabled(ctx context.Context, c op.Caller) (bool, error) {
	args := []any{c.Tenant, c.Actor}
	for _, f := range c.For {
		_, name, _ := strings.Cut(f, ":")
		args = append(args, name)
	}
	names := strings.TrimSuffix(strings.Repeat("?, ", len(c.For)), ", ")
	if names == "" {
		names = "NULL"
	}
	var n int
	err := r.db.QueryRow(ctx, "SELECT count(*) FROM actor WHERE tenant = ? AND disabled_at <> 0 AND (id = ? OR name IN ("+names+"))", args...).Scan(&n)
	return n == 0, err
}
