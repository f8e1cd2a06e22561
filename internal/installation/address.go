package installation

import (
	"cmp"
	"crypto/rand"
	"net/url"
	"path/filepath"
	"strings"

	"tandem/internal/secret"
)

// inFolder is the database that is a file of the data folder.
const inFolder = "tandem.db"

// Shown is a database's address for people: neither passwords nor options.
func Shown(data, dsn string) string {
	if u, err := url.Parse(dsn); err == nil && strings.HasPrefix(u.Scheme, "postgres") {
		out := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
		if u.User != nil {
			out.User = url.User(u.User.Username())
		}
		if h := u.Query().Get("host"); u.Host == "" && h != "" {
			out.RawQuery = url.Values{"host": {h}}.Encode()
		}
		return out.String()
	}
	if dsn == "" {
		return filepath.Join(data, inFolder)
	}
	return strings.TrimPrefix(dsn, "sqlite:")
}

// Address is the database's whole address, "" for the file in the data folder.
func (k *Kept) Address(keepers []secret.Keeper) (string, error) {
	if len(k.Database.Sealed) == 0 {
		return "", nil
	}
	dsn, err := secret.OpenApart(keepers, k.sealedBy(), k.Database.Sealed)
	return string(dsn), err
}

// sealedBy is the id of the key that the address is sealed under.
func (k *Kept) sealedBy() string { return cmp.Or(k.Database.Key, k.ID) }

// Settle remembers where the database is. Only the seal keeps an address that
// has a password from whoever reads the file.
func (k *Kept) Settle(keepers []secret.Keeper, data, dsn string) error {
	k.Database = Database{Shown: Shown(data, dsn), Key: k.Database.Key, Move: k.Database.Move}
	if dsn == "" {
		k.Database.Key = ""
		return nil
	}
	sealed, err := secret.SealApart(keepers, k.sealedBy(), []byte(dsn))
	k.Database.Sealed = sealed
	return err
}

// Rekey seals the address under a new key, keeps that with the data folder, and does away with the old one. A crash on the way leaves
// both keys, and the file with one that opens it.
func (k *Kept) Rekey(keepers []secret.Keeper, data, dsn string) error {
	if len(k.Database.Sealed) == 0 {
		return nil
	}
	before, old := k.Database, k.sealedBy()
	k.Database.Key = k.ID + "." + strings.ToLower(rand.Text()[:8])
	err := k.Settle(keepers, data, dsn)
	if err == nil {
		err = k.Write(data)
	}
	if err != nil {
		k.Database = before
		return err
	}
	return secret.DropApart(keepers, old)
}
