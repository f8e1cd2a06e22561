package daemon

import (
	"testing"

	"tandem/internal/client"
)

// full are data folders that a release's own program filled, driven from outside: thousands of rows, with sessions and their turns, asks
// (open, approved, cancelled), grants, labels, tokens, secrets, a connector, a space with its board, and a served repository with a
// workspace. As the others they are never made again.
var full = []string{"v0.1.0-full", "v0.2.0-full"}

// What people had is there after the upgrade, by the names that they call it by, and the copy from before it restores.
func TestStartsOnFullHouses(t *testing.T) {
	for _, name := range full {
		t.Run(name, func(t *testing.T) { startsOn(t, frozenFile(name), fullHouse) })
	}
}

func fullHouse(t *testing.T, d *Daemon, c *client.Client) {
	t.Helper()
	c = c.WithPIN("246813")
	for _, l := range []struct {
		op   string
		in   obj
		rows string // the list of the answer
		want int
	}{
		{"session.list", obj{"limit": 100}, "sessions", 20},
		{"approval.list", obj{"state": "all", "limit": 100}, "asks", 30},
		{"connector.list", nil, "connectors", 1},
	} {
		var out map[string]any
		if err := c.Call(t.Context(), l.op, l.in, &out); err != nil {
			t.Errorf("%s: %v", l.op, err)
			continue
		}
		if rows, _ := out[l.rows].([]any); len(rows) != l.want {
			t.Errorf("%s: %d of %d: %.300v", l.op, len(rows), l.want, out)
		}
	}
	var secret struct{ Value string }
	if err := c.Call(t.Context(), "secret.unmask", obj{"name": "tool/s7"}, &secret); err != nil || secret.Value != "value-of-7" {
		t.Errorf("a secret: %q, %v", secret.Value, err)
	}
	for table, want := range map[string]int{"journal_event": 2300, "resource": 501, "policy_grant": 40, "session_turn": 20,
		"session_message": 40, "board_task": 20, "space_member": 1, "peer_seat": 1, "repo_change": 13, "repo_workspace": 1,
		"journal_receipt": 10} {
		var n int
		if err := d.db.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n < want {
			t.Errorf("%s: %d rows of %d, %v", table, n, want, err)
		}
	}
	var held struct{ Entries int64 }
	if err := c.Call(t.Context(), "space.verify", nil, &held); err != nil || held.Entries < 22 {
		t.Errorf("a member's history: %d entries, %v", held.Entries, err)
	}
	var apart int
	const once = "SELECT (SELECT count(*) FROM space_log) - (SELECT count(*) FROM peer_log)"
	if err := d.db.QueryRow(t.Context(), once).Scan(&apart); err != nil || apart != 0 {
		t.Errorf("the host has %d entries more than its member, %v", apart, err)
	}
	// Approvals from before the journal vouched for any do not count. Left standing they made verify say that somebody changed rows.
	// Asks that nobody answered expire by the clock beside it, soon after or soon before.
	var told int
	const ended = "SELECT count(*) FROM journal_event WHERE type = 'approval.expire' AND CAST(payload AS TEXT) LIKE '%from before%'"
	if err := d.db.QueryRow(t.Context(), ended).Scan(&told); err != nil || told == 0 {
		t.Errorf("what became of answers from before: %d events, %v", told, err)
	}
}
