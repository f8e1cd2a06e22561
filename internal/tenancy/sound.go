package tenancy

import (
	"context"
	"database/sql"
	"strings"
	"unicode/utf8"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// Legible has a room read all its rows in a database once, as those who need them do. Of says whose rows they are.
type Legible struct {
	Of   string
	Read func(*db.Tx) error
}

const (
	depthMost = 200                         // of a document in a column
	timeMost  = 253_402_300_799_000_000 - 1 // microseconds: what is later has no date
)

// Sound refuses rows that nobody could read: no text, documents in documents without end, times that are none, and what the rooms
// themselves cannot make sense of. A row that stops who reads it would stop a start.
func (c *Carrier) Sound(ctx context.Context, copied *db.DB) error {
	return copied.Read(ctx, func(tx *db.Tx) error {
		for _, table := range Carried() {
			if err := plain(tx, table); err != nil {
				return err
			}
		}
		var n int64
		if err := tx.QueryRow("SELECT count(*) FROM secret").Scan(&n); err != nil {
			return err
		}
		if n > secretMost {
			return notATenant("it has %d secrets, and %d are the most", n, secretMost)
		}
		for _, room := range c.Legible {
			if err := room.Read(tx); err != nil {
				return unread(room.Of, err)
			}
		}
		return nil
	})
}

// plain reads the texts and the times of a table.
func plain(tx *db.Tx, table string) error {
	rows, err := tx.Query("SELECT * FROM " + table)
	if err != nil {
		return err
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		rows.Close()
		return err
	}
	cells, dest := make([]any, len(types)), make([]any, len(types))
	for i := range cells {
		dest[i] = &cells[i]
	}
	return db.EachRow(rows, nil, func(rows *sql.Rows) error {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		for i, cell := range cells {
			name := types[i].Name()
			switch v := cell.(type) {
			case string:
				if !utf8.ValidString(v) || strings.ContainsRune(v, 0) {
					return notATenant("%s in %s is no text", name, table)
				}
				if deep(v) {
					return notATenant("%s in %s has more than %d documents in each other", name, table, depthMost)
				}
			case int64:
				if isTime(name) && (v < 0 || v > timeMost) {
					return notATenant("%s in %s is no time", name, table)
				}
			}
		}
		return nil
	})
}

func isTime(column string) bool {
	return strings.HasSuffix(column, "_at") || strings.HasSuffix(column, "_until") || column == "at" || column == "until" || column == "made"
}

// deep says that a document has too many in each other. What is no document at all has no brackets to speak of, or is refused by its room.
func deep(text string) bool {
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > depthMost {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// unread is that rows of a file cannot be read: nobody wrote them so.
func unread(what string, err error) error {
	if fault.KindOf(err) != fault.Internal {
		return err
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return notATenant("its %s cannot be read: %.300s", what, first)
}
