package db

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"

	"tandem/internal/fault"
)

// Migrations are one room's schema files, named 0001_what.sql, 0002_….sql.
// They only ever move forward, and a file that has run is never edited.
type Migrations struct {
	Room string
	FS   fs.FS // holds the folder "schema"
}

const schemaTable = `CREATE TABLE IF NOT EXISTS schema_version (
	room TEXT NOT NULL, version BIGINT NOT NULL, name TEXT NOT NULL, hash TEXT NOT NULL, applied_at BIGINT NOT NULL,
	PRIMARY KEY (room, version))`

// postgresTypes turns SQLite's words into PostgreSQL's. INTEGER PRIMARY KEY (64
// bits wide there) and WITHOUT ROWID spare SQLite a second tree for the key.
var postgresTypes = strings.NewReplacer(" BLOB", " BYTEA", " INTEGER PRIMARY KEY", " BIGINT PRIMARY KEY", " WITHOUT ROWID", "",
	"group_concat(CAST(term AS TEXT),", "string_agg(convert_from(term, 'UTF8'),")

type step struct {
	room, name, hash, text string
	version                int
}

// Migrate brings every room's tables to its newest version, each file in a
// transaction of its own. It refuses a database that a newer program made.
func (d *DB) Migrate(ctx context.Context, rooms ...Migrations) (ran int, err error) {
	if err := d.makeSchemaTable(ctx); err != nil {
		return 0, err
	}
	for _, room := range rooms {
		steps, err := readSteps(room)
		if err != nil {
			return ran, err
		}
		done, err := d.applied(ctx, room.Room)
		if err != nil {
			return ran, err
		}
		if n := len(steps); len(done) > n {
			return ran, fault.New(fault.Unavailable, "db.migrate",
				"this data was written by a newer tandem (%s is at version %d, this program knows %d)", room.Room, len(done), n).
				WithNext("start the newer program again; or restore a copy made before the upgrade, which sets this aside: " +
					"tandem server restore PATH")
		}
		for _, s := range steps {
			if hash, ok := done[s.version]; ok {
				if hash != s.hash {
					return ran, fmt.Errorf("migration %s/%s was edited after it ran", s.room, s.name)
				}
				continue
			}
			if err := d.apply(ctx, s); err != nil {
				if denied(err) {
					return ran, needsOwner(room.Room, err)
				}
				return ran, fmt.Errorf("migration %s/%s: %w", s.room, s.name, err)
			}
			ran++
		}
	}
	return ran, nil
}

// makeSchemaTable makes the table that says which migrations ran. A role that may not make tables may not ask for one that is there,
// either.
func (d *DB) makeSchemaTable(ctx context.Context) error {
	if there, err := d.Has(ctx, "schema_version"); err != nil || there {
		return err
	}
	err := d.Write(ctx, func(tx *Tx) error { _, err := tx.Exec(schemaTable); return err })
	if err != nil {
		return fmt.Errorf("make the schema table: %w", err)
	}
	return nil
}

// needsOwner is said to a role that works with the tables and may not change them.
func needsOwner(room string, err error) error {
	return fault.New(fault.Unavailable, "db.migrate",
		"the tables (%s) are older than this program, and the role of this database address may not change them; nothing was changed: %w",
		room, err).
		WithNext("change them with the role that owns them, then start again: tandem server migrate --database postgres://OWNER@…")
}

// Behind is how many migrations Migrate would run, and whether the database
// holds nothing yet.
func (d *DB) Behind(ctx context.Context, rooms ...Migrations) (steps int, empty bool, err error) {
	if err := d.makeSchemaTable(ctx); err != nil {
		return 0, false, err
	}
	empty = true
	for _, room := range rooms {
		all, err := readSteps(room)
		if err != nil {
			return 0, false, err
		}
		done, err := d.applied(ctx, room.Room)
		if err != nil {
			return 0, false, err
		}
		empty = empty && len(done) == 0
		steps += max(0, len(all)-len(done))
	}
	return steps, empty, nil
}

func (d *DB) applied(ctx context.Context, room string) (map[int]string, error) {
	done := map[int]string{}
	rows, err := d.Query(ctx, "SELECT version, hash FROM schema_version WHERE room = ?", room)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v int
		var h string
		if err := rows.Scan(&v, &h); err != nil {
			return nil, err
		}
		done[v] = h
	}
	return done, rows.Err()
}

func (d *DB) apply(ctx context.Context, s step) error {
	return d.Write(ctx, func(tx *Tx) error { return runStep(tx, s) })
}

// runStep runs one migration and records that it ran.
func runStep(tx *Tx, s step) error {
	if err := tx.Unhurried(); err != nil {
		return err
	}
	for _, stmt := range strings.Split(s.text, ";\n") {
		if stmt = strings.TrimSpace(stmt); stmt == "" {
			continue
		}
		if tx.dialect == postgresDialect {
			stmt = postgresTypes.Replace(stmt)
		}
		if _, err := tx.run.ExecContext(tx.ctx, stmt); err != nil {
			return err
		}
	}
	_, err := tx.Exec("INSERT INTO schema_version (room, version, name, hash, applied_at) VALUES (?, ?, ?, ?, ?)",
		s.room, s.version, s.name, s.hash, tx.Now())
	return err
}

func readSteps(room Migrations) ([]step, error) {
	files, err := fs.Glob(room.FS, "schema/*.sql")
	if err != nil {
		return nil, err
	}
	sort.Strings(files)
	var steps []step
	for i, file := range files {
		name := strings.TrimPrefix(file, "schema/")
		n, _, _ := strings.Cut(name, "_")
		v, err := strconv.Atoi(n)
		if err != nil || v != i+1 {
			return nil, fmt.Errorf("room %s: %s should be number %04d", room.Room, name, i+1)
		}
		text, err := fs.ReadFile(room.FS, file)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(text)
		steps = append(steps, step{room.Room, name, hex.EncodeToString(sum[:8]), string(text) + "\n", v})
	}
	return steps, nil
}
