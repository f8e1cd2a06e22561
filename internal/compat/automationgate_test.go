package compat

import (
	"testing"

	"tandem/internal/fault"
)

// An answer is for the ask that the client saw. Without its name it counts where only one thing can be meant.
func TestAnAnswerIsForOneAsk(t *testing.T) {
	draft, gate, later := step{Node: "draft", State: "done"}, step{Node: "look", Kind: "gate", State: "held", Ask: "apr_1"},
		step{Node: "sign", Kind: "gate", State: "waiting"}
	back := step{Node: "draft", State: "done", Notes: []string{"shorter"}}
	passed, second := step{Node: "look", Kind: "gate", State: "done"}, step{Node: "sign", Kind: "gate", State: "held", Ask: "apr_2"}
	for _, one := range []struct {
		what        string
		steps       []step
		named, node string
		cancels     bool
		want        string // the ask; "" is a conflict
	}{
		{"the only ask", []step{draft, gate, later}, "", "", false, "apr_1"},
		{"by its name", []step{back, gate}, "apr_1", "look", false, "apr_1"},
		{"sent back before", []step{back, gate}, "", "", false, ""},
		{"sent back before, and no", []step{back, gate}, "", "", true, "apr_1"},
		{"an older ask", []step{back, gate}, "apr_0", "", false, ""},
		{"a second gate", []step{draft, passed, second}, "", "", false, ""},
		{"a second gate by name", []step{draft, passed, second}, "apr_2", "", false, "apr_2"},
		{"the first gate, again", []step{draft, passed, second}, "apr_1", "look", false, ""},
		{"another node", []step{draft, gate}, "apr_1", "sign", false, ""},
		{"two at once", []step{gate, second}, "", "", false, ""},
		{"one of two", []step{gate, second}, "apr_2", "", false, "apr_2"},
		{"no gate", []step{draft}, "", "", true, ""},
	} {
		got, err := run{ID: "run_1", Steps: one.steps}.asked(one.named, one.node, one.cancels)
		if got != one.want || (one.want == "") != fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %q, %v", one.what, got, err)
		}
	}
	waits := run{Status: "running", Steps: []step{{Node: "look", Kind: "gate", Ask: "apr_1", Input: obj{"draft.text": "dear all"}}}}
	shown := waits.record("/automations/v2")["checkpoint"].(obj)["awaiting_gate"].(obj)
	if shown["request_id"] != "apr_1" || shown["shows"].(obj)["draft.text"] != "dear all" {
		t.Errorf("a client is shown %v", shown)
	}
}
