package terminal_test

import (
	"strings"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	memory "tandem/internal/memory/wire"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// A real agent takes the turn of an automation's node. It has its folder and its own tools: it is told nothing that the team remembers,
// and none of tandem's tools is there for it. What it says are the node's outputs, and its program ends with its turn.
func TestAnAgentTakesTheTurnOfANode(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=bwrap")
	h.write("home/code/note.txt", "own-words-of-the-folder\n")
	var kept struct{ ID string }
	lesson := memory.AddIn{Text: "Notes are about plainplover", Kind: memory.Lesson}
	if err := h.c.WithPIN(pin).Call(t.Context(), "memory.add", lesson, &kept); err != nil {
		t.Fatal(err)
	}
	text := `
name = "noted"
[[node]]
id = "read"
[node.turn]
agent = "claude"
system = "You read notes."
folders = ["` + h.project + `"]
prompt = 'node-mark [[tool Read {"file_path":"note.txt"}]] [[say {"word": "plover", "long": true}]]'
[node.output.word.schema]
type = "string"
[node.output.long.schema]
type = "boolean"
`
	var a wire.Automation
	h.call("automation.add", wire.AddIn{Text: text}, &a)
	if err := h.c.WithPIN(pin).Call(t.Context(), "automation.on", wire.OnIn{Name: a.Name, Digest: a.Latest}, nil); err != nil {
		t.Fatal(err)
	}
	var r wire.Run
	h.call("automation.run", wire.BeginIn{Name: "noted"}, &r)
	if !testenv.Within(4*time.Minute, func() bool {
		r = wire.Run{ID: r.ID}
		h.call("automation.trace", wire.RunIn{ID: r.ID}, &r)
		return !r.EndedAt.IsZero()
	}) {
		t.Fatalf("the run does not end: %+v", r)
	}
	if r.Status != "completed" || r.Steps[0].Output["word"] != "plover" || r.Steps[0].Output["long"] != true {
		t.Fatalf("the run is %+v", r)
	}
	asked := false
	for _, q := range h.model.Requests() {
		if !strings.Contains(string(q.Body), "node-mark") {
			continue
		}
		asked = true
		for _, bad := range []string{"plainplover", "mcp__tandem__memory", "mcp__tandem__open_session"} {
			if strings.Contains(string(q.Body), bad) {
				t.Errorf("it was given %s", bad)
			}
		}
	}
	if !asked {
		t.Error("nobody asked the model")
	}
	var s session.Session
	h.call("session.get", session.IDIn{ID: r.Steps[0].Session}, &s)
	if !s.Config.Narrow || s.Driver != terminal.DriverName || s.Config.Budget.Turns != 1 {
		t.Errorf("its session is %+v", s)
	}
	var live terminal.SeatsOut
	h.call("session.live", terminal.LiveIn{}, &live)
	for _, seat := range live.Sessions {
		if !seat.State.Gone() {
			t.Errorf("%s is %s", seat.Name, seat.State)
		}
	}
}
