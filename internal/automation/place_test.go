package automation

import (
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/automation/spec"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
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
	want := func(tenant string, places int) {
		t.Helper()
		c := h.claims(tenant)
		h.must(c.look(t.Context()))
		got := 0
		for c.place() {
			got++
		}
		if !c.more || got != places {
			t.Errorf("%s has %d places more, not %d", tenant, got, places)
		}
		c.drop()
	}
	want("t", 16)
	h.must(h.write("INSERT INTO automation (" + columns + ") SELECT 'other'" + strings.TrimPrefix(columns, "tenant") + " FROM automation"))
	want("t", 12) // also where nothing is under way
	for range 11 {
		h.inHand[&job{runKey: runKey{tenant: "t"}, node: &spec.Node{}}] = func(error) {}
	}
	want("t", 1)
	want("other", 5)
}

// Steps that are claimed at once take different places, and a step whose work is done takes none.
func TestAPlaceIsPromisedOnce(t *testing.T) {
	h := newHouse(t)
	h.cancel()
	<-h.ended
	h.AtOnce = func() int { return 2 }
	done := &job{runKey: runKey{tenant: "t"}, node: &spec.Node{}}
	h.inHand[done] = func(error) {}
	one, other := h.claims("t"), h.claims("t")
	if !one.place() || one.place() || other.place() {
		t.Error("there is one place beside the step under way")
	}
	third := h.claims("t")
	if third.from = done; !third.place() || third.place() {
		t.Error("the place of the step that is done is for what comes next")
	}
	if third.drop(); done.left {
		t.Error("what came to nothing left the place to the step")
	}
	if third.place(); !done.left {
		t.Error("the place is not handed on again")
	}
	asks := &job{runKey: runKey{tenant: "t"}, node: &spec.Node{Gate: &spec.Gate{}}}
	h.inHand[asks] = func(error) {}
	gate := h.claims("t")
	if gate.from = asks; gate.place() {
		t.Error("a step that asks somebody has no place, and hands none on")
	}
	one.drop()
	if !one.place() {
		t.Error("what came to nothing gave its place back")
	}
	if busy, own := h.taken("t"); busy != 2 || own != 2 {
		t.Errorf("%d places are taken, %d by the tenant", busy, own)
	}
}

const wide = "name = \"NAME\"\n[limits]\nruns = 10\npriority = PRIORITY\n" +
	"[[node]]\nid = \"a\"\n[node.operation]\nname = \"mark.add\"\ninput = { text = \"NAME\" }\n" +
	"[[node]]\nid = \"b\"\n[node.operation]\nname = \"mark.add\"\ninput = { text = \"NAME\" }\n"

// The order counts also where there are as many places as runs: one run may take them all. Who waits is passed by nobody while they are
// looked at, and costs nothing while there is no place.
func TestWhoWaitsIsPassedByNobody(t *testing.T) {
	h := newHouse(t)
	h.cancel()
	<-h.ended
	places := 0
	h.AtOnce = func() int { return places }
	low := h.begin(strings.NewReplacer("NAME", "low", "PRIORITY", "-5").Replace(wide), nil)
	high := h.begin(strings.NewReplacer("NAME", "high", "PRIORITY", "5").Replace(wide), nil)
	h.pass(t.Context())
	at := maps.Clone(h.crowded)
	if len(at) != 2 {
		t.Fatalf("%d runs wait for a place", len(at))
	}
	if h.pass(t.Context()); !maps.Equal(at, h.crowded) {
		t.Error("runs that wait for a place were looked at without one")
	}
	places = 2
	runs, _, err := h.inOrder(t.Context())
	if want := []runKey{{"t", high}, {"t", low}}; err != nil || !slices.Equal(runs, want) {
		t.Errorf("%v are looked at in this order, not %v: %v", runs, want, err)
	}
	if len(h.crowded) != 2 {
		t.Error("they wait until they were looked at")
	}
	testenv.Eventually(t, "all runs are over", testPatience, func() bool {
		h.pass(t.Context())
		h.working.Wait()
		return len(do(h, wire.Runs, wire.RunsIn{Open: true}).Runs) == 0
	})
	if len(h.crowded)+len(h.promised) > 0 {
		t.Errorf("%v wait, %v are promised", h.crowded, h.promised)
	}
}

// What became of a step is kept where what comes after it cannot be claimed, also where the reason says that the run takes something in no
// more.
func TestAResultOutlivesWhatComesNext(t *testing.T) {
	h := newHouse(t)
	var asked atomic.Int64
	h.Kept = func(*db.Tx, op.Sealed) (bool, error) {
		if asked.Add(1) == 1 {
			return false, fault.New(fault.Conflict, "test", "somebody else is at it")
		}
		return true, nil
	}
	id := h.begin(mailing, nil)
	h.decide(h.pending(id).ID, approval.Approve, "")
	h.must(h.LookAgain(t.Context()))
	done := h.until(id, "it is over", func(r *wire.Run) bool { return r.Status != "running" })
	if done.Status != "completed" || asked.Load() < 2 {
		t.Errorf("it is %s: %s", done.Status, done.Reason)
	}
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
