package db

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A dump is lines of JSON that either database reads: the schema's versions,
// then each table's name and columns and behind them its rows, last a line
// with the count and the hash of everything before it.
type dumpLine struct {
	Schema  map[string]int `json:"schema,omitempty"` // room → version
	Table   string         `json:"table,omitempty"`
	Columns []string       `json:"columns,omitempty"`
	End     *dumpEnd       `json:"end,omitempty"`
}

type dumpEnd struct {
	Rows int64  `json:"rows"`
	Hash string `json:"sha256"`
}

// packed is a value that JSON cannot say as it is.
type packed struct {
	Bytes *string `json:"b,omitempty"` // a blob, in base64
	Text  *string `json:"t,omitempty"` // text that is not UTF-8, in base64
}

var tableName = regexp.MustCompile(
	`(?im)^(CREATE|DROP|ALTER) TABLE (?:IF (?:NOT )?EXISTS )?([a-z_][a-z0-9_]*)(?: RENAME TO ([a-z_][a-z0-9_]*))?`)

var columnName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// tables are the names of the tables that the rooms' migrations make and leave,
// up to their versions (nil: all). Others in the same database are not ours to
// copy or drop.
func tables(rooms []Migrations, versions map[string]int) ([]string, error) {
	var names []string
	for _, room := range rooms {
		steps, err := readSteps(room)
		if err != nil {
			return nil, err
		}
		for _, s := range steps {
			if versions != nil && s.version > versions[room.Room] {
				break
			}
			for _, m := range tableName.FindAllStringSubmatch(s.text, -1) {
				what, name, renamed := strings.ToUpper(m[1]), m[2], m[3]
				switch {
				case what == "CREATE":
					names = append(names, name)
				case what == "DROP" || renamed != "":
					names = slices.DeleteFunc(names, func(n string) bool { return n == name })
				}
				if renamed != "" {
					names = append(names, renamed)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Dump writes one consistent copy of the rooms' tables while others go on
// writing.
func (d *DB) Dump(ctx context.Context, w io.Writer, rooms ...Migrations) (rows int64, err error) {
	return d.dump(ctx, w, func(string) (string, []any) { return "", nil }, rooms)
}

// dump writes of each table the rows that pick says.
func (d *DB) dump(ctx context.Context, w io.Writer, pick func(table string) (where string, args []any), rooms []Migrations) (n int64,
	err error) {
	out := &dumper{sum: sha256.New()}
	out.w = bufio.NewWriterSize(io.MultiWriter(w, out.sum), 1<<16)
	err = d.Read(ctx, func(tx *Tx) error {
		if err := tx.Unhurried(); err != nil {
			return err
		}
		versions, err := schemaVersions(tx)
		if err != nil {
			return err
		}
		names, err := tables(rooms, versions)
		if err != nil {
			return err
		}
		if err := out.line(dumpLine{Schema: versions}); err != nil {
			return err
		}
		for _, name := range names {
			where, args := pick(name)
			if err := out.table(tx, name, where, args...); err != nil {
				return fmt.Errorf("copy table %s: %w", name, err)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if err := out.w.Flush(); err != nil {
		return 0, d.Explain(err)
	}
	end, err := json.Marshal(dumpLine{End: &dumpEnd{out.rows, hex.EncodeToString(out.sum.Sum(nil))}})
	if err != nil {
		return 0, err
	}
	_, err = w.Write(append(end, '\n'))
	return out.rows, d.Explain(err)
}

// Rows is how many rows the rooms' tables have together.
func (d *DB) Rows(ctx context.Context, rooms ...Migrations) (rows int64, err error) {
	names, err := tables(rooms, nil)
	if err != nil {
		return 0, err
	}
	err = d.Read(ctx, func(tx *Tx) error {
		if err := tx.Unhurried(); err != nil {
			return err
		}
		for _, name := range names {
			var n int64
			if err := tx.QueryRow("SELECT count(*) FROM " + name).Scan(&n); err != nil {
				return err
			}
			rows += n
		}
		return nil
	})
	return rows, err
}

func schemaVersions(tx *Tx) (map[string]int, error) {
	rows, err := tx.Query("SELECT room, max(version) FROM schema_version GROUP BY room")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	versions := map[string]int{}
	for rows.Next() {
		var room string
		var v int
		if err := rows.Scan(&room, &v); err != nil {
			return nil, err
		}
		versions[room] = v
	}
	return versions, rows.Err()
}

type dumper struct {
	w    *bufio.Writer
	sum  hash.Hash
	rows int64
}

func (o *dumper) line(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	o.w.Write(b)
	return o.w.WriteByte('\n')
}

func (o *dumper) table(tx *Tx, name, where string, args ...any) error {
	rows, err := tx.Query("SELECT * FROM "+name+where, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	if err := o.line(dumpLine{Table: name, Columns: columns}); err != nil {
		return err
	}
	row, dest := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		dest[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		for i, v := range row {
			row[i] = pack(v)
		}
		if err := o.line(row); err != nil {
			return err
		}
		o.rows++
	}
	return rows.Err()
}

func pack(v any) any {
	switch v := v.(type) {
	case []byte:
		s := base64.StdEncoding.EncodeToString(v)
		return packed{Bytes: &s}
	case string:
		if !utf8.ValidString(v) {
			s := base64.StdEncoding.EncodeToString([]byte(v))
			return packed{Text: &s}
		}
	}
	return v
}

func unpack(raw json.RawMessage) (any, error) {
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, nil
	case raw[0] == '"':
		var s string
		return s, json.Unmarshal(raw, &s)
	case raw[0] == '{':
		var p packed
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, err
		}
		switch {
		case p.Bytes != nil:
			b, err := base64.StdEncoding.DecodeString(*p.Bytes)
			return append([]byte{}, b...), err
		case p.Text != nil:
			b, err := base64.StdEncoding.DecodeString(*p.Text)
			return string(b), err
		}
		return nil, fmt.Errorf("%s is not a value", raw)
	case strings.ContainsAny(string(raw), ".eE"):
		var f float64
		return f, json.Unmarshal(raw, &f)
	}
	var n int64
	return n, json.Unmarshal(raw, &n)
}
