package db

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"strings"

	"tandem/internal/fault"
)

// Load replaces the content of the database by a dump, whichever database the
// dump came from. It is one transaction: a dump that is cut off, damaged or of
// a newer program changes nothing. Older dumps are brought up to date after.
func (d *DB) Load(ctx context.Context, r io.Reader, rooms ...Migrations) (rows int64, err error) {
	return d.LoadThen(ctx, r, func(*Tx) error { return nil }, rooms...)
}

// LoadThen is Load, and then, in the same transaction, what then does.
func (d *DB) LoadThen(ctx context.Context, r io.Reader, then func(*Tx) error, rooms ...Migrations) (rows int64, err error) {
	err = d.Write(ctx, func(tx *Tx) error {
		if err := tx.Unhurried(); err != nil {
			return err
		}
		l := &loader{tx: tx, in: bufio.NewReaderSize(r, 1<<16), sum: sha256.New()}
		err := l.load(rooms)
		rows = l.rows
		if err != nil {
			return err
		}
		return then(tx)
	})
	if err != nil {
		return 0, err
	}
	_, err = d.Migrate(ctx, rooms...)
	return rows, err
}

// CheckDump reads a dump to its end without a database and says whether it is
// whole and this program can load it.
func CheckDump(r io.Reader, rooms ...Migrations) (rows int64, err error) {
	l := &loader{in: bufio.NewReaderSize(r, 1<<16), sum: sha256.New()}
	err = l.load(rooms)
	return l.rows, err
}

type loader struct {
	tx   *Tx // nil when the dump is only checked
	in   *bufio.Reader
	sum  hash.Hash
	rows int64

	known  map[string]bool
	insert string
	width  int
}

func damaged(format string, args ...any) error {
	return fault.New(fault.Invalid, "db.load", "the copy cannot be restored: "+format, args...).
		WithNext("use another copy; nothing was changed")
}

func (l *loader) load(rooms []Migrations) error {
	raw, err := l.in.ReadBytes('\n')
	if err != nil {
		return damaged("it is empty")
	}
	l.sum.Write(raw)
	var first dumpLine
	if json.Unmarshal(raw, &first) != nil || first.Schema == nil {
		return damaged("it does not begin as a copy does")
	}
	if err := l.prepare(first.Schema, rooms); err != nil {
		return err
	}
	for {
		raw, err := l.in.ReadBytes('\n')
		if err != nil {
			return damaged("it is cut off after %d rows", l.rows)
		}
		var line dumpLine
		if raw[0] == '{' {
			if err := json.Unmarshal(raw, &line); err != nil {
				return damaged("a line is damaged")
			}
		}
		if line.End != nil {
			if line.End.Rows != l.rows || line.End.Hash != hex.EncodeToString(l.sum.Sum(nil)) {
				return damaged("its hash is wrong")
			}
			return nil
		}
		l.sum.Write(raw)
		if raw[0] == '{' {
			err = l.table(line)
		} else {
			err = l.row(bytes.TrimSpace(raw))
		}
		if err != nil {
			return err
		}
	}
}

// prepare drops the tables there are and makes them as the dump has them.
func (l *loader) prepare(versions map[string]int, rooms []Migrations) error {
	now, err := tables(rooms, nil)
	if err != nil {
		return err
	}
	then, err := tables(rooms, versions) // a later migration may have done away with some
	if err != nil {
		return err
	}
	for room, v := range versions {
		if v < 0 {
			return damaged("%.40q is at version %d", room, v)
		}
	}
	l.known = map[string]bool{}
	for _, name := range then {
		l.known[name] = true
	}
	if l.tx != nil {
		if may, err := l.tx.mayMake(); err != nil {
			return err
		} else if !may {
			return l.empty(now, versions, rooms)
		}
	}
	for _, name := range append(now, then...) {
		if l.tx != nil {
			if _, err := l.tx.Exec("DROP TABLE IF EXISTS " + name); err != nil {
				return err
			}
		}
	}
	if l.tx != nil {
		for _, q := range []string{schemaTable, "DELETE FROM schema_version"} {
			if _, err := l.tx.Exec(q); err != nil {
				return err
			}
		}
	}
	for _, room := range rooms {
		steps, err := readSteps(room)
		if err != nil {
			return err
		}
		if v := versions[room.Room]; v > len(steps) {
			return fault.New(fault.Unavailable, "db.load", "the copy was made by a newer tandem (%s is at version %d, this program knows %d)",
				room.Room, v, len(steps)).
				WithNext("restore it with the newer program")
		}
		for _, s := range steps[:versions[room.Room]] {
			if l.tx == nil {
				continue
			}
			if err := runStep(l.tx, s); err != nil {
				return fmt.Errorf("migration %s/%s: %w", s.room, s.name, err)
			}
		}
		delete(versions, room.Room)
	}
	for room := range versions {
		return fault.New(fault.Unavailable, "db.load", "the copy holds a room %q that this program does not know", room).
			WithNext("restore it with the newer program")
	}
	return nil
}

func (l *loader) table(line dumpLine) error {
	if !l.known[line.Table] || len(line.Columns) == 0 {
		return damaged("it holds a table %q that does not exist here", line.Table)
	}
	for _, c := range line.Columns {
		if !columnName.MatchString(c) {
			return damaged("%q is not a column", c)
		}
	}
	l.width = len(line.Columns)
	l.insert = "INSERT INTO " + line.Table + " (" + strings.Join(line.Columns, ", ") + ") VALUES (?" + strings.Repeat(", ?", l.width-1) + ")"
	return nil
}

func (l *loader) row(raw []byte) error {
	var cells []json.RawMessage
	if err := json.Unmarshal(raw, &cells); err != nil || len(cells) != l.width || l.width == 0 {
		return damaged("row %d is damaged", l.rows+1)
	}
	args := make([]any, len(cells))
	for i, c := range cells {
		v, err := unpack(c)
		if err != nil {
			return damaged("row %d is damaged", l.rows+1)
		}
		args[i] = v
	}
	l.rows++
	if l.tx == nil {
		return nil
	}
	_, err := l.tx.Exec(l.insert, args...)
	return err
}
