package memory

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"encoding/hex"
	"strings"

	"tandem/internal/db"
	"tandem/internal/memory/wire"
)

//go:embed schema/*.sql
var schema embed.FS

// Migrations are this room's tables.
var Migrations = db.Migrations{Room: "memory", FS: schema}

// row is a record as it is stored.
type row struct {
	wire.Record
	nr, place     int64
	actor, digest string
}

const columns = `r.id, r.nr, r.place, r.kind, r.state, r.trust, r.text, r.digest, r.labels, r.owner, r.actor, r.version, r.uses, r.replaces,
	r.replaced_by, r.made_at, r.changed_at, r.expires_at, p.tier, p.of_name`

const from = " FROM memory_record r JOIN memory_place p ON p.tenant = r.tenant AND p.nr = r.place "

func scan(rows interface{ Scan(...any) error }) (*row, error) {
	var r row
	var labels string
	var made, changed, expires int64
	err := rows.Scan(&r.ID, &r.nr, &r.place, &r.Kind, &r.State, &r.Trust, &r.Text, &r.digest, &labels, &r.Owner, &r.actor, &r.Version, &r.Uses,
		&r.Replaces, &r.ReplacedBy, &made, &changed, &expires, &r.Tier, &r.Of)
	r.Labels, r.MadeAt, r.ChangedAt, r.ExpiresAt = parted(labels), db.Time(made), db.Time(changed), db.Time(expires)
	return &r, err
}

func scanRow(rows *sql.Rows) (*row, error) { return scan(rows) }

// asker is a transaction, or the database outside of one.
type asker interface {
	Query(query string, args ...any) (*sql.Rows, error)
	QueryRow(query string, args ...any) *sql.Row
}

// outside asks the database without a transaction.
type outside struct {
	ctx context.Context
	db  *db.DB
}

func (o outside) Query(query string, args ...any) (*sql.Rows, error) {
	return o.db.Query(o.ctx, query, args...)
}
func (o outside) QueryRow(query string, args ...any) *sql.Row {
	return o.db.QueryRow(o.ctx, query, args...)
}

// find is the record of an id, nil when there is none.
func find(q asker, tenant, id, lock string) (*row, error) {
	r, err := scan(q.QueryRow("SELECT "+columns+from+"WHERE r.tenant = ? AND r.id = ?"+lock, tenant, id))
	if db.NoRows(err) {
		return nil, nil
	}
	return r, err
}

// load is the record of an id for who changes it. The lock is taken first: on PostgreSQL a join cannot be locked as a whole.
func load(tx *db.Tx, tenant, id string) (*row, error) {
	lock := tx.ForUpdate()
	if lock != "" {
		lock += " OF r"
	}
	return find(tx, tenant, id, lock)
}

// number is the next of a tenant: of a record, of a place, or of what happens to vectors.
func number(tx *db.Tx, tenant string) (int64, error) { return draw(tx, tenant, 1) }

// draw takes several at once, and answers the last.
func draw(tx *db.Tx, tenant string, n int) (last int64, err error) {
	err = tx.QueryRow(`INSERT INTO memory_number (tenant, last) VALUES (?, ?)
		ON CONFLICT (tenant) DO UPDATE SET last = memory_number.last + excluded.last RETURNING last`, tenant, n).Scan(&last)
	return last, err
}

func insert(tx *db.Tx, tenant string, r *row) error {
	_, err := tx.Exec(`INSERT INTO memory_record (tenant, id, nr, place, kind, state, trust, text, digest, labels, owner, actor, version, uses,
		replaces, replaced_by, made_at, changed_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		tenant, r.ID, r.nr, r.place, string(r.Kind), string(r.State), string(r.Trust), r.Text, r.digest, joined(r.Labels), r.Owner, r.actor,
		r.Version, r.Uses, r.Replaces, r.ReplacedBy, r.MadeAt, r.ChangedAt, r.ExpiresAt)
	for i, s := range r.Sources {
		if err == nil {
			_, err = tx.Exec("INSERT INTO memory_source (tenant, id, seq, kind, ref, digest, place) VALUES (?, ?, ?, ?, ?, ?, ?)", tenant, r.ID, i,
				s.Kind, s.Ref, s.Digest, s.Place)
		}
	}
	return err
}

func update(tx *db.Tx, tenant string, r *row) error {
	_, err := tx.Exec(`UPDATE memory_record SET place = ?, kind = ?, state = ?, trust = ?, text = ?, digest = ?,
		labels = ?, version = ?, uses = ?,
		replaced_by = ?, changed_at = ?, expires_at = ? WHERE tenant = ? AND id = ?`, r.place, string(r.Kind), string(r.State), string(r.Trust),
		r.Text,
		r.digest, joined(r.Labels), r.Version, r.Uses, r.ReplacedBy, r.ChangedAt, r.ExpiresAt, tenant, r.ID)
	return err
}

// keep writes down what was done to a record, with its text from then on.
func keep(tx *db.Tx, tenant string, r *row, what, by string) error {
	_, err := tx.Exec("INSERT INTO memory_version (tenant, id, version, what, text, made_by, made_at) VALUES (?, ?, ?, ?, ?, ?, ?)", tenant,
		r.ID,
		r.Version, what, r.Text, by, tx.Now())
	return err
}

// sources adds to records where they come from.
func sources(q asker, tenant string, records ...*wire.Record) error {
	byID := map[string]*wire.Record{}
	for _, r := range records {
		byID[r.ID] = r
	}
	for rest := records; len(rest) > 0; {
		n := min(len(rest), 100)
		args := []any{tenant}
		for _, r := range rest[:n] {
			args = append(args, r.ID)
		}
		marks, args := filled(args, n)
		rows, err := q.Query("SELECT id, kind, ref, digest, place FROM memory_source WHERE tenant = ? AND id IN ("+marks+") ORDER BY id, seq",
			args...)
		_, err = db.Collect(rows, err, func(rows *sql.Rows) (s wire.Source, err error) {
			var id string
			err = rows.Scan(&id, &s.Kind, &s.Ref, &s.Digest, &s.Place)
			if r := byID[id]; r != nil {
				r.Sources = append(r.Sources, s)
			}
			return s, err
		})
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// filled are the question marks of n values that stand at the end of args. There are as many as the next power of two, and the last
// value is repeated: so the statements of the program stay few.
func filled(args []any, n int) (marks string, all []any) {
	full := 1
	for full < n {
		full *= 2
	}
	for range full - n {
		args = append(args, args[len(args)-1])
	}
	return strings.TrimSuffix(strings.Repeat("?,", full), ","), args
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
