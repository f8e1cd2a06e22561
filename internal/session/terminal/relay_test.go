package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/session/relay"
	"tandem/internal/session/terminal"
)

// led is a script in which the lead gives instructions until a turn, and then ends its task.
func led(last string) scripted.Script {
	say := func(text string) []scripted.Turn { return []scripted.Turn{{{Say: text}}} }
	return scripted.Script{Rules: []scripted.Rule{
		{Prompt: `You lead a relay(?s:.*)ask me first(?s:.*)The answer to your question`, Turns: say("thanks\nRELAY_DONE")},
		{Prompt: `You lead a relay(?s:.*)ask me first`, Turns: say("NEEDS_INPUT: Which colour?")},
		{Prompt: `You lead a relay(?s:.*)` + last, Turns: say("all steps are done\nRELAY_DONE")},
		{Prompt: `You lead a relay`, Turns: say("take the next step")},
		{Prompt: `take the next step`, Turns: say("took a step")},
	}}
}

// A relay of two sessions with models goes on over two kills of the server, each turn once; parked it calls nobody; a
// question waits for its answer.
func TestARelaySurvivesKillsAndParksQuietly(t *testing.T) {
	h := newHouse(t)
	h.model.Script = led("Turn 10 of 24")
	h.call("provider.add", session.ProviderAddIn{ID: "mine", Base: h.model.URL(), Wire: "anthropic", Keyless: true}, nil)
	side := relay.Side{Agent: "model", Model: "mine/scripted"}
	var r relay.ReadOut
	h.call("relay.do", relay.ToolIn{Action: "start", Task: "climb the stairs", StartOptions: relay.StartOptions{Cwd: h.project, Lead: side, Worker: side}}, &r)
	read := func() relay.ReadOut {
		var out relay.ReadOut
		h.call("relay.read", relay.ReadIn{ID: r.ID}, &out)
		return out
	}
	for _, at := range []int64{5, 12} {
		h.eventually("it goes on", func() bool { return read().Step >= at })
		h.stop(os.Kill)
		h.start()
	}
	h.eventually("it parks", func() bool { return read().Status == relay.Parked })
	out := read()
	want(t, "steps", out.Step, 19) // ten of the lead, nine of the worker
	seen := map[string]bool{}
	for _, e := range out.Log {
		if seen[e.Turn] {
			t.Errorf("turn %s is there twice", e.Turn)
		}
		seen[e.Turn] = true
	}
	want(t, "summary", out.Summary, "all steps are done")

	before := len(h.model.Requests())
	time.Sleep(2 * time.Second)
	want(t, "model calls while parked", len(h.model.Requests())-before, 0)

	h.call("relay.do", relay.ToolIn{Action: "enqueue", ID: r.ID, Task: "ask me first"}, nil)
	h.eventually("it asks", func() bool { return read().Status == relay.NeedsInput })
	want(t, "question", read().Question, "Which colour?")
	h.call("relay.do", relay.ToolIn{Action: "enqueue", ID: r.ID, Task: "blue"}, nil)
	h.eventually("it parks again", func() bool { return read().Status == relay.Parked })
	want(t, "task", read().TaskNo, 2)

	h.call("relay.do", relay.ToolIn{Action: "stop", ID: r.ID}, nil)
	want(t, "status", read().Status, relay.Stopped)
	for name, text := range map[string]string{"MISSION.md": "climb the stairs", "LOG.md": "take the next step", "QUEUE.json": "[]"} {
		data, err := os.ReadFile(filepath.Join(h.dir, "home", ".tandem", "manager", r.ID, name))
		if err != nil || !strings.Contains(string(data), text) {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	h.eventually("everything is in events.log", func() bool {
		data, _ := os.ReadFile(filepath.Join(h.dir, "home", ".tandem", "events.log"))
		for _, status := range []string{`"status":"task done"`, `"status":"needs input"`, `"status":"stopped"`} {
			if !strings.Contains(string(data), status) {
				return false
			}
		}
		return true
	})
	for _, c := range []struct {
		in   relay.ToolIn
		kind fault.Kind
	}{
		{relay.ToolIn{Action: "dance"}, fault.Invalid},
		{relay.ToolIn{Action: "read", ID: "loop_nobody"}, fault.NotFound},
		{relay.ToolIn{Action: "inject", ID: r.ID, Text: "x"}, fault.Conflict},
		{relay.ToolIn{Action: "enqueue", ID: r.ID, Task: "x"}, fault.Conflict},
		{relay.ToolIn{Action: "start", Task: "x", StartOptions: relay.StartOptions{Turns: 51}}, fault.Invalid},
		{relay.ToolIn{Action: "start", Task: "x", StartOptions: relay.StartOptions{Cwd: "/etc"}}, fault.Denied},
	} {
		if err := h.c.Call(t.Context(), "relay.do", c.in, nil); !fault.Is(err, c.kind) {
			t.Errorf("%+v: %v, want %v", c.in, err, c.kind)
		}
	}
}

// Two real Claude Codes in a relay: generic tools keep their hands off, and no program is left when it is stopped.
func TestARelayOfRealAgents(t *testing.T) {
	h := newHouse(t)
	h.model.Script = led("Turn 2 of 24")
	var r relay.ReadOut
	h.call("relay.do", relay.ToolIn{Action: "start", Task: "climb", StartOptions: relay.StartOptions{Cwd: h.project}}, &r)
	var lead string
	var seats terminal.SeatsOut
	h.call("session.live", terminal.LiveIn{}, &seats)
	for _, s := range seats.Sessions {
		want(t, "relay of "+s.Name, s.Relay, r.ID)
		if s.Session == r.Lead {
			lead = s.Name
		}
	}
	if err := h.c.Call(t.Context(), "session.send", terminal.SendIn{Name: lead, Text: "x"}, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("send to a relay's session: %v", err)
	}
	var out relay.ReadOut
	h.eventually("it parks", func() bool {
		h.call("relay.read", relay.ReadIn{ID: r.ID}, &out)
		return out.Status != relay.Running
	})
	if out.Status != relay.Parked || out.Step != 3 {
		t.Errorf("%+v\n%s", out, h.shown(lead))
	}
	h.call("relay.do", relay.ToolIn{Action: "stop", ID: r.ID}, nil)
	h.eventually("both are closed", func() bool {
		h.call("session.live", terminal.LiveIn{}, &seats)
		for _, s := range seats.Sessions {
			if s.State != terminal.Closed {
				return false
			}
		}
		return len(seats.Sessions) == 2
	})
}
