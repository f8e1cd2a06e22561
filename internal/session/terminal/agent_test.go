package terminal_test

import (
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/policy/book"
	"tandem/internal/session/terminal"
)

// asks are what waits for a person.
func (h *house) asks() []*approval.Ask {
	h.t.Helper()
	var list approval.ListOut
	h.call("approval.list", approval.ListIn{}, &list)
	return list.Asks
}

// A program that calls over MCP is an agent, for whom more is asked than for the person's own commands; the sixteen tools that the
// published intandem has go through all the same, with the grants that a new house starts with.
func TestTheSixteenToolsNeedNoAsk(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c, other := h.chat("--only", "space"), h.chat("--only", "space")
	var made struct{ Code string }
	if refused := c.said("intandem_create", map[string]any{"name": "sixteen"}, &made); refused != "" {
		t.Fatal(refused)
	}
	if refused := other.said("intandem_join", map[string]any{"code": made.Code}, nil); refused != "" {
		t.Fatal(refused)
	}
	var task struct{ ID string }
	for _, call := range []struct {
		tool string
		args map[string]any
		out  any
	}{
		{"intandem_peers", nil, nil},
		{"intandem_send", map[string]any{"type": "status", "message": "hello"}, nil},
		{"intandem_add_task", map[string]any{"title": "first"}, &task},
		{"intandem_plan", map[string]any{"tasks": []map[string]any{{"title": "one"}, {"title": "two"}}}, nil},
		{"intandem_board", nil, nil},
		{"intandem_claim_task", map[string]any{"task_id": "$"}, nil},
		{"intandem_update_task", map[string]any{"task_id": "$", "status": "in_progress"}, nil},
		{"intandem_unclaim_task", map[string]any{"task_id": "$"}, nil},
		{"intandem_share", map[string]any{"file": "a.txt"}, nil},
		{"intandem_set_var", map[string]any{"key": "k", "value": "v"}, nil},
		{"intandem_get_var", map[string]any{"key": "k"}, nil},
		{"intandem_activity_log", nil, nil},
		{"intandem_rejoin", nil, nil},
		{"intandem_leave", nil, nil},
	} {
		if call.args["task_id"] == "$" {
			call.args["task_id"] = task.ID
		}
		if refused := c.said(call.tool, call.args, call.out); refused != "" {
			t.Errorf("%s: %s", call.tool, refused)
		}
	}
	for _, a := range h.asks() {
		t.Errorf("somebody is asked about %s: %s", a.Op, a.Reason)
	}
}

// Nor do the bridge's six: a chat that has them alone opens a real agent, prompts, interrupts, lists and closes it, and looks at a relay.
func TestTheSixToolsNeedNoAsk(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := h.chat("--only", "bridge")
	offered, err := c.conn.ListTools(t.Context(), nil)
	if err != nil || len(offered.Tools) != 6 {
		t.Fatalf("%d tools are offered: %v", len(offered.Tools), err)
	}
	for _, call := range []struct {
		tool string
		args map[string]any
		says string // of what has no relay
	}{
		{"open_session", map[string]any{"cwd": h.project, "name": "six"}, ""},
		{"send_to_session", map[string]any{"name": "six", "text": "hello [[say good morning]]"}, ""},
		{"interrupt_session", map[string]any{"name": "six"}, ""},
		{"list_sessions", map[string]any{}, ""},
		{"relay", map[string]any{"action": "read", "loopId": "loop_nobody"}, "there is no relay"},
		{"close_session", map[string]any{"name": "six"}, ""},
	} {
		if said := c.said(call.tool, call.args, nil); said != call.says && (call.says == "" || !strings.Contains(said, call.says)) {
			t.Errorf("%s: %s", call.tool, said)
		}
	}
	for _, a := range h.asks() {
		t.Errorf("somebody is asked about %s: %s", a.Op, a.Reason)
	}
}

// A real Claude Code in a session calls tandem's own read-only tool, and nobody is asked for a PIN: the operation behind it is judged when
// it
// is called. What a person says of such a tool still counts.
func TestOwnToolsAskNobody(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.open("a")
	out := h.send("a", `who [[tool mcp__tandem__tandem_whoami {}]] [[result]]`)
	if out.Status != "done" || !strings.Contains(out.Report, `"kind":"session"`) || len(h.asks()) != 0 {
		t.Fatalf("%+v, asks %v", out, h.asks())
	}
	deny := book.GrantIn{Principal: "session:*", Resource: "tool:/mcp__tandem__tandem_whoami", Permissions: []string{"execute"},
		Effect: "deny"}
	if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", deny, nil); err != nil {
		t.Fatal(err)
	}
	if out = h.send("a", `again [[tool mcp__tandem__tandem_whoami {}]] [[result]]`); strings.Contains(out.Report, `"kind":"session"`) {
		t.Errorf("a denied tool answered: %+v", out)
	}
}

// A rule for an agent governs the session that was opened as that agent, and not the session that only has its name.
func TestASessionIsOpenedAsAnAgent(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	person := h.c.WithPIN(pin)
	for _, call := range []struct {
		op string
		in any
	}{
		{"actor.add", map[string]any{"name": "builder", "kind": "agent"}},
		{"grant.add", book.GrantIn{Principal: "agent:builder", Resource: "tool:/bash", Permissions: []string{"execute"}, Effect: "deny"}},
		{"grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/bash", Permissions: []string{"execute"}}},
	} {
		if err := person.Call(t.Context(), call.op, call.in, nil); err != nil {
			t.Fatalf("%s: %v", call.op, err)
		}
	}
	bash := `[[tool Bash {"command":"echo ran","description":"run"}]] [[result]]`
	h.open("builder") // only its name
	if out := h.send("builder", bash); !strings.Contains(out.Report, "ran") {
		t.Errorf("a session that is called builder: %+v", out)
	}
	// a denial of one session holds by every name that it goes by
	closed := book.GrantIn{Principal: "local:local", Resource: "session:/" + h.seat("builder").Session, Permissions: []string{"execute"},
		Effect: "deny"}
	if err := person.Call(t.Context(), "grant.add", closed, nil); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"builder", "ccm-builder"} {
		if err := h.c.Call(t.Context(), "session.close", terminal.NameIn{Name: name}, nil); !fault.Is(err, fault.Denied) {
			t.Errorf("close %s: %v", name, err)
		}
	}
	var s terminal.Seat
	h.call("session.open", terminal.OpenIn{Name: "nightly", Cwd: h.project, As: "agent:builder"}, &s)
	if out := h.send("nightly", bash); strings.Contains(out.Report, "ran\n") || !strings.Contains(out.Report, "agent:builder") {
		t.Errorf("a session of agent:builder: %+v", out)
	}
	if err := h.c.Call(t.Context(), "session.open", terminal.OpenIn{Name: "x", Cwd: h.project, As: "agent:nobody"}, nil); err == nil {
		t.Error("opened as nobody")
	}
}
