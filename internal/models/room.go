package models

import (
	"context"
	"database/sql"
	"net/http"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/secret"
)

// Keys keeps providers' keys: sealed, by tenant, lent for one call.
type Keys struct {
	// Lend gives the key to fn; a missing one is a NotFound fault.
	Lend func(ctx context.Context, tenant, name string, fn func(value []byte) error) error
	// Put stores one in the caller's transaction, and Drop forgets one.
	Put  func(tx *db.Tx, tenant, name, value, by string) error
	Drop func(tx *db.Tx, tenant, name string) error
	// Env is where a tenant's key may lie beside the store.
	Env func(tenant, name string) string
	// Reach carries calls of a tenant's models; nil for the house's own, which may lie anywhere.
	Reach func(tenant string) http.RoundTripper
}

// Secrets are the names that providers' keys have: a new one in the place of another would send what a model is told to
// somebody else's account.
var Secrets = []secret.Owned{{Prefix: "provider/", First: true, Kind: "provider"}}

func secretName(id string) string { return "provider/" + id }

// Default is the model that works on a fresh machine: it repeats what it is told.
const Default = "local/echo-1"

// Nothing is an input without fields.
type Nothing struct{}

// OK says that it was done.
type OK struct {
	OK bool `json:"ok"`
}

// Room keeps the providers of models that people added, their keys, and which model sessions have that name none. Its tables are named as
// those of sessions, where they were once.
type Room struct {
	db    *db.DB
	keys  Keys
	vouch op.Vouch
}

// New makes the room. It believes of its rows what the journal vouches for.
func New(d *db.DB, keys Keys, vouch op.Vouch) *Room { return &Room{db: d, keys: keys, vouch: vouch} }

const defaultQuery = "SELECT model FROM session_default WHERE tenant = ?"

// Chosen is the model of a tenant's sessions that name none, if it is the one that somebody chose.
func Chosen(tx *db.Tx, vouch op.Vouch, tenant string) (string, error) {
	return chosen(tx.Context(), tx.QueryRow(defaultQuery, tenant), vouch, tenant)
}

func chosen(ctx context.Context, row *sql.Row, vouch op.Vouch, tenant string) (string, error) {
	var m string
	err := row.Scan(&m)
	switch {
	case err != nil && !db.NoRows(err):
		return "", err
	case err != nil && !vouch.Knows(tenant, defaultSubject):
		return Default, nil
	case err != nil || !vouch.Holds(ctx, sealDefault(m, tenant)):
		return "", fault.New(fault.Denied, "provider.default",
			"which model sessions have that name none was changed in the database, and not by tandem").
			WithNext("see what was changed: tandem audit verify; say it anew: tandem provider default PROVIDER/MODEL; or name one")
	}
	return m, nil
}
