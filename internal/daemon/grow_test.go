package daemon

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/resource"
	"tandem/internal/session"
)

// keeps is what a program with everyday rights, which has shown nobody's presence, makes grow: the tables, and why that drowns nobody. What
// is a person's own work to keep says so: it is listed, and a person removes it.
var keeps = map[string]struct{ tables, why string }{
	"provider.add":         {"approval notice_way", byAsking},
	"provider.remove":      {"approval notice_way", byAsking},
	"repo.return_unsigned": {"approval notice_way", byAsking},
	"session.skip":         {"approval notice_way", byAsking},
	"space.rename":         {"peer_name", "a name each caller has once"},
	"resource.put": {"resource resource_fence",
		fmt.Sprintf("a tenant has %d keys at most: TestNobodyKeepsWithoutABound", resource.MaxKeys)},
	"session.create": {"session session_event",
		fmt.Sprintf("a tenant keeps %d sessions at most: TestNobodyKeepsWithoutABound", session.MaxSessions)},
	"session.prompt": {"session_turn session_event session_message session_used gate_call gate_intent",
		"a session's queue takes 100 turns, and budgets end what they cost"},
}

var byAsking = fmt.Sprintf("one asker has %d unanswered asks at most", approval.MaxPending)

// Whoever holds the API's token, or speaks on the control socket, is a program of this user and often an agent's. Every operation is called
// three times with words in every field, those that need more with what they need; a table that grows is on the list above, with its bound.
func TestWhatAProgramCanMakeGrow(t *testing.T) {
	d, base := walked(t)
	tables := tablesOf(t, d)
	header := map[string]string{"Authorization": "Bearer " + walkAPI}
	var first struct{ ID string }
	given := map[string]func(n int) any{
		"session.create": func(int) any { return map[string]any{} },
		"session.prompt": func(n int) any { return map[string]any{"id": first.ID, "text": fmt.Sprint("hello ", n)} },
	}
	names := []string{"session.create"} // the first, for those that need one
	for _, o := range d.gate.Table().All() {
		if !slices.Contains([]string{"server.stop", "session.create", "session.prompt"}, o.Name) {
			names = append(names, o.Name)
		}
	}
	names = append(names, "session.prompt") // the last, because its turns go on by themselves
	grown := map[string]bool{}
	before := counted(t, d, tables)
	for _, name := range names {
		in := given[name]
		if in == nil {
			in = func(n int) any { return filled(d.gate.Table().Get(name), fmt.Sprint("x", n)) }
		}
		answers := ""
		for n := range 3 {
			status, body := send(t, "POST", base+"/op/"+name, encode(t, in(n)), header)
			answers += fmt.Sprintf(" %d %.200s", status, body)
			if name == "session.create" && status == 200 {
				if err := json.Unmarshal([]byte(body), &first); err != nil {
					t.Fatal(err)
				}
			}
		}
		after := counted(t, d, tables)
		for _, table := range tables {
			// The server's clock is one row, which it writes by itself some time after its start.
			if after[table] <= before[table] || strings.HasPrefix(table, "journal") || table == "installation_clock" {
				continue
			}
			if grown[name] = true; !slices.Contains(strings.Fields(keeps[name].tables), table) {
				t.Errorf("%s: a program makes %s grow, and no bound is written down here:%s", name, table, answers)
			}
		}
		before = after
	}
	for _, name := range slices.Sorted(maps.Keys(keeps)) {
		if !grown[name] || keeps[name].why == "" {
			t.Errorf("%s is on the list, and nothing came of it", name)
		}
	}
}

// Keys and sessions are work to keep, and a program could make them without end. Beyond the bound each is refused with what to do; what is
// there can be changed on, and what is deleted makes room.
func TestNobodyKeepsWithoutABound(t *testing.T) {
	d, base := walked(t)
	d.rooms.resource.Keys.Most, d.rooms.session.Sessions.Most = 5, 5
	header := map[string]string{"Authorization": "Bearer " + walkAPI}
	call := func(name string, in any) (int, string) {
		return send(t, "POST", base+"/op/"+name, encode(t, in), header)
	}
	put := func(n int, value string) (int, string) {
		return call("resource.put", map[string]any{"key": fmt.Sprint("k", n), "value": value})
	}
	fill := func(what string, one func(n int) (int, string)) {
		t.Helper()
		for n := range 20 {
			status, body := one(n)
			if status == 200 && n < 5 {
				continue
			}
			if status != 429 || !strings.Contains(body, "delete some that nobody needs") {
				t.Errorf("%s %d: %d %s", what, n, status, body)
			}
			return
		}
		t.Errorf("%s have no bound", what)
	}
	fill("keys", func(n int) (int, string) { return put(n, "v") })
	if status, body := put(0, "another"); status != 200 {
		t.Errorf("a key that is there is changed on: %d %s", status, body)
	}
	if status, body := call("resource.delete", map[string]any{"key": "k1"}); status != 200 {
		t.Fatalf("delete: %d %s", status, body)
	}
	if status, body := put(9, "v"); status != 200 {
		t.Errorf("a deleted key makes room: %d %s", status, body)
	}
	fill("sessions", func(int) (int, string) { return call("session.create", map[string]any{}) })
}
