package resource

import (
	"embed"
	"encoding/json"
	"sync"
	"time"

	"tandem/internal/db"
	"tandem/internal/resource/wire"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are the tables of this room.
var Migrations = db.Migrations{Room: "resource", FS: schema}

const columns = "key, value, rev, fence, owner, updated_by, updated_at, expires_at"

type scanner interface{ Scan(...any) error }

func scan(row scanner) (*wire.Resource, error) {
	var r wire.Resource
	var value string
	var updated, expires int64
	if err := row.Scan(&r.Key, &value, &r.Rev, &r.Fence, &r.Owner, &r.UpdatedBy, &updated, &expires); err != nil {
		return nil, err
	}
	r.Value, r.UpdatedAt = json.RawMessage(value), db.Time(updated)
	if expires != 0 {
		t := db.Time(expires)
		r.ExpiresAt = &t
	}
	return &r, nil
}

func load(tx *db.Tx, tenant, key string) (*wire.Resource, error) {
	r, err := scan(tx.QueryRow("SELECT "+columns+" FROM resource WHERE tenant = ? AND key = ?"+tx.ForUpdate(), tenant, key))
	if db.NoRows(err) {
		return nil, nil
	}
	return r, err
}

// fences gives keys their fencing numbers, each larger than any before in its
// tenant. The last one given is remembered and the row only compared, which is
// half the work of reading it; a transaction that was undone, or another
// server, shows there and the row is read.
type fences struct {
	mu   sync.Mutex
	last map[string]int64
}

func (f *fences) next(tx *db.Tx, tenant string) (int64, error) {
	if n, ok := f.given(tenant); ok {
		moved, err := tx.Changed("UPDATE resource_fence SET last = ? WHERE tenant = ? AND last = ?", n+1, tenant, n)
		if err != nil {
			return 0, err
		}
		if moved == 1 {
			f.give(tenant, n+1)
			return n + 1, nil
		}
	}
	var n int64
	err := tx.QueryRow(`INSERT INTO resource_fence (tenant, last) VALUES (?, 1)
		ON CONFLICT (tenant) DO UPDATE SET last = resource_fence.last + 1 RETURNING last`, tenant).Scan(&n)
	if err == nil {
		f.give(tenant, n)
	}
	return n, err
}

func (f *fences) given(tenant string) (int64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, ok := f.last[tenant]
	return n, ok
}

func (f *fences) give(tenant string, n int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last[tenant] = n
}

// insert writes a key that had no row. When somebody made one since it was
// looked for, theirs is first, and this change is tried again on top of it.
func insert(tx *db.Tx, tenant string, r *wire.Resource) error {
	n, err := tx.Changed(`INSERT INTO resource (tenant, `+columns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, key) DO NOTHING`,
		tenant, r.Key, string(r.Value), r.Rev, r.Fence, r.Owner, r.UpdatedBy, r.UpdatedAt, expiry(r))
	if err == nil && n == 0 {
		err = db.ErrAgain
	}
	return err
}

// update writes a key whose row load found, and locked.
func update(tx *db.Tx, tenant string, r *wire.Resource) error {
	_, err := tx.Exec("UPDATE resource SET value = ?, rev = ?, fence = ?, owner = ?, updated_by = ?, updated_at = ?, "+
		"expires_at = ? WHERE tenant = ? AND key = ?",
		string(r.Value), r.Rev, r.Fence, r.Owner, r.UpdatedBy, r.UpdatedAt, expiry(r), tenant, r.Key)
	return err
}

// expiry is the end as it is stored; without one it is the zero time.
func expiry(r *wire.Resource) time.Time {
	if r.ExpiresAt == nil {
		return time.Time{}
	}
	return *r.ExpiresAt
}
