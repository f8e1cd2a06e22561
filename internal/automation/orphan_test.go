package automation

import (
	"strings"
	"testing"

	"tandem/internal/automation/run"
	"tandem/internal/automation/wire"
)

const (
	rests  = "name = \"small\"\n%s[[node]]\nid = \"rest\"\n[node.wait]\nfor = \"60h\"\n"
	oneSub = "name = \"all\"\n[[node]]\nid = \"first\"\n[node.automation]\nname = \"small\"\n"
)

// A run whose parent is over and that cannot be read is given up, and one whose events do not fold is left: all others go on. It stopped
// every automation of the server.
func TestAChildThatCannotBeReadStopsNobody(t *testing.T) {
	for how, breaks := range map[string]string{
		"its version": "UPDATE automation_version SET text = 'no definition' WHERE name = 'small'",
		"its events": "INSERT INTO automation_event (tenant, run, seq, body) SELECT tenant, id, 99, 'x' FROM automation_run " +
			"WHERE name = 'small'",
	} {
		h := byHand(t)
		h.switchOn(strings.Replace(rests, "%s", "", 1))
		id := h.begin(oneSub, nil)
		h.rounds(id, 1)
		child := do(h, wire.Trace, wire.RunIn{ID: id}).Steps[0].Run
		h.must(h.write(breaks))
		do(h, wire.Cancel, wire.RunIn{ID: id})
		if err := h.orphans(t.Context()); err != nil {
			t.Errorf("%s: %v", how, err)
		}
		var status string
		h.must(h.DB.QueryRow(t.Context(), "SELECT status FROM automation_run WHERE id = ?", child).Scan(&status))
		if how == "its version" && status != string(run.Cancelled) {
			t.Errorf("%s: it is %s", how, status)
		}
	}
}
