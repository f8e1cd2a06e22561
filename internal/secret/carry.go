package secret

import (
	"crypto/rand"

	"tandem/internal/db"
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

// Leave seals the secrets of a copy under a key that goes with it; here is the database that they were copied from. What does not open
// here stays as it is, and is named.
func (r *Room) Leave(here, copied *db.Tx, key []byte) (n int, lost []string, err error) {
	return r.carry(copied, func(b bound) (old []byte, next bound, with []byte, err error) {
		old, err = r.master(here, b.key)
		next = b
		next.key = carried
		return old, next, key, err
	})
}

// Arrive seals the secrets of a copy under this server's own key. What does not open goes: it would never open here.
func (r *Room) Arrive(here, copied *db.Tx, key []byte) (n int, lost []string, err error) {
	keyID, own, err := r.current(here)
	if err != nil {
		return 0, nil, err
	}
	n, lost, err = r.carry(copied, func(b bound) (old []byte, next bound, with []byte, err error) {
		next = b
		next.key = keyID
		return key, next, own, nil
	})
	for _, name := range lost {
		if err == nil {
			_, err = copied.Exec("DELETE FROM secret WHERE name = ?", name)
		}
	}
	return n, lost, err
}

func (r *Room) carry(tx *db.Tx, keys func(bound) (old []byte, next bound, with []byte, err error)) (n int, lost []string, err error) {
	type row struct {
		bound
		sealed []byte
	}
	rows, err := tx.Query("SELECT tenant, name, key_id, version, sealed FROM secret" + order)
	all, err := db.Collect(rows, err, func(s scanner) (v row, err error) {
		return v, s.Scan(&v.tenant, &v.name, &v.key, &v.version, &v.sealed)
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
		if err != nil {
			lost = append(lost, v.name)
			continue
		}
		box, err := seal(with, value, next)
		clear(value)
		if err != nil {
			return n, lost, err
		}
		if _, err := tx.Exec("UPDATE secret SET key_id = ?, sealed = ? WHERE tenant = ? AND name = ?", next.key, box, v.tenant,
			v.name); err != nil {
			return n, lost, err
		}
		n++
	}
	return n, lost, nil
}
