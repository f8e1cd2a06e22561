package secret

import (
	"database/sql"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/secret/wire"
)

type scanner = *sql.Rows

// Whose record a value is struck from.
const (
	struckAll  = "all"
	struckOwn  = "own"
	struckNone = "none"
)

// forgetAfter is how long a value that was deleted or replaced is still struck.
const forgetAfter = 24 * time.Hour

// learn teaches the redactor a stored value.
func (r *Room) learn(b bound, value []byte) {
	switch b.struck {
	case struckAll:
		r.redact.LearnAs(b.tenant, b.name, value, "")
	case struckOwn:
		r.redact.LearnAs(b.tenant, b.name, value, b.by)
	}
}

// forget ends what the redactor knows of values that are gone for good when the transaction commits, after a while. It is called once the
// secret's row is written: until then another writer may come before.
func (r *Room) forget(tx *db.Tx, tenant, name string) {
	turn := r.redact.Turn()
	tx.AfterCommit(func() { r.redact.Forget(tenant, name, turn, time.Now().Add(forgetAfter)) })
}

// Put seals a value under a name, in the caller's transaction. It is struck from the record of by, and of whom it is lent to;
// what tandem itself made is struck from everybody's.
func (r *Room) Put(tx *db.Tx, tenant, name, value, by string) (wire.Info, error) {
	struck := struckOwn
	if by == maker {
		struck = struckAll
	}
	return r.put(tx, tenant, name, value, by, struck)
}

// maker is how the program names itself when it makes a credential.
const maker = "tandem"

func (r *Room) put(tx *db.Tx, tenant, name, value, by, struck string) (wire.Info, error) {
	info := wire.Info{Name: name, By: by, Version: 1, Created: tx.Now(), Updated: tx.Now(), Struck: struck}
	if err := wire.CheckName(name); err != nil {
		return info, err
	}
	if err := wire.CheckValue(value); err != nil {
		return info, err
	}
	if by != maker {
		known, err := r.seen(tx, tenant, value)
		if err != nil {
			return info, err
		}
		if known {
			info.Struck = struckNone
		}
	}
	var version, created int64
	err := tx.QueryRow("SELECT version, created_at FROM secret WHERE tenant = ? AND name = ?"+tx.ForUpdate(), tenant, name).Scan(&version,
		&created)
	if err == nil {
		info.Version, info.Created = version+1, db.Time(created)
	} else if !db.NoRows(err) {
		return info, err
	}
	keyID, key, err := r.current(tx)
	if err != nil {
		return info, err
	}
	sealed, err := seal(key, []byte(value), bound{tenant: tenant, name: name, key: keyID, version: info.Version})
	if err != nil {
		return info, err
	}
	_, err = tx.Exec(`INSERT INTO secret (tenant, name, version, key_id, sealed, created_at, updated_at, updated_by, struck)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (tenant, name) DO UPDATE SET version = excluded.version, key_id = excluded.key_id, sealed = excluded.sealed,
		updated_at = excluded.updated_at, updated_by = excluded.updated_by, struck = excluded.struck`,
		tenant, name, info.Version, keyID, sealed, info.Created, info.Updated, by, info.Struck)
	r.forget(tx, tenant, name)                                                             // the value before this one
	r.learn(bound{tenant: tenant, name: name, by: by, struck: info.Struck}, []byte(value)) // whatever becomes of the transaction
	return info, err
}

// Drop forgets a secret, in the caller's transaction; one that is not there is no error.
func (r *Room) Drop(tx *db.Tx, tenant, name string) error {
	_, err := tx.Exec("DELETE FROM secret WHERE tenant = ? AND name = ?", tenant, name)
	r.forget(tx, tenant, name)
	return err
}

// Open reads and unseals one secret in the caller's transaction. Whoever opens it
// wipes it.
func (r *Room) Open(tx *db.Tx, tenant, name string) ([]byte, error) {
	b := bound{tenant: tenant, name: name}
	var sealed []byte
	err := tx.QueryRow("SELECT version, key_id, sealed FROM secret WHERE tenant = ? AND name = ?", tenant, name).Scan(&b.version, &b.key,
		&sealed)
	if db.NoRows(err) {
		return nil, missing(name)
	}
	if err != nil {
		return nil, err
	}
	key, err := r.master(tx, b.key)
	if err != nil {
		return nil, err
	}
	return unseal(key, sealed, b)
}

const order = " ORDER BY tenant, name"

// each opens the secrets that match, one after the other, and wipes each after.
func (r *Room) each(tx *db.Tx, where string, args []any, fn func(b bound, value []byte) error) error {
	type row struct {
		bound
		sealed []byte
	}
	rows, err := tx.Query("SELECT tenant, name, key_id, version, updated_by, struck, sealed FROM secret WHERE "+where, args...)
	all, err := db.Collect(rows, err, func(s scanner) (v row, err error) {
		return v, s.Scan(&v.tenant, &v.name, &v.key, &v.version, &v.by, &v.struck, &v.sealed)
	})
	if err != nil {
		return err
	}
	for _, v := range all {
		key, err := r.master(tx, v.key)
		if err != nil {
			return err
		}
		value, err := unseal(key, v.sealed, v.bound)
		if err != nil {
			return err
		}
		err = fn(v.bound, value)
		clear(value)
		if err != nil {
			return err
		}
	}
	return nil
}

func missing(name string) error {
	return fault.New(fault.NotFound, "secret", "there is no secret %s", name).WithNext("set it: tandem secret set %s", name)
}
