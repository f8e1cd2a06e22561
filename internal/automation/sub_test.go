package automation

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

const parent = `
name = "all"
[inputs.what]
type = "string"
[[node]]
id = "first"
inputs = { what = "input.what" }
[node.automation]
name = "small"
gives = { said = "send.text" }
[node.output.said.schema]
type = "string"
[[node]]
id = "then"
inputs = { said = "first.said" }
[node.operation]
name = "mark.add"
input = { text = "{{said}}" }
`

func isOver(r *wire.Run) bool { return !r.EndedAt.IsZero() }

// An automation is a node: its run is given the node's inputs, what it gave leads on, its failure is the node's, and it ends with its
// parent. Nobody but a run says that it is somebody's node.
func TestAnAutomationIsANode(t *testing.T) {
	h := newHouse(t)
	h.switchOn(small)
	id := h.begin(parent, map[string]any{"what": "in"})
	got := h.until(id, "it ends", isOver)
	if got.Status != "completed" || got.Steps[0].Output["said"] != "in!" || h.outside.count("send in") != 1 {
		t.Fatalf("the run is %+v", got)
	}
	child := do(h, wire.Trace, wire.RunIn{ID: got.Steps[0].Run})
	if child.Name != "small" || child.Parent != id || !strings.Contains(child.Cause, id) {
		t.Errorf("its node's run is %+v", child)
	}
	if _, err := op.Do(op.WithCaller(t.Context(), owner), h.gate, wire.Begin, wire.BeginIn{Name: "small", Parent: id,
		Input: map[string]any{"what": "x"}}); !fault.Is(err, fault.Denied) {
		t.Errorf("a person says that it is a run's node: %v", err)
	}

	h.switchOn(strings.Replace(small, "mark.send", "mark.fail", 1))
	failed := h.until(do(h, wire.Begin, wire.BeginIn{Name: "all", Input: map[string]any{"what": "bad"}}).ID, "it fails", isOver)
	if failed.Status != "failed" || !strings.Contains(failed.Reason, "it fails") {
		t.Errorf("the run is %s: %s", failed.Status, failed.Reason)
	}

	rests := "name = \"small\"\n[inputs.what]\ntype = \"string\"\n[[node]]\nid = \"rest\"\n[node.wait]\nfor = \"60h\"\n"
	h.switchOn(rests)
	h.switchOn("name = \"all\"\n[inputs.what]\ntype = \"string\"\n[[node]]\nid = \"first\"\ninputs = { what = \"input.what\" }\n" +
		"[node.automation]\nname = \"small\"\n")
	id = do(h, wire.Begin, wire.BeginIn{Name: "all", Input: map[string]any{"what": "long"}}).ID
	got = h.until(id, "it waits for its run", func(r *wire.Run) bool { return r.Steps[0].Run != "" })
	do(h, wire.Cancel, wire.RunIn{ID: id})
	ended := h.until(got.Steps[0].Run, "its run ends with it", isOver)
	if ended.Status != "cancelled" || !strings.Contains(ended.Reason, id) {
		t.Errorf("its run is %s: %s", ended.Status, ended.Reason)
	}
}

// Automations that run each other, or begin at each other's end, come to an end: a definition does not grow for ever.
func TestARingOfAutomationsEnds(t *testing.T) {
	h := newHouse(t)
	ring := "name = %q\n[limits]\nruns = 100\n[[node]]\nid = \"next\"\n[node.automation]\nname = %q\n"
	h.switchOn(fmt.Sprintf(ring, "b", "all"))
	id := h.begin(fmt.Sprintf(ring, "all", "b"), nil)
	got := h.until(id, "the ring ends", isOver)
	if got.Status != "failed" || !strings.Contains(got.Reason, "deep") {
		t.Errorf("it is %s: %s", got.Status, got.Reason)
	}
	if n := len(do(h, wire.Runs, wire.RunsIn{Limit: 500}).Runs); n != maxDepth+1 {
		t.Errorf("there were %d runs", n)
	}
	follows := "name = %q\n[[trigger]]\nid = \"after\"\nended = %q\n[[node]]\nid = \"mark\"\n[node.operation]\nname = \"mark.add\"\n" +
		"input = { text = \"x\" }\n"
	h.switchOn(fmt.Sprintf(follows, "one", "two"))
	h.switchOn(fmt.Sprintf(follows, "two", "one"))
	do(h, wire.Begin, wire.BeginIn{Name: "one"})
	said := func(name string) (why string) {
		for _, k := range do(h, wire.Ticks, wire.NameIn{Name: name}).Ticks {
			why += k.Why
		}
		return why
	}
	testenv.Eventually(t, "the chain ends", testPatience, func() bool { return strings.Contains(said("one")+said("two"), "deep") })
	all := 0
	for _, name := range []string{"one", "two"} {
		all += len(do(h, wire.Runs, wire.RunsIn{Name: name, Limit: 500}).Runs)
	}
	if all != maxDepth+1 {
		t.Errorf("there were %d runs", all)
	}
}

// Each end of a run begins one run of whoever waits for it, with what became of it; looking again begins no other.
func TestTheEndOfARunBeginsAnother(t *testing.T) {
	h := newHouse(t)
	h.switchOn("name = \"after\"\n[inputs.event]\ntype = \"string\"\n[inputs.body]\ntype = \"object\"\n[[trigger]]\nid = \"ends\"\n" +
		"ended = \"all\"\n[[node]]\nid = \"mark\"\ninputs = { how = \"input.event\", run = \"input.body.run\" }\n" +
		"[node.operation]\nname = \"mark.add\"\n" +
		"input = { text = \"{{how}} {{run}}\" }\n[inputs.body.properties.run]\ntype = \"string\"\n")
	id := h.begin("name = \"all\"\n[[node]]\nid = \"mark\"\n[node.operation]\nname = \"mark.add\"\ninput = { text = \"x\" }\n", nil)
	var runs []*wire.Run
	testenv.Eventually(t, "another begins and ends", testPatience, func() bool {
		runs = do(h, wire.Runs, wire.RunsIn{Name: "after"}).Runs
		return len(runs) > 0 && !runs[0].EndedAt.IsZero()
	})
	h.must(h.fire(context.Background()))
	h.must(h.fire(context.Background()))
	if runs = do(h, wire.Runs, wire.RunsIn{Name: "after"}).Runs; len(runs) != 1 || runs[0].Input["event"] != "completed" ||
		!strings.Contains(runs[0].Cause, id) {
		t.Errorf("there are %d runs, the first %+v", len(runs), runs[0])
	}
}

// Ends of runs wait for a place, and outlive that it is switched on again; switched off, a row says what became of them.
func TestEndsOfRunsWait(t *testing.T) {
	h := newHouse(t)
	after := "name = \"after\"\n[[trigger]]\nid = \"ends\"\nended = \"all\"\n[[node]]\nid = \"rest\"\n[node.wait]\nfor = \"60h\"\n"
	h.switchOn(after)
	h.begin("name = \"all\"\n[limits]\nruns = 9\n[[node]]\nid = \"mark\"\n[node.operation]\nname = \"mark.add\"\n"+
		"input = { text = \"x\" }\n", nil)
	for range 3 {
		do(h, wire.Begin, wire.BeginIn{Name: "all"})
	}
	began := func(n int) (open string) {
		t.Helper()
		testenv.Eventually(t, fmt.Sprint(n, " began"), testPatience, func() bool {
			all := do(h, wire.Runs, wire.RunsIn{Name: "after", Limit: 100}).Runs
			for _, r := range all {
				if r.EndedAt.IsZero() {
					open = r.ID
				}
			}
			return len(all) == n && len(do(h, wire.Runs, wire.RunsIn{Name: "all", Open: true}).Runs) == 0
		})
		return open
	}
	do(h, wire.Cancel, wire.RunIn{ID: began(1)})
	open := began(2)
	h.switchOn(after)
	do(h, wire.Cancel, wire.RunIn{ID: open})
	began(3)
	for _, k := range do(h, wire.Ticks, wire.NameIn{Name: "after"}).Ticks {
		if k.Run == "" {
			t.Errorf("one began nothing: %s", k.Why)
		}
	}
	do(h, wire.Off, wire.NameIn{Name: "after"})
	if k := do(h, wire.Ticks, wire.NameIn{Name: "after"}).Ticks[0]; k.Count != 1 || !strings.Contains(k.Why, "switched off") {
		t.Errorf("the last one says %+v", k)
	}
}

const hears = `
name = "all"
[inputs.order]
type = "string"
[limits]
runs = 5
[[trigger]]
id = "paid"
webhook = "generic"
[[node]]
id = "rest"
[node.wait]
for = "%s"
[[node]]
id = "hear"
after = ["rest"]
[node.wait]
webhook = "paid"
match = { "data.order" = "input.order" }
[node.output.body.schema]
type = "object"
required = ["sum"]
[[node]]
id = "mark"
inputs = { sum = "hear.body" }
[node.operation]
name = "mark.add"
input = { text = "sum {{sum}}" }
`

// A run waits for a message of a webhook: the one that is meant for it, of the right form, also when it came before the run came to wait.
// It begins no run, and one message wakes one run.
func TestARunWaitsForAWebhook(t *testing.T) {
	h := newHouse(t)
	one := h.begin(fmt.Sprintf(hears, "1ms"), map[string]any{"order": "1"})
	two := do(h, wire.Begin, wire.BeginIn{Name: "all", Input: map[string]any{"order": "2"}}).ID
	three := do(h, wire.Begin, wire.BeginIn{Name: "all", Input: map[string]any{"order": "2"}}).ID
	h.until(one, "it waits", func(r *wire.Run) bool { return strings.Contains(strings.Join(r.Waits, ""), "webhook paid") })
	h.deliver("all", "paid", "m1", `{"sum": 3, "data": {"order": "other"}}`)
	h.deliver("all", "paid", "m2", `{"data": {"order": "1"}, "say": "no sum"}`)
	h.deliver("all", "paid", "m3", `{"sum": 5, "data": {"order": "1"}}`)
	h.deliver("all", "paid", "m3", `{"sum": 5, "data": {"order": "1"}}`)
	got := h.until(one, "it goes on", isOver)
	if fmt.Sprint(got.Steps[1].Output) != "map[body:map[data:map[order:1] sum:5]]" {
		t.Errorf("it heard %v", got.Steps[1].Output)
	}
	h.deliver("all", "paid", "m4", `{"sum": 6, "data": {"order": 2}}`)
	testenv.Eventually(t, "one of the others goes on", testPatience, func() bool {
		return h.status(two) == "completed" || h.status(three) == "completed"
	})
	if n := len(do(h, wire.Runs, wire.RunsIn{Open: true}).Runs); n != 1 {
		t.Errorf("%d runs wait", n)
	}
	h.deliver("all", "paid", "m5", `{"sum": 7, "data": {"order": "2"}}`)
	h.until(two, "both go on", isOver)
	h.until(three, "both go on", isOver)

	h.switchOn(fmt.Sprintf(hears, "300ms"))
	late := do(h, wire.Begin, wire.BeginIn{Name: "all", Input: map[string]any{"order": "9"}}).ID
	h.deliver("all", "paid", "m6", `{"sum": 8, "data": {"order": "9"}}`) // while it rests
	if got := h.until(late, "it hears what came before", isOver); got.Status != "completed" {
		t.Errorf("it is %s: %s", got.Status, got.Reason)
	}
	if n := len(do(h, wire.Runs, wire.RunsIn{Limit: 100}).Runs); n != 4 {
		t.Errorf("messages began runs: there are %d", n)
	}
}

// A strict automation asks a person before each step that acts, and does nothing when the person says no.
func TestAStrictAutomationAsks(t *testing.T) {
	h := newHouse(t)
	text := "name = \"all\"\nprofile = \"strict\"\n[[node]]\nid = \"go\"\n[node.operation]\nname = \"mark.send\"\n" +
		"input = { text = \"strict\" }\n"
	for _, c := range []struct {
		say    approval.Verdict
		status string
		acted  int
	}{{approval.Cancel, "failed", 0}, {approval.Approve, "completed", 1}} {
		id := h.begin(text, nil)
		ask := h.pending(id)
		if h.outside.count("send strict") != 0 || !strings.Contains(string(ask.Input), "mark.send") {
			t.Errorf("it acted before it asked, or asked %s", ask.Input)
		}
		h.decide(ask.ID, c.say, "no")
		if got := h.until(id, "it ends", isOver); got.Status != c.status || h.outside.count("send strict") != c.acted {
			t.Errorf("%s: it is %s (%s), and acted %d times", c.say, got.Status, got.Reason, h.outside.count("send strict"))
		}
	}
}

// A gate that nobody answers in time asks whom it escalates to.
func TestAGateEscalates(t *testing.T) {
	begin := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	h, wakeAt := asleep(t, begin)
	id := h.begin(strings.Replace(mailing, `expires = "2d"`, "expires = \"2h\"\non_expiry = \"escalate\"\nescalate = \"chief\"", 1), nil)
	first := h.pending(id)
	wakeAt(begin.Add(2*time.Hour + time.Second))
	h.rouse()
	var next string
	h.until(id, "somebody else is asked", func(r *wire.Run) bool {
		next = r.Steps[1].Ask
		return next != "" && next != first.ID
	})
	h.decide(next, approval.Approve, "")
	if got := h.until(id, "it ends", isOver); got.Status != "completed" {
		t.Errorf("it is %s: %s", got.Status, got.Reason)
	}
}

// A real agent takes the turn of a node: it is opened in its folder with nothing else, told the node's words, and closed when it ended.
func TestANodeIsAnAgentsTurn(t *testing.T) {
	h := newHouse(t)
	agent := "name = \"all\"\n[[node]]\nid = \"work\"\n[node.turn]\nagent = \"claude\"\nsystem = \"Be brief.\"\nprompt = \"Two words\"\n" +
		"%s\n[node.output.words.schema]\ntype = \"array\"\n"
	for wrong, why := range map[string]string{"": "folders names one", "folders = [\"/\"]\ntools = [\"read\"]": "its own tools",
		"folders = [\"/\"]\n[node.budget]\ncost = 0.5": "does not say what it costs"} {
		a := do(h, wire.Add, wire.AddIn{Text: fmt.Sprintf(agent, wrong)})
		if v := do(h, wire.Show, wire.ShowIn{Name: a.Name}); !strings.Contains(strings.Join(v.Unbuilt, ""), why) {
			t.Errorf("%q: %v", wrong, v.Unbuilt)
		}
	}
	id := h.begin(fmt.Sprintf(agent, "folders = [\"/\"]"), nil)
	got := h.until(id, "it ends", isOver)
	if got.Status != "completed" || fmt.Sprint(got.Steps[0].Output) != "map[words:[x y]]" || got.Tokens != 7 || h.asked("Two") != 1 {
		t.Errorf("the run is %+v, and it was asked %d times", got, h.asked("Two"))
	}
	if n, m := h.outside.count("open claude in /, narrow true"), h.outside.count("close"); n != 1 || m != 1 {
		t.Errorf("it was opened %d times and closed %d times", n, m)
	}
}
