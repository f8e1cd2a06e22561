package secret

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"sync"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
)

//go:embed schema
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "secret", FS: schema}

// Room is the service.
type Room struct {
	db      *db.DB
	keepers []Keeper // the first is for new keys
	redact  *Redactor
	seen    Seen

	// Alone refuses a rotation while other servers hold the key that it replaces.
	Alone func(ctx context.Context) error

	reserved []Owned // names that other rooms read by themselves

	mu   sync.Mutex
	keys map[string][]byte // master keys by id
}

// Seen tells whether a tenant's record holds a text already: such a text is no secret any more, and striking it from then on
// would only blank the record.
type Seen func(tx *db.Tx, tenant, text string) (bool, error)

// New opens the room: it finds its master key, or makes one when there is none
// yet, removes what an interrupted rotation left, and teaches the redactor
// every value. A keyring that cannot be reached stops only those who need a
// secret, not the program.
func New(ctx context.Context, d *db.DB, keepers []Keeper, redact *Redactor, seen Seen) (*Room, error) {
	r := &Room{db: d, keepers: keepers, redact: redact, seen: seen, keys: map[string][]byte{},
		Alone: func(context.Context) error { return nil }}
	if err := r.tidy(ctx); err != nil {
		return nil, err
	}
	if err := r.ensureKey(ctx); err != nil {
		return nil, err
	}
	err := r.Learn(ctx)
	if fault.KindOf(err) == fault.Unavailable {
		err = nil // told again to whoever asks for the secret
	}
	return r, err
}

// Keeper is where the master key is: "keyring" or "file".
func (r *Room) Keeper(ctx context.Context) (string, error) {
	var name string
	err := r.db.QueryRow(ctx, "SELECT keeper FROM secret_key WHERE state = 'current'").Scan(&name)
	return name, err
}

// tidy removes the keys that no secret is sealed under any more, and those of
// rotations that a crash cut off.
func (r *Room) tidy(ctx context.Context) error {
	type row struct{ id, keeper string }
	rows, err := r.db.Query(ctx,
		"SELECT id, keeper FROM secret_key WHERE state <> 'current' AND NOT EXISTS (SELECT 1 FROM secret WHERE key_id = secret_key.id)")
	old, err := db.Collect(rows, err, func(s scanner) (v row, err error) { return v, s.Scan(&v.id, &v.keeper) })
	if err != nil || len(old) == 0 {
		return err
	}
	for _, o := range old {
		k := r.keeper(o.keeper)
		if k == nil || k.Delete(o.id) != nil {
			continue // tried again at the next start
		}
		if err := r.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec("DELETE FROM secret_key WHERE id = ? AND state <> 'current'", o.id)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func (r *Room) keeper(name string) Keeper {
	for _, k := range r.keepers {
		if k.Name() == name {
			return k
		}
	}
	return nil
}

// ensureKey makes the first master key.
func (r *Room) ensureKey(ctx context.Context) error {
	var n int
	err := r.db.QueryRow(ctx, "SELECT count(*) FROM secret_key WHERE state = 'current'").Scan(&n)
	if err != nil || n > 0 {
		return err
	}
	keyID, err := r.makeKey(ctx)
	if err != nil {
		return err
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		n, err := tx.Changed("UPDATE secret_key SET state = 'current' WHERE id = ? AND NOT EXISTS (SELECT 1 FROM secret_key "+
			"WHERE state = 'current')", keyID)
		if err == nil && n == 0 { // another server was first
			_, err = tx.Exec("UPDATE secret_key SET state = 'old' WHERE id = ?", keyID)
		}
		return err
	})
}

// makeKey makes a master key and puts it with the first keeper that takes it.
// Its row comes first, so that no key is ever left behind unnoticed.
func (r *Room) makeKey(ctx context.Context) (string, error) {
	key := make([]byte, keySize)
	rand.Read(key)
	var failed []error
	for _, k := range r.keepers {
		keyID := id.New("key")
		if err := r.db.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec("INSERT INTO secret_key (id, keeper, state, made_at) VALUES (?, ?, 'new', ?)", keyID, k.Name(), tx.Now())
			return err
		}); err != nil {
			return "", err
		}
		back, err := []byte(nil), k.Store(keyID, key)
		if err == nil {
			back, err = k.Load(keyID)
		}
		if err == nil && string(back) == string(key) {
			r.mu.Lock()
			r.keys[keyID] = key
			r.mu.Unlock()
			return keyID, nil
		}
		failed = append(failed, fmt.Errorf("%s: %w", k.Name(), err))
	}
	return "", fault.New(fault.Unavailable, "secret.key", "no place keeps the master key: %w", errors.Join(failed...)).
		WithNext("unlock the keyring, or make the data folder writable")
}

// master is a master key by its id.
func (r *Room) master(tx *db.Tx, keyID string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if key := r.keys[keyID]; key != nil {
		return key, nil
	}
	var where string
	if err := tx.QueryRow("SELECT keeper FROM secret_key WHERE id = ?", keyID).Scan(&where); err != nil {
		return nil, fmt.Errorf("master key %s: %w", keyID, err)
	}
	err := error(errNoKey)
	if k := r.keeper(where); k != nil {
		var key []byte
		if key, err = k.Load(keyID); err == nil {
			r.keys[keyID] = key
			return key, nil
		}
	}
	next := "put the file secret.key back into the data folder"
	if where == "keyring" {
		next = "unlock the keyring of this user's session and try again"
	}
	return nil, fault.New(fault.Unavailable, "secret.key", "the master key is in the %s, which does not give it: %w", where, err).
		WithNext("%s", next)
}

// current is the master key for new seals.
func (r *Room) current(tx *db.Tx) (keyID string, key []byte, err error) {
	if err := tx.QueryRow("SELECT id FROM secret_key WHERE state = 'current'").Scan(&keyID); err != nil {
		return "", nil, fmt.Errorf("the current master key: %w", err)
	}
	key, err = r.master(tx, keyID)
	return keyID, key, err
}

// Lend opens a secret for the length of one function. The value is wiped when
// fn returns; fn must not keep it.
func (r *Room) Lend(ctx context.Context, tenant, name string, fn func(value []byte) error) error {
	var value []byte
	err := r.db.Read(ctx, func(tx *db.Tx) (err error) { value, err = r.Open(tx, tenant, name); return err })
	if err != nil {
		return err
	}
	defer clear(value)
	borrower := op.CallerFrom(ctx).Name
	if borrower == "" {
		borrower = everyone // tandem itself
	} else {
		r.redact.LearnAs(tenant, name, value, borrower)
	}
	return r.redact.In(tenant, borrower).Error(fn(value))
}

// Stand tells whether any tenant's secret was stored, replaced or deleted since: then it is another one.
type Stand struct{ count, versions, newest int64 }

// Stand is how the secrets stand now.
func (r *Room) Stand(ctx context.Context) (s Stand, err error) {
	err = r.db.QueryRow(ctx, "SELECT COUNT(*), CAST(COALESCE(SUM(version), 0) AS BIGINT), COALESCE(MAX(updated_at), 0) FROM secret").
		Scan(&s.count, &s.versions, &s.newest)
	return s, err
}

// Learn teaches the redactor every value, also those that another server stored.
func (r *Room) Learn(ctx context.Context) error {
	return r.db.Read(ctx, func(tx *db.Tx) error {
		return r.each(tx, "1 = 1"+order, nil, func(b bound, value []byte) error { r.learn(b, value); return nil })
	})
}

// Rotate makes a new master key and seals a tenant's secrets anew under it. The
// old key is removed once no tenant's secret needs it. It returns how many
// were sealed.
func (r *Room) Rotate(ctx context.Context, tenant string) (n int, err error) {
	if err := r.Alone(ctx); err != nil {
		return 0, err
	}
	keyID, err := r.makeKey(ctx)
	if err != nil {
		return 0, err
	}
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		n = 0
		key, err := r.master(tx, keyID)
		if err != nil {
			return err
		}
		if err := r.each(tx, "tenant = ?"+order+tx.ForUpdate(), []any{tenant}, func(b bound, value []byte) error {
			b.key = keyID
			sealed, err := seal(key, value, b)
			if err != nil {
				return err
			}
			n++
			_, err = tx.Exec("UPDATE secret SET key_id = ?, sealed = ? WHERE tenant = ? AND name = ?", keyID, sealed, b.tenant, b.name)
			return err
		}); err != nil {
			return err
		}
		if _, err := tx.Exec("UPDATE secret_key SET state = 'old' WHERE state = 'current'"); err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE secret_key SET state = 'current' WHERE id = ?", keyID)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, r.tidy(ctx)
}
