package daemon

import (
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/crowd"
	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// waits is what a caller without any right can make grow: the tables behind a door, with the bound that they have. A door that is not here
// must leave the database as it was, but for the journal: refusals are written down, as many as the doors' limits of requests let pass.
var waits = map[string]struct {
	tables string
	bound  crowd.Bound
	memory bool // it waits in memory alone
}{
	"POST /join":           {tables: "approval notice_way", bound: approval.Waiting},
	"POST /oauth/register": {tables: "oauth_client", bound: identity.Registering},
	"POST /space/knock":    {bound: space.Knocking, memory: true},
}

// Who shows no credential can make nothing grow but what has a bound for each source: every route of every operation is tried, with
// words in every field, and every door that is no operation.
func TestWhatStrangersCanMakeGrow(t *testing.T) {
	d, base := walked(t)
	who, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	doors := map[string]func(n int) any{
		"POST /join": func(n int) any {
			return map[string]any{"name": fmt.Sprint("newcomer", n), "nonce": fmt.Sprintf("%032x", n)}
		},
		"POST /oauth/register": func(n int) any {
			return map[string]any{"client_name": fmt.Sprint("program", n), "redirect_uris": []string{"http://127.0.0.1/back"}}
		},
		"POST /space/knock": func(int) any {
			return space.KnockIn{Plate: "AB", SID: make([]byte, 16), Hello: make([]byte, 32), Card: who.Card()}
		},
	}
	words := func(n int) any {
		return map[string]any{"name": fmt.Sprint("x", n), "invite": "x", "token": "x", "code": "x", "client_id": "x"}
	}
	for _, route := range []string{"POST /oauth/token", "POST /oauth/revoke", "GET /oauth/authorize", "POST /oauth/authorize", "POST /mcp",
		"POST /mcp/shared", "GET /panel", "POST /panel/sign-in", "GET /event"} {
		doors[route] = words
	}
	for _, o := range d.gate.Table().All() {
		for _, r := range routes(o) {
			if route := r[0] + " " + r[1]; doors[route] == nil {
				doors[route] = func(n int) any { return filled(o, fmt.Sprint("x", n)) }
			}
		}
	}
	tables := tablesOf(t, d)
	before := counted(t, d, tables)
	for _, route := range slices.Sorted(maps.Keys(doors)) {
		method, path, _ := strings.Cut(route, " ")
		answers := ""
		for n := range 2 {
			status, body := send(t, method, base+path, encode(t, doors[route](n)), nil)
			answers += fmt.Sprintf(" %d %.200s", status, body)
		}
		listed, ok := waits[route]
		after := counted(t, d, tables)
		grew := 0
		for _, table := range tables {
			if after[table] <= before[table] || strings.HasPrefix(table, "journal") {
				continue
			}
			if grew++; !slices.Contains(strings.Fields(listed.tables), table) {
				t.Errorf("%s: a stranger makes %s grow, and no bound is written down here:%s", route, table, answers)
			}
		}
		if ok && grew == 0 && !listed.memory || listed.memory && !strings.Contains(answers, `"knock"`) {
			t.Errorf("%s is on the list, and nothing came of it:%s", route, answers)
		}
		before = after
	}
	for route, w := range waits {
		if b := w.bound; doors[route] == nil || b.From < 1 || b.All < b.From || b.Settles <= 0 {
			t.Errorf("%s: the bound is %+v", route, b)
		}
	}
}

func tablesOf(t *testing.T, d *Daemon) []string {
	t.Helper()
	rows, err := d.db.Query(t.Context(), "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
	out, err := db.Collect(rows, err, func(rows *sql.Rows) (name string, err error) { return name, rows.Scan(&name) })
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func counted(t *testing.T, d *Daemon, tables []string) map[string]int {
	t.Helper()
	out := map[string]int{}
	var parts []string
	for _, name := range tables {
		parts = append(parts, fmt.Sprintf("SELECT '%s', count(*) FROM %s", name, name))
	}
	for len(parts) > 0 {
		n := min(len(parts), 100)
		rows, err := d.db.Query(t.Context(), strings.Join(parts[:n], " UNION ALL "))
		_, err = db.Collect(rows, err, func(rows *sql.Rows) (struct{}, error) {
			var name string
			var n int
			err := rows.Scan(&name, &n)
			out[name] = n
			return struct{}{}, err
		})
		if err != nil {
			t.Fatal(err)
		}
		parts = parts[n:]
	}
	return out
}
