package automation

import (
	"strings"
	"testing"

	"tandem/internal/automation/wire"
	"tandem/internal/testenv"
)

const inTurn = `
name = "NAME"
[limits]
runs = 10
priority = PRIORITY
[[node]]
id = "first"
[node.operation]
name = "mark.add"
input = { text = "NAME 1" }
[[node]]
id = "then"
after = ["first"]
[node.operation]
name = "mark.add"
input = { text = "NAME 2" }
`

// Where there are fewer places than steps, the run of the highest priority has the next one, also before the second step of another.
func TestPriorityGoesFirst(t *testing.T) {
	h := newHouse(t)
	h.cancel() // the test looks itself
	<-h.ended
	places := 0
	h.AtOnce = func() int { return places }
	for _, a := range []struct{ name, priority string }{{"low", "-5"}, {"plain", "0"}, {"high", "7"}} {
		h.begin(strings.NewReplacer("NAME", a.name, "PRIORITY", a.priority).Replace(inTurn), nil)
	}
	h.pass(t.Context())
	places = 1
	testenv.Eventually(t, "all runs are over", testPatience, func() bool {
		h.pass(t.Context())
		h.working.Wait()
		return len(do(h, wire.Runs, wire.RunsIn{Open: true}).Runs) == 0
	})
	rows, err := h.DB.Query(t.Context(), "SELECT text FROM mark ORDER BY rowid")
	h.must(err)
	defer rows.Close()
	var order []string
	for rows.Next() {
		var text string
		h.must(rows.Scan(&text))
		order = append(order, text)
	}
	if got := strings.Join(order, ", "); got != "high 1, high 2, plain 1, plain 2, low 1, low 2" {
		t.Errorf("steps came in this order: %s", got)
	}
}

// One tenant does not take all places where another has automations, too.
func TestATenantLeavesRoomForOthers(t *testing.T) {
	h := newHouse(t)
	h.cancel()
	<-h.ended
	h.switchOn(strings.NewReplacer("NAME", "ours", "PRIORITY", "0").Replace(inTurn))
	for range 12 {
		h.inHand[&job{runKey: runKey{tenant: "t"}}] = func(error) {}
	}
	want := func(tenant string, places int) {
		t.Helper()
		if got, err := h.places(t.Context(), tenant); err != nil || got != places {
			t.Errorf("%s has %d places more, not %d: %v", tenant, got, places, err)
		}
	}
	want("t", 4)
	h.must(h.write("INSERT INTO automation (" + columns + ") SELECT 'other'" + strings.TrimPrefix(columns, "tenant") + " FROM automation"))
	want("t", 0)
	want("other", 4)
}

// A list of runs says of each that waits for what, and on whom.
func TestAListSaysWhyRunsWait(t *testing.T) {
	h := newHouse(t)
	looks := h.begin(gated, nil)
	timed := h.begin("name = \"timed\"\n[[node]]\nid = \"rest\"\n[node.wait]\nfor = \"6h\"\n", nil)
	asked := h.begin("name = \"asked\"\n[[node]]\nid = \"send\"\n[node.operation]\nname = \"mark.ask\"\ninput = { text = \"x\" }\n", nil)
	for id, want := range map[string]string{
		looks: "look: ann answers the gate: tandem approvals show ask_",
		timed: "rest: until ",
		asked: "send: a person answers: tandem approvals show ask_",
	} {
		testenv.Eventually(t, "the list tells why "+id+" waits: "+want, testPatience, func() bool {
			for _, r := range do(h, wire.Runs, wire.RunsIn{}).Runs {
				if r.ID == id && len(r.Waits) == 1 && strings.HasPrefix(r.Waits[0], want) {
					return true
				}
			}
			return false
		})
	}
	do(h, wire.Cancel, wire.RunIn{ID: looks})
	for _, r := range do(h, wire.Runs, wire.RunsIn{Name: "all"}).Runs {
		if len(r.Waits) > 0 {
			t.Errorf("a run that is over waits: %v", r.Waits)
		}
	}
}

const gated = `
name = "all"
[[node]]
id = "say"
[node.operation]
name = "mark.add"
input = { text = "x" }
[node.output.text.schema]
type = "string"
[[node]]
id = "look"
[node.gate]
shows = ["say.text"]
approvers = ["ann"]
`
