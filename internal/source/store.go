package source

import (
	"database/sql"
	"embed"
	"time"

	"tandem/internal/db"
	"tandem/internal/memory/postings"
	"tandem/internal/source/wire"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "source", FS: schema}

// room is what the tables of postings are called after.
const room = "source"

// binding is a source as it is stored.
type binding struct {
	wire.Source
	tenant      string
	nr          int64
	owner       []byte // the caller with whose eyes the folder is read
	home        string // the server on whose machine the folder is
	origin      string // where it is, as text, if it is no folder
	repoID      string
	connectorID string
	lookedAt    time.Time
	accepted    bool // a person saw that most of its files are gone, and let it go on
}

const columns = "tenant, name, nr, folder, state, reason, owner, owner_name, home, every, wanted, made_at, looked_at, imported_at, " +
	"origin, seen"

func scan(rows interface{ Scan(...any) error }) (*binding, error) {
	var s binding
	var owner string
	var wanted, made, looked, imported int64
	err := rows.Scan(&s.tenant, &s.Name, &s.nr, &s.Folder, &s.State, &s.Reason, &owner, &s.Owner, &s.home, &s.Every, &wanted, &made, &looked,
		&imported, &s.origin, &s.Commit)
	if err == nil && s.origin != "" {
		at, _ := parseOrigin(s.origin) //nolint:errcheck // nobody vouches for one that cannot be read
		s.From, s.repoID, s.connectorID = at.From, at.RepoID, at.ConnectorID
	}
	s.owner, s.Waiting, s.accepted = []byte(owner), wanted > 0, wanted == sure
	s.MadeAt, s.lookedAt, s.ImportedAt = db.Time(made), db.Time(looked), db.Time(imported)
	return &s, err
}

func scanRow(rows *sql.Rows) (*binding, error) { return scan(rows) }

// place is where it is.
func (s *binding) place() resolved {
	return resolved{From: s.From, RepoID: s.repoID, ConnectorID: s.connectorID}
}

// What is wanted of a source: nothing, an import, or one that a person let go on although most of its files are gone.
const (
	due  = 1
	sure = 2
)

func (s *binding) wanted() int {
	switch {
	case s.Waiting && s.accepted:
		return sure
	case s.Waiting:
		return due
	}
	return 0
}

// load is a source for who changes it, nil when there is none.
func load(tx *db.Tx, tenant, name string) (*binding, error) {
	s, err := scan(tx.QueryRow("SELECT "+columns+" FROM source WHERE tenant = ? AND name = ?"+tx.ForUpdate(), tenant, name))
	if db.NoRows(err) {
		return nil, nil
	}
	return s, err
}

func insert(tx *db.Tx, s *binding) error {
	_, err := tx.Exec("INSERT INTO source ("+columns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", s.tenant, s.Name, s.nr,
		s.Folder, string(s.State), s.Reason, string(s.owner), s.Owner, s.home, s.Every, s.wanted(), s.MadeAt, s.lookedAt, s.ImportedAt,
		s.origin, s.Commit)
	return err
}

func store(tx *db.Tx, s *binding) error {
	_, err := tx.Exec("UPDATE source SET state = ?, reason = ?, wanted = ?, looked_at = ?, imported_at = ?, seen = ? "+
		"WHERE tenant = ? AND name = ?", string(s.State), s.Reason, s.wanted(), s.lookedAt, s.ImportedAt, s.Commit, s.tenant, s.Name)
	return err
}

// number is the next of a tenant: of a source, a file or a passage.
func number(tx *db.Tx, tenant string) (int64, error) { return numbers(tx, tenant, 1) }

// numbers takes several at once, and answers the first.
func numbers(tx *db.Tx, tenant string, n int) (first int64, err error) {
	err = tx.QueryRow(`INSERT INTO source_number (tenant, last) VALUES (?, ?)
		ON CONFLICT (tenant) DO UPDATE SET last = source_number.last + excluded.last RETURNING last`, tenant, n).Scan(&first)
	return first - int64(n) + 1, err
}

// file is a document of a source as it was read last.
type file struct {
	path, digest, reason string
	version              string // by which its origin says that it holds the same, "" where it does not
	nr, size, modified   int64
	texts, length        int64
	readAt               time.Time
}

const fileColumns = "path, nr, digest, size, modified, reason, texts, length, read_at, version"

func scanFile(rows *sql.Rows) (f file, err error) {
	var read int64
	err = rows.Scan(&f.path, &f.nr, &f.digest, &f.size, &f.modified, &f.reason, &f.texts, &f.length, &read, &f.version)
	f.readAt = db.Time(read)
	return f, err
}

// drop deletes what is stored of a document.
func drop(tx *db.Tx, tenant string, place int64, f file) error {
	rows, err := tx.Query("SELECT nr FROM source_passage WHERE tenant = ? AND file = ?", tenant, f.nr)
	all, err := db.Collect(rows, err, func(rows *sql.Rows) (nr int64, err error) { return nr, rows.Scan(&nr) })
	for _, nr := range all {
		if err == nil {
			_, err = postings.Drop(tx, room, tenant, place, nr)
		}
	}
	if err != nil {
		return err
	}
	if _, err := tx.Exec("DELETE FROM source_passage WHERE tenant = ? AND file = ?", tenant, f.nr); err != nil {
		return err
	}
	_, err = tx.Exec("DELETE FROM source_file WHERE tenant = ? AND place = ? AND path = ?", tenant, place, f.path)
	return err
}
