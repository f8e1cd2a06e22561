package secret

import (
	"crypto/rand"
	"errors"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/secret/wire"
)

// A tenant's secrets travel to another server under a key of their own, which lies in what is locked around them.

// carried is the id of that key in rows that are on their way.
const carried = "carried"

// NewCarryKey makes such a key.
func NewCarryKey() []byte {
	key := make([]byte, keySize)
	rand.Read(key)
	return key
}

// SealCarried seals a value as it is on its way, under the key that goes with it.
func SealCarried(key []byte, tenant, name string, version int64, value []byte) ([]byte, error) {
	return seal(key, value, bound{tenant: tenant, name: name, key: carried, version: version})
}

// Leave seals the secrets of a copy under a key that goes with it; here is the database that they were copied from. What does not open
// here stays as it is, and is named.
func (r *Room) Leave(here, copied *db.Tx, key []byte) (n int, lost []string, err error) {
	return carry(copied, func(b bound) (old []byte, next bound, with []byte, err error) {
		old, err = r.master(here, b.key)
		next = b
		next.key = carried
		return old, next, key, err
	}, func(*bound, []byte) error { return nil })
}

// Arrive seals the secrets of a copy under this server's own key. What does not open, or is no secret, goes: it would never open here.
// A value that stands in the house's own record is struck from nobody's, whoever says so in the copy.
func (r *Room) Arrive(here, copied *db.Tx, key []byte) (n int, lost []string, err error) {
	keyID, own, err := r.current(here)
	if err != nil {
		return 0, nil, err
	}
	var odd error
	n, lost, err = carry(copied, func(b bound) (old []byte, next bound, with []byte, err error) {
		next = b
		next.key = keyID
		if err := wire.CheckName(b.name); err != nil && odd == nil {
			odd = fault.New(fault.Invalid, "secret", "%.64q is no name of a secret", b.name)
		}
		return key, next, own, nil
	}, func(b *bound, value []byte) error {
		if err := wire.CheckValue(string(value)); err != nil {
			return err
		}
		if b.struck != struckAll && b.struck != struckNone {
			b.struck = struckOwn
		}
		known, err := r.seen(here, house, string(value))
		if known {
			b.struck = struckNone
		}
		return err
	})
	for _, name := range lost {
		if err == nil {
			_, err = copied.Exec("DELETE FROM secret WHERE name = ?", name)
		}
	}
	return n, lost, errors.Join(err, odd)
}

// carry seals every secret of a database anew: keys says with what it opens and what it is sealed with, look what else becomes of it. What
// does not open, or is not to be taken along, is lost.
func carry(tx *db.Tx, keys func(bound) (old []byte, next bound, with []byte, err error), look func(*bound, []byte) error) (n int,
	lost []string, err error) {
	type row struct {
		bound
		sealed []byte
	}
	rows, err := tx.Query("SELECT tenant, name, key_id, version, updated_by, struck, sealed FROM secret" + order)
	all, err := db.Collect(rows, err, func(s scanner) (v row, err error) {
		return v, s.Scan(&v.tenant, &v.name, &v.key, &v.version, &v.by, &v.struck, &v.sealed)
	})
	if err != nil {
		return 0, nil, err
	}
	for _, v := range all {
		old, next, with, err := keys(v.bound)
		var value []byte
		if err == nil {
			value, err = unseal(old, v.sealed, v.bound)
		}
		if err == nil {
			err = look(&next, value)
		}
		if err != nil {
			clear(value)
			lost = append(lost, v.name)
			continue
		}
		box, err := seal(with, value, next)
		clear(value)
		if err != nil {
			return n, lost, err
		}
		if _, err := tx.Exec("UPDATE secret SET key_id = ?, sealed = ?, struck = ? WHERE tenant = ? AND name = ?", next.key, box, next.struck,
			v.tenant, v.name); err != nil {
			return n, lost, err
		}
		n++
	}
	return n, lost, nil
}
