package installation

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// KeyFile is a key that an installation cannot do without.
type KeyFile struct {
	Name string
	With string // what is lost with it
	// needs counts what in the database depends on it, for data that was written before keys had marks; empty when nothing can.
	needs  string
	Always bool // every installation has it
	// many is a file of several keys that change: it has no mark, and its room says whether one is missing.
	many bool
}

// Keys are all of them. A room that keeps a key as a file adds its line.
var Keys = []KeyFile{
	{Name: "journal.key", Always: true, With: "receipts and checkpoints that it signed can be checked only with a public key that somebody " +
		"kept, and tandem audit verify names every one of them",
		needs: "SELECT count(*) FROM journal_checkpoint"},
	{Name: "space.key", Always: true, With: "this machine's seats in its spaces cannot be opened: each member here has to join again, " +
		"and messages that only this machine has stay closed",
		needs: "SELECT count(*) FROM peer_seat"},
	{Name: "secret.key", With: "the secrets that are sealed under it cannot be opened and have to be set again", many: true},
	{Name: "tls-key.pem", With: "other machines know this server by it, refuse another one, and have to be invited again"},
}

// Known is the key file of that name.
func Known(name string) (KeyFile, error) {
	var names []string
	for _, k := range Keys {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return KeyFile{}, fault.New(fault.Invalid, "installation", "%q is no key", name).WithNext("it is one of %s", strings.Join(names, ", "))
}

// Lost is the refusal to start without a key that there was.
func (k KeyFile) Lost(data string) *fault.Error {
	return fault.New(fault.Unavailable, "installation", "%s is missing in %s; with it is lost: %s", k.Name, data, k.With).
		WithNext("put the file back from a copy of the folder or of the machine; when there is none, go on without what is "+
			"lost: tandem up --without %s", k.Name)
}

// Old is the refusal to start with a file of keys that lacks a newer one: they were replaced elsewhere.
func (k KeyFile) Old(data string) *fault.Error {
	return fault.New(fault.Unavailable, "installation", "%s in %s is an old one, it lacks the key that counts now; without that: %s",
		k.Name, data, k.With).
		WithNext("take the keys from the server that replaced them: there tandem server key copy PATH, here, into an empty data folder, "+
			"tandem server key take PATH; or put a newer file back; when there is none: tandem up --without %s", k.Name)
}

func (k KeyFile) foreign(data string) error {
	return fault.New(fault.Conflict, "installation", "%s in %s is not the key of this installation: it belongs to another one", k.Name, data).
		WithNext("put the right one back from a copy; when there is none, go on without it (%s): tandem up --without %s", k.With, k.Name)
}

// mark tells keys apart and tells nothing of a key.
func mark(id, name string, key []byte) string {
	m := hmac.New(sha256.New, bytes.TrimSpace(key))
	fmt.Fprintf(m, "tandem installation v1\n%s\n%s\n", id, name)
	return hex.EncodeToString(m.Sum(nil)[:16])
}

// Mark lets another key count from now on: it was replaced.
func (k *Kept) Mark(tx *db.Tx, name string, key []byte) error {
	_, err := tx.Exec("INSERT INTO installation_key (name, mark, known_at) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET mark = "+
		"excluded.mark, known_at = excluded.known_at",
		name, mark(k.ID, name, key), tx.Now())
	return err
}

// Marked says whether this is the key that counts.
func (k *Kept) Marked(tx *db.Tx, name string, key []byte) (bool, error) {
	var known string
	err := tx.QueryRow("SELECT mark FROM installation_key WHERE name = ?", name).Scan(&known)
	if db.NoRows(err) {
		return false, nil
	}
	return known == mark(k.ID, name, key), err
}

// Present are the names of the key files that a folder has.
func Present(data string) (names []string) {
	for _, k := range Keys {
		if _, err := os.Lstat(filepath.Join(data, k.Name)); err == nil {
			names = append(names, k.Name)
		}
	}
	return names
}

// CheckKeys refuses a folder that lacks a key that the database knows, or has
// another one in its place.
func (k *Kept) CheckKeys(tx *db.Tx, data string, lost ...string) error {
	for _, f := range Keys {
		if f.many || slices.Contains(lost, f.Name) {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(data, f.Name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fault.New(fault.Unavailable, "installation", "cannot read %s: %w", f.Name, err).WithNext("check its owner and mode")
		}
		var known string
		switch scan := tx.QueryRow("SELECT mark FROM installation_key WHERE name = ?", f.Name).Scan(&known); {
		case db.NoRows(scan):
			var needs int64
			if raw == nil && f.needs != "" {
				if err := tx.QueryRow(f.needs).Scan(&needs); err != nil {
					return err
				}
			}
			if needs > 0 {
				return f.Lost(data)
			}
		case scan != nil:
			return scan
		case raw == nil:
			return f.Lost(data)
		case known != mark(k.ID, f.Name, raw):
			return f.foreign(data)
		}
	}
	return nil
}

// GiveUp goes on without a key: what stands in its place is set aside, and the
// database knows it no longer.
func GiveUp(tx *db.Tx, data string, f KeyFile, now time.Time) error {
	path := filepath.Join(data, f.Name)
	if _, err := os.Lstat(path); err == nil && !f.many {
		if err := os.Rename(path, path+".set-aside-"+now.Format("20060102-150405")); err != nil {
			return err
		}
	}
	_, err := tx.Exec("DELETE FROM installation_key WHERE name = ?", f.Name)
	return err
}

// KnowKeys marks the keys that the folder has and the database does not know yet.
func (k *Kept) KnowKeys(tx *db.Tx, data string) error {
	for _, f := range Keys {
		raw, err := os.ReadFile(filepath.Join(data, f.Name))
		if f.many || errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if _, err := tx.Exec("INSERT INTO installation_key (name, mark, known_at) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING", f.Name,
			mark(k.ID, f.Name, raw), tx.Now()); err != nil {
			return err
		}
	}
	return nil
}
