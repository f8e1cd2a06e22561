package identity

import (
	"context"
	"database/sql"
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

func putSignin(ctx context.Context, tx *db.Tx, kind, tenant, actor, secret, key string, life time.Duration) error {
	if err := endSignins(ctx, tx, "tenant = ? AND expires_at <= ?", tenant, tx.Now()); err != nil {
		return err
	}
	s := signinRow{tenant, actor, kind, hashOf(kind + secret), tx.Now().Add(life).UnixMicro(), key}
	op.Row(ctx, s.Seal())
	_, err := tx.Exec("INSERT INTO signin (hash, tenant, actor, kind, created_at, expires_at, public_key) VALUES (?, ?, ?, ?, ?, ?, ?)",
		s.hash, tenant, actor, kind, tx.Now(), tx.Now().Add(life), key)
	return err
}

// takeSignin spends a link or an invitation. Of one that was used, or that nobody made, there is no row.
func (r *Room) takeSignin(ctx context.Context, tx *db.Tx, kind, secret string) (signinRow, error) {
	s, err := scanSignin(tx.QueryRow("DELETE FROM signin WHERE hash = ? AND kind = ? AND expires_at > ? RETURNING "+signinColumns,
		hashOf(kind+secret), kind, tx.Now()))
	if err == nil && !r.Vouch.Holds(ctx, s.Seal()) {
		err = sql.ErrNoRows
	}
	if err == nil {
		op.Seal(ctx, s.Seal().Subject)
	}
	return s, err
}

// Cookie is the caller behind a panel cookie: a person, not present.
func (r *Room) Cookie(ctx context.Context, cookie string) (op.Caller, error) {
	s, err := r.browserOf(ctx, cookie)
	if err != nil {
		return op.Caller{}, err
	}
	c, err := r.Caller(ctx, s.tenant, s.actor, op.DoorPanel)
	c.Token = browserID(hashOf(kindCookie + cookie)) // tells this browser from the person's others
	return c, err
}

// browserOf is the browser that holds a cookie.
func (r *Room) browserOf(ctx context.Context, cookie string) (signinRow, error) {
	s, err := scanSignin(r.db.QueryRow(ctx, "SELECT "+signinColumns+" FROM signin WHERE hash = ? AND kind = ? AND expires_at > ?",
		hashOf(kindCookie+cookie), kindCookie, r.db.Now()))
	if db.NoRows(err) || err == nil && !r.Vouch.Holds(ctx, s.Seal()) {
		return s, fault.New(fault.Unauthenticated, "signin", "you are signed out").WithNext("open the panel again: tandem panel open")
	}
	return s, err
}

// BrowserKey is the public key with which a signed-in browser signs what it
// does, or "" where it has shown none yet.
func (r *Room) BrowserKey(ctx context.Context, cookie string) (string, error) {
	s, err := r.browserOf(ctx, cookie)
	return s.key, err
}

// shorten keeps what a stranger's browser says of itself small and valid.
func shorten(agent string) string {
	agent = strings.ToValidUTF8(agent, "")
	if runes := []rune(agent); len(runes) > 200 {
		agent = string(runes[:200])
	}
	return strings.ReplaceAll(agent, "\x00", "")
}
