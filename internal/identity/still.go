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

// Still says why a caller who was let in would not be let in again: a tenant that is suspended, a token that
// was revoked or ran out, a browser that was signed out, an actor that was
// disabled, or one that it acts for.
func (r *Room) Still(ctx context.Context, c op.Caller) error {
	if err := r.Open(ctx, c.Tenant); err != nil {
		return err
	}
	in, err := r.holds(ctx, c)
	if err == nil && in {
		in, err = r.enabled(ctx, c)
	}
	if err == nil && in {
		in, err = r.present(ctx, c)
	}
	if err == nil && !in {
		err = fault.New(fault.Unauthenticated, "identity", "what let %s in has ended", c.Name).WithNext("sign in again, or use a new token")
	}
	return err
}

// present reports whether the PIN that proved a caller's presence is still the PIN, or the device that did was not revoked.
func (r *Room) present(ctx context.Context, c op.Caller) (bool, error) {
	var n int
	if c.Present == byDevice {
		err := r.db.QueryRow(ctx, "SELECT count(*) FROM device WHERE tenant = ? AND id = ? AND revoked_at = 0", c.Tenant, c.Device).Scan(&n)
		return n == 1, err
	}
	if c.Present != "pin" || c.Since.IsZero() {
		return true, nil
	}
	err := r.db.QueryRow(ctx, "SELECT count(*) FROM pin WHERE tenant = ? AND actor = ? AND set_at > ?", c.Tenant, c.Actor, c.Since).Scan(&n)
	return n == 0, err
}

// holds reports whether the caller's own credential is good; who has none came
// by a socket.
func (r *Room) holds(ctx context.Context, c op.Caller) (bool, error) {
	if c.Token == "" {
		return true, nil
	}
	if id, ok := signerOf(c.Token); ok {
		k, err := r.signer(ctx, id)
		return k != nil && k.Usable(r.db.Now()) == nil && r.db.Now().Before(c.Until), err
	}
	if c.Door == op.DoorPanel {
		rows, err := r.db.Query(ctx, "SELECT "+signinColumns+" FROM signin WHERE tenant = ? AND kind = ? AND expires_at > ?", c.Tenant,
			kindCookie, r.db.Now())
		all, err := db.Collect(rows, err, func(rows *sql.Rows) (signinRow, error) { return scanSignin(rows) })
		return slices.ContainsFunc(all, func(s signinRow) bool { return browserID(s.hash) == c.Token && r.Vouch.Holds(ctx, s.Seal()) }), err
	}
	t, err := scanToken(r.db.QueryRow(ctx, "SELECT "+tokenColumns+
		" FROM token WHERE tenant = ? AND id = ? AND revoked_at = 0 AND (expires_at = 0 OR expires_at > ?)",
		c.Tenant, c.Token, r.db.Now()))
	if db.NoRows(err) {
		return false, nil
	}
	return err == nil && r.Vouch.Holds(ctx, t.Seal()), err
}

// enabled reports whether the caller and everybody it acts for are who they were, and none was disabled. A session is no actor of
// the table; whom it acts for is.
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
	all, err := collectActors(r.db.Query(ctx, "SELECT "+actorColumns+" FROM actor WHERE tenant = ? AND (id = ? OR name IN ("+names+"))",
		args...))
	return !slices.ContainsFunc(all, func(a *Actor) bool {
		if b := r.bornAs(a.Tenant, a.Name); b != nil && b.ID != a.ID {
			return false // it has the name of one that is not in the table
		}
		a = r.asBorn(a)
		return a.DisabledAt != nil || !r.counts(ctx, a)
	}), err
}
