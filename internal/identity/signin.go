package identity

import (
	"context"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// A sign-in link works once, for ten minutes; the cookie it buys lasts two
// weeks and is never presence.
const (
	linkLife   = 10 * time.Minute
	cookieLife = 14 * 24 * time.Hour
)

// Rows of the table signin are one of these.
const (
	kindLink   = "link"
	kindCookie = "cookie"
)

func putSignin(tx *db.Tx, kind, tenant, actor, secret string, life time.Duration) error {
	if _, err := tx.Exec("DELETE FROM signin WHERE expires_at <= ?", tx.Now()); err != nil {
		return err
	}
	_, err := tx.Exec("INSERT INTO signin (hash, tenant, actor, kind, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
		hashOf(kind+secret), tenant, actor, kind, tx.Now(), tx.Now().Add(life))
	return err
}

// Cookie is the caller behind a panel cookie: a person, not present.
func (r *Room) Cookie(ctx context.Context, cookie string) (op.Caller, error) {
	var tenant, actor string
	err := r.db.QueryRow(ctx, "SELECT tenant, actor FROM signin WHERE hash = ? AND kind = ? AND expires_at > ?",
		hashOf(kindCookie+cookie), kindCookie, r.db.Now()).Scan(&tenant, &actor)
	if db.NoRows(err) {
		return op.Caller{}, fault.New(fault.Unauthenticated, "signin", "you are signed out").WithNext("open the panel again: tandem panel open")
	}
	if err != nil {
		return op.Caller{}, err
	}
	c, err := r.Caller(ctx, tenant, actor, op.DoorPanel)
	c.Token = browserID(hashOf(kindCookie + cookie)) // tells this browser from the person's others
	return c, err
}

// shorten keeps what a stranger's browser says of itself small and valid.
func shorten(agent string) string {
	agent = strings.ToValidUTF8(agent, "")
	if runes := []rune(agent); len(runes) > 200 {
		agent = string(runes[:200])
	}
	return strings.ReplaceAll(agent, "\x00", "")
}
