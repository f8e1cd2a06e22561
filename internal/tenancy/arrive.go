package tenancy

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/session"
)

// A tenant's file may be by anybody: what is in it is held to bounds before it is looked at, and to what a tenant can have.
const (
	lineMost   = 64 << 20   // bytes of one row, or one line of the journal
	linesMost  = 20_000_000 // rows, and lines of the journal
	headMost   = 1 << 20    // bytes of its first entry
	sealedMost = 300_000    // rows that somebody confirms
	secretMost = 2000       // secrets: each is looked for in what the journal says
	expands    = 100        // bytes of content to one of the file
	briefMost  = 256 << 20  // bytes that a short file may come to in any case
	keptFree   = 1 << 30    // bytes that stay free on the disk
	lies       = 8          // how often what is in it lies on the disk meanwhile: with indexes, as it grows, at the trial and at last
)

// mayBring is how many bytes a file may come to: by its own size, and by the room that there is for them.
func (c *Carrier) mayBring(path string) (int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	may := max(st.Size()*expands, briefMost)
	if free := c.At.Free(); free >= 0 {
		may = min(may, max(free-keptFree, 0)/lies)
	}
	return may, nil
}

// bounded reads what is not longer than it may be: all of it, each line of it where line is set, or the whole where it is one.
type bounded struct {
	from  io.Reader
	all   *int64 // bytes that are left
	line  int64
	lines int64 // how many; 0 for any number
	whole bool
	since int64 // bytes since the last line began
	ended int64 // lines that have ended
	err   error
}

func (b *bounded) Read(p []byte) (n int, err error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err = b.from.Read(p)
	if *b.all -= int64(n); *b.all < 0 {
		b.err = fault.New(fault.Exhausted, string(identity.TenantImport), "the file comes to more than it may: %d times its own size, "+
			"and a part of what is free on this disk", expands).WithNext("nothing was changed; see what is free: tandem status")
		return 0, b.err
	}
	for rest := p[:n]; b.line > 0 && len(rest) > 0; {
		i, long := slices.Index(rest, '\n'), len(rest)
		if i >= 0 && !b.whole {
			long = i + 1
		}
		if b.since += int64(long); b.since > b.line {
			b.err = notATenant("a line of it is longer than %d bytes", b.line)
			return 0, b.err
		}
		if rest = rest[long:]; i >= 0 && !b.whole {
			b.since = 0
			b.ended++
		}
		if b.lines > 0 && b.ended > b.lines {
			b.err = notATenant("it has more than %d lines", b.lines)
			return 0, b.err
		}
	}
	return n, err
}

// Check holds the head of a file to what a tenant is. Another name may be given to it.
func (h *Head) Check(name string) error {
	if h.Format != Format {
		return notATenant("its form is %.40q, this program reads %q", h.Format, Format)
	}
	for _, at := range []time.Time{h.Made, h.Created} {
		if at.Year() < 1970 || at.Year() > 9999 {
			return notATenant("it is of the year %d", at.Year())
		}
	}
	return identity.CheckArrival(h.ID, cmp.Or(name, h.Name), h.Limits)
}

// left counts the rows of a tenant that stay behind, by what they are.
func left(tx *db.Tx, tenant string) (map[string]int64, error) {
	out := map[string]int64{}
	for _, t := range Tables {
		for _, table := range t.stays {
			var n int64
			if err := tx.QueryRow("SELECT count(*) FROM "+table+" WHERE tenant = ?", tenant).Scan(&n); err != nil {
				return nil, err
			}
			if n > 0 {
				out[t.of] += n
			}
		}
	}
	return out, nil
}

// OwnRows refuses a file that brings rows of anybody else, of what no tenant takes along, or rows that no program wrote.
func OwnRows(ctx context.Context, copied *db.DB, tenant string) error {
	all, err := copied.Tables(ctx, 1000)
	if err != nil {
		return err
	}
	carried := Carried()
	return copied.Write(ctx, func(tx *db.Tx) error {
		for _, table := range all {
			query, args, no := "SELECT count(*) FROM "+table, []any(nil), "a tenant takes no %[2]s along, and it has %[1]d rows of it"
			switch {
			case table == "schema_version":
				continue
			case slices.Contains(carried, table):
				query, args, no = query+" WHERE tenant <> ?", []any{tenant}, "%d rows in %s say that they are another tenant's"
			}
			var n int64
			if err := tx.QueryRow(query, args...).Scan(&n); err != nil {
				return err
			}
			if n > 0 {
				return notATenant(no, n, table)
			}
		}
		for _, table := range carried {
			if err := asWritten(tx, table); err != nil {
				return err
			}
		}
		return withinReach(tx)
	})
}

// withinReach refuses sessions that are driven by programs, which only a house has, and names that nobody could have. It takes away what
// says where on the first server's machine something worked: rows with a folder in them are believed.
func withinReach(tx *db.Tx) error {
	var n int64
	if err := tx.QueryRow("SELECT count(*) FROM session WHERE driver <> ?", session.DriverModel).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return notATenant("%d sessions are driven by programs, which only a server's own house has", n)
	}
	err := eachID(tx, "SELECT name FROM actor", nil, func(name string) error {
		if identity.CheckName(name) != nil {
			return notATenant("%.64q is no name of anybody", name)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, query := range []string{"UPDATE session SET directory = ''", "UPDATE peer_seat SET folder = '', home = ''"} {
		if _, err := tx.Exec(query); err != nil {
			return err
		}
	}
	return nil
}

// asWritten refuses rows with something else in a column than it has: SQLite keeps any value in any column, and who reads them stumbles.
func asWritten(tx *db.Tx, table string) error {
	rows, err := tx.Query("SELECT * FROM " + table + " LIMIT 0")
	if err != nil {
		return err
	}
	types, err := rows.ColumnTypes()
	if rows.Close(); err != nil {
		return err
	}
	var wrong []string
	for _, c := range types {
		kind := "'integer', 'null'"
		switch strings.ToUpper(c.DatabaseTypeName()) {
		case "TEXT":
			kind = "'text', 'null'"
		case "BLOB":
			kind = "'blob', 'text', 'null'"
		case "REAL", "DOUBLE PRECISION":
			kind = "'real', 'integer', 'null'"
		}
		wrong = append(wrong, fmt.Sprintf("typeof(%s) NOT IN (%s)", c.Name(), kind))
	}
	var n int64
	if err := tx.QueryRow("SELECT count(*) FROM " + table + " WHERE " + strings.Join(wrong, " OR ")).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return notATenant("%d rows in %s are not as any program writes them", n, table)
	}
	return nil
}

// newHere refuses ids that have not the form of their kind, and those that something of another tenant has here: by them alone it is found,
// or shown in short.
func (a *arrival) newHere(from, tx *db.Tx) error {
	for table, kind := range Keys {
		come := map[string]bool{}
		short := func(one string) string { return one }
		if table == "session" { // folders are called so
			short = id.Short
		}
		err := eachID(from, "SELECT id FROM "+table, nil, func(one string) error {
			if kind != "" && id.Check(kind, one) != nil {
				return notATenant("%.60q in %s is no id", one, table)
			}
			come[short(one)] = true
			return nil
		})
		if err != nil {
			return err
		}
		taken := func(one string) error {
			if !come[short(one)] {
				return nil
			}
			return fault.New(fault.Conflict, string(identity.TenantImport), "an id in %s that the tenant brings is another tenant's here: %.60s",
				table, one).WithNext("nothing was changed; it cannot come to this server")
		}
		if len(come) > 0 {
			err = eachID(tx, "SELECT id FROM "+table+" WHERE tenant <> ?", []any{a.head.ID}, taken)
		}
		if err == nil && table == "space" { // one that somebody here is in could be taken over here
			err = eachID(tx, "SELECT space FROM peer_seat WHERE tenant <> ?", []any{a.head.ID}, taken)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// spoken refuses what a person would be shown of a row and could not read: they confirm what they see.
func spoken(row op.Sealed) error {
	if strings.ContainsFunc(row.Subject+row.What, func(r rune) bool { return !unicode.IsPrint(r) && r != '\n' && r != '\t' }) {
		return notATenant("%.80q has characters that cannot be shown", row.Subject)
	}
	return nil
}

func eachID(tx *db.Tx, query string, args []any, do func(string) error) error {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			return err
		}
		if err := do(one); err != nil {
			return err
		}
	}
	return rows.Err()
}
