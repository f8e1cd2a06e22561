package automation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// small is the automation that a node of all is.
const small = `
name = "small"
[inputs.what]
type = "string"
[limits]
runs = 1000
[[node]]
id = "send"
inputs = { what = "input.what" }
[node.operation]
name = "mark.send"
input = { text = "{{what}}" }
[node.output.text.schema]
type = "string"
`

// all has every kind of node that a server does.
const all = `
name = "all"
[[trigger]]
id = "paid"
webhook = "generic"
[inputs.child]
type = "string"
[inputs.list]
type = "array"
items = { type = "string" }
[limits]
parallel = 3
runs = 1000
[[node]]
id = "mark"
[node.operation]
name = "mark.add"
input = { text = "first" }
[node.output.mood.schema]
enum = ["good", "bad"]
[[node]]
id = "send"
[node.operation]
name = "mark.send"
input = { text = "once" }
[node.output.text.schema]
type = "string"
[[node]]
id = "each"
[node.map]
over = "input.list"
max = 5
parallel = 2
[node.map.operation]
name = "mark.send"
input = { text = "{{item}}" }
[node.output.text.schema]
type = "string"
[[node]]
id = "think"
inputs = { sent = "send.text" }
[node.turn]
prompt = "Two words about {{sent}}"
[node.output.words.schema]
type = "array"
[[node]]
id = "agent"
inputs = { sent = "send.text" }
[node.turn]
agent = "claude"
folders = ["/"]
prompt = "Three words about {{sent}}"
[node.output.words.schema]
type = "array"
[[node]]
id = "which"
[node.branch]
on = "mark.mood"
cases = { good = ["rest"], bad = ["never"] }
[[node]]
id = "never"
[node.operation]
name = "mark.send"
input = { text = "never" }
[[node]]
id = "rest"
[node.wait]
for = "20ms"
[[node]]
id = "look"
after = ["rest"]
[node.gate]
shows = ["send.text"]
[[node]]
id = "small"
inputs = { what = "input.child" }
[node.automation]
name = "small"
gives = { text = "send.text" }
[node.output.text.schema]
type = "string"
[[node]]
id = "hear"
after = ["rest"]
[node.wait]
webhook = "paid"
[node.output.body.schema]
type = "object"
[[node]]
id = "given"
after = ["rest"]
[node.wait]
handoff = "brief"
[node.output.pages.schema]
type = "integer"
[node.output.text]
artifact = "markdown"
[[node]]
id = "key"
after = ["mark"]
[node.wait]
condition = "first"
[node.output.value.schema]
type = "integer"
[[node]]
id = "agree"
after = ["key"]
[node.wait]
approval = ["owner"]
[[node]]
id = "shell"
inputs = { sent = "send.text", all = "each.text" }
after = ["look"]
[node.command]
run = ["echo", "{{sent}}{{all}}"]
[node.output.said.schema]
type = "string"
[[node]]
id = "last"
inputs = { said = "shell.said" }
[node.operation]
name = "mark.add"
input = { text = "{{said}}" }
`

// A run is killed at points that chance chooses, again and again, until it ends. Each effect happened once; what nobody could know was
// asked about, and never repeated by itself.
func TestAKillRepeatsNoEffect(t *testing.T) {
	kills := 30
	if testenv.Soak() {
		kills = 300
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	h := newHouse(t)
	h.switchOn(small)
	for killed, n := 0, 0; killed < kills; n++ {
		h.outside.mu.Lock()
		clear(h.outside.acted)
		h.outside.mu.Unlock()
		h.sql("DELETE FROM mark")
		id := h.begin(all, map[string]any{"list": []any{"a", "b"}, "child": "child"})
		for h.status(id) == "running" {
			h.close()
			h.open(1 + chance.Int64N(24))
			if !testenv.Within(testPatience, func() bool { return h.plug.dead.Load() || h.status(id) != "running" || h.asks(id) }) {
				t.Fatalf("run %d waits for nobody after %d kills: %+v", n, killed, do(h, wire.Trace, wire.RunIn{ID: id}))
			}
			h.close()
			if h.plug.dead.Load() {
				killed++
			}
			h.open(0)
			h.tell(id)
		}
		h.right(id)
		if t.Failed() {
			t.Fatalf("at run %d, after %d kills", n, killed)
		}
	}
}

// tell is the person who looks outside and says whether an unknown step acted.
func (h *house) tell(id string) {
	h.t.Helper()
	for _, a := range do(h, approval.AskList, approval.ListIn{}).Asks {
		h.decide(a.ID, approval.Approve, "")
	}
	got := do(h, wire.Trace, wire.RunIn{ID: id})
	for _, s := range got.Steps {
		if s.Node == "hear" && s.State == "held" {
			h.deliver("all", "paid", id, `{"run": "`+id+`"}`)
		}
		if s.Node == "given" && s.State == "held" {
			in := wire.HandIn{Name: "all", Handoff: "brief", Run: id, Output: map[string]any{"pages": 3, "text": "# Brief"}}
			if _, err := h.hand(in); err != nil && !fault.Is(err, fault.Conflict) { // it was handed over before the kill
				h.must(err)
			}
		}
		if s.Run != "" && s.State == "running" {
			h.tell(s.Run)
		}
		if s.State != "unknown" {
			continue
		}
		what, out := "send once", map[string]any{"text": "once!"}
		switch {
		case s.Kind == "automation":
			h.t.Fatalf("nobody knows what became of a run of our own: %s", s.Reason)
		case got.Name == "small":
			what, out = "send child", map[string]any{"text": "child!"}
		case s.Node == "agent":
			out = map[string]any{"words": []any{"x"}}
		case s.Node == "shell":
			what, out = `run once!["a!","b!"]`, map[string]any{"said": `ran once!["a!","b!"]`}
		case s.Item > 0:
			item := []string{"a", "b"}[s.Item-1]
			what, out = "send "+item, map[string]any{"text": item + "!"}
		}
		in := wire.StepIn{ID: id, Node: s.Node, Item: s.Item}
		if s.Node == "agent" && h.asked("Three") > 0 || s.Node != "agent" && h.outside.count(what) > 0 {
			in.Output = out
			do(h, wire.Accept, in)
		} else {
			do(h, wire.Retry, in)
		}
	}
}

// right fails the test unless everything happened once, and every output is what it must be.
func (h *house) right(id string) {
	h.t.Helper()
	got := do(h, wire.Trace, wire.RunIn{ID: id})
	if got.Status != "completed" {
		h.t.Errorf("the run is %s: %s", got.Status, got.Reason)
	}
	for _, what := range []string{"send once", "send a", "send b", "send child", `run once!["a!","b!"]`} {
		if n := h.outside.count(what); n != 1 {
			h.t.Errorf("%q happened %d times", what, n)
		}
	}
	if n := h.outside.count("send never"); n != 0 {
		h.t.Errorf("the way that was not chosen was gone %d times", n)
	}
	var marks int
	h.must(h.DB.QueryRow(context.Background(), "SELECT count(*) FROM mark WHERE text = 'first' OR text = ?",
		`ran once!["a!","b!"]`).Scan(&marks))
	if marks != 2 {
		h.t.Errorf("%d marks were made instead of 2", marks)
	}
	if h.outside.count("open claude in /, narrow true") < 1 {
		h.t.Error("no agent was opened")
	}
	if model, agent := h.asked("Two"), h.asked("Three"); model != 1 || agent != 1 || got.Tokens < 7 {
		h.t.Errorf("the model was asked %d times and the agent %d times, and %d tokens are counted", model, agent, got.Tokens)
	}
	for _, s := range got.Steps {
		wants := map[string]string{"small": "map[text:child!]", "hear": "map[body:map[run:" + id + "]]", "key": "map[value:7]"}
		if ref, _ := s.Output["text"].(map[string]any); s.Node == "given" && (fmt.Sprint(s.Output["pages"]) != "3" || ref["kind"] != "markdown") {
			h.t.Errorf("what was handed over is %v", s.Output)
		}
		if want := wants[s.Node]; want != "" && fmt.Sprint(s.Output) != want {
			h.t.Errorf("%s gave %v", s.Node, s.Output)
		}
		if s.Node == "each" && s.Item == 0 && fmt.Sprint(s.Output) != "map[text:[a! b!]]" {
			h.t.Errorf("the map gave %v", s.Output)
		}
	}
}

// asked is how often a prompt for so many words was given to a session.
func (h *house) asked(word string) (n int) {
	h.t.Helper()
	h.must(h.DB.QueryRow(context.Background(), "SELECT count(*) FROM mark WHERE text = ?", "asked "+word).Scan(&n))
	return n
}

func (h *house) sql(q string) {
	h.t.Helper()
	h.must(h.write(q))
}

// status reads a run's status without the gate: the power may be gone.
func (h *house) status(id string) (s string) {
	if h.plug.dead.Load() {
		return "running"
	}
	if h.DB.QueryRow(context.Background(), "SELECT status FROM automation_run WHERE id = ?", id).Scan(&s) != nil {
		return "running"
	}
	return s
}

// asks reports whether a step is unknown, or a gate waits.
func (h *house) asks(id string) bool {
	got, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Trace, wire.RunIn{ID: id})
	if err != nil {
		return false
	}
	for _, s := range got.Steps {
		awaits := s.Node == "hear" || s.Node == "given" && !strings.Contains(s.Waits, "being kept")
		if s.State == "unknown" || awaits && s.State == "held" || s.Run != "" && s.State == "running" && h.asks(s.Run) {
			return true
		}
	}
	pending, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, approval.AskList, approval.ListIn{})
	return err == nil && len(pending.Asks) > 0
}
