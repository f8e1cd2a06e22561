package installation

import (
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
	dsn, err := secret.OpenApart(keepers, k.ID, k.Database.Sealed)
	return string(dsn), err
}

// Settle remembers where the database is. Only the seal keeps an address that
// has a password from whoever reads the file.
func (k *Kept) Settle(keepers []secret.Keeper, data, dsn string) error {
	k.Database = Database{Shown: Shown(data, dsn), Move: k.Database.Move}
	if dsn == "" {
		return nil
	}
	sealed, err := secret.SealApart(keepers, k.ID, []byte(dsn))
	k.Database.Sealed = sealed
	return err
}
