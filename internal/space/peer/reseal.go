package peer

import (
	"database/sql"
	"fmt"

	"tandem/internal/db"
	"tandem/internal/space/seal"
)

// sealed are the values that the key of seats seals: what they are called, where they are, and what of their row is bound into the seal.
var sealed = []struct {
	label, table, column string
	of                   []string // columns that name the row, below its tenant
	bound                func(tenant string, of []string) string
}{
	{"seat", "peer_seat", "secrets", []string{"id", "''"}, func(_ string, of []string) string { return of[0] }},
	{"outbox", "peer_outbox", "content", []string{"seat", "id"}, seatAnd},
	{"invite", "peer_invite", "secret", []string{"seat", "plate"}, seatAnd},
	{"attachment", "peer_attachment", "about", []string{"seat", "id"}, func(_ string, of []string) string { return of[1] }},
	{"name", "peer_name", "name", []string{"owner", "''"}, func(tenant string, of []string) string { return tenant + "/" + of[0] }},
}

func seatAnd(_ string, of []string) string { return of[0] + "/" + of[1] }

// Reseal seals under another key what the old one opens, and says how many values there were. What was sealed under a key that is lost
// stays closed.
func Reseal(tx *db.Tx, old, next []byte) (n int, err error) {
	for _, v := range sealed {
		rows, err := tx.Query(fmt.Sprintf("SELECT tenant, %s, %s, %s FROM %s WHERE %[3]s IS NOT NULL", v.of[0], v.of[1], v.column, v.table))
		type row struct {
			tenant string
			of     [2]string
			box    []byte
		}
		all, err := db.Collect(rows, err, func(r *sql.Rows) (one row, err error) {
			err = r.Scan(&one.tenant, &one.of[0], &one.of[1], &one.box)
			return one, err
		})
		if err != nil {
			return n, err
		}
		where := v.of[0] + " = ?"
		if v.of[1] != "''" {
			where += " AND " + v.of[1] + " = ?"
		}
		for _, one := range all {
			context := []byte(v.bound(one.tenant, one.of[:]))
			plain, err := seal.Key(old).Unwrap(v.label, context, one.box)
			if err != nil {
				continue
			}
			box, err := seal.Key(next).Wrap(v.label, context, plain)
			if err != nil {
				return n, err
			}
			args := []any{box, one.tenant, one.of[0]}
			if v.of[1] != "''" {
				args = append(args, one.of[1])
			}
			// several entries may have one name (an own message that came back): each is its own row with its own seal
			if _, err := tx.Exec(fmt.Sprintf("UPDATE %s SET %s = ? WHERE tenant = ? AND %s AND %[2]s = ?", v.table, v.column, where),
				append(args, one.box)...); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
