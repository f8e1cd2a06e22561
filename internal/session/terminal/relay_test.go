package terminal_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/provider/scripted"
	"tandem/internal/session"
	"tandem/internal/session/relay"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
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
	told := newListener(t)
	h := newHouse(t, "TANDEM_NTFY_SERVER="+told.URL, "TANDEM_NTFY_TOPIC=phone", "TANDEM_DONE_WEBHOOK="+told.URL+"/hook",
		"TANDEM_DONE_WEBHOOK_SECRET=a secret of mine")
	h.model.Script = led("Turn 11 of 24")
	h.addModel()
	side := relay.Side{Agent: "model", Model: "mine/scripted"}
	var r relay.ReadOut
	h.call("relay.do", relay.ToolIn{Action: "start", Task: "climb the stairs",
		StartOptions: relay.StartOptions{Cwd: h.project, Lead: side, Worker: side}}, &r)
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
	want(t, "steps", out.Step, 21) // eleven of the lead, ten of the worker
	for _, e := range out.Log {
		want(t, "entries of the journal for step "+fmt.Sprint(e.Step), h.journalled("relay.turn", e.Turn), 1)
		want(t, "ends in the journal of turn "+e.Turn, h.journalled("session.turn_ended", e.Turn), 1)
	}
	if err := h.c.Call(t.Context(), "session.prompt", session.PromptIn{ID: r.Lead, Text: "x"}, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("prompt a relay's session: %v", err)
	}
	if err := h.c.Call(t.Context(), "session.cancel", session.TurnIn{ID: r.Worker}, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("cancel a relay's session: %v", err)
	}
	want(t, "summary", out.Summary, "all steps are done")

	// A minute whole, a tenth of it by default.
	before := len(h.model.Requests())
	testenv.Stays(t, "no model is called while it is parked", time.Duration(testenv.Rounds(60))*time.Second, func() bool {
		return len(h.model.Requests()) == before
	})
	want(t, "status", read().Status, relay.Parked)

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
	// Routine ends are written down and called; only a question and the end of it all wake the phone.
	h.eventually("the phone and the webhook heard", func() bool { return told.count("/phone") == 2 && told.count("/hook") == 4 })
	want(t, "pushes", told.titles("/phone"), "tandem: "+r.ID+" NEEDS YOUR ANSWER (urgent), tandem: "+r.ID+" stopped ()")
	told.checkSigned("a secret of mine")
	h.eventually("it is in bridge.log, each once", func() bool {
		data, _ := os.ReadFile(filepath.Join(h.dir, "home", ".tandem", "bridge.log"))
		return strings.Count(string(data), `"action":"relay.turn"`) == int(read().Step) &&
			strings.Count(string(data), `"action":"relay.stop"`) == 1 && strings.Contains(string(data), `"action":"session.prompt"`)
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
		{relay.ToolIn{Action: "start", Task: "x", StartOptions: relay.StartOptions{Park: 3601}}, fault.Invalid},
		{relay.ToolIn{Action: "start", Task: "x", StartOptions: relay.StartOptions{Answer: 21601}}, fault.Invalid},
		{relay.ToolIn{Action: "start", Task: "x", StartOptions: relay.StartOptions{Lead: relay.Side{Agent: "parrot"}}}, fault.Invalid},
		{relay.ToolIn{Action: "start", Task: "x", StartOptions: relay.StartOptions{Cwd: "/etc"}}, fault.Denied},
	} {
		if err := h.c.Call(t.Context(), "relay.do", c.in, nil); !fault.Is(err, c.kind) {
			t.Errorf("%+v: %v, want %v", c.in, err, c.kind)
		}
	}
}

// journalled counts the entries of a type that tell of a turn.
func (h *house) journalled(typ, turn string) int {
	h.t.Helper()
	n, after := 0, int64(0)
	for {
		var page struct {
			Entries []struct {
				Seq     int64
				Payload json.RawMessage
			}
			More bool
		}
		h.call("audit.log", map[string]any{"type": typ, "after": after, "limit": 1000}, &page)
		for _, e := range page.Entries {
			after = e.Seq
			if strings.Contains(string(e.Payload), turn) {
				n++
			}
		}
		if !page.More {
			return n
		}
	}
}

// A task that takes too long is interrupted in the middle of a turn, and the manager waits for the next one; tokens are counted
// and stop it, too. A lead that is a model and a worker that is a real Claude Code work together.
func TestARelaysBudgetsAndMixedDrivers(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	say := func(text string) []scripted.Turn { return []scripted.Turn{{{Say: text}}} }
	h.model.Script = scripted.Script{Rules: []scripted.Rule{
		{Prompt: `You lead a relay(?s:.*)slowly`, Turns: []scripted.Turn{{{Slow: 60}}}},
		{Prompt: `You lead a relay(?s:.*)the impossible`, Turns: say("I see no way.\nBLOCKED: nobody can")},
		{Prompt: `You lead a relay(?s:.*)did what you said`, Turns: say("fine\nRELAY_DONE")},
		{Prompt: `You lead a relay`, Turns: say("do it by hand")},
		{Prompt: `do it by hand`, Turns: say("did what you said")},
	}}
	h.addModel()
	side := relay.Side{Agent: "model", Model: "mine/scripted"}
	start := func(o relay.StartOptions, task string) (read func() relay.ReadOut) {
		var r relay.ReadOut
		o.Cwd, o.Lead = h.project, side
		h.call("relay.do", relay.ToolIn{Action: "start", Task: task, StartOptions: o}, &r)
		return func() (out relay.ReadOut) {
			h.call("relay.read", relay.ReadIn{ID: r.ID}, &out)
			return out
		}
	}
	late := start(relay.StartOptions{Worker: side, Budget: 3}, "go slowly")
	h.eventually("the slow one parks", func() bool { return late().Status == relay.Parked })
	want(t, "summary", late().Summary, "stopped: the task's time is used up")
	poor := start(relay.StartOptions{Worker: side, Tokens: 1}, "climb")
	h.eventually("the poor one parks", func() bool { return poor().Status == relay.Parked })
	want(t, "summary", poor().Summary, "stopped: 1 tokens are used up")
	stuck := start(relay.StartOptions{Worker: side}, "do the impossible")
	h.eventually("the stuck one ends", func() bool { return stuck().Status == relay.Blocked })
	want(t, "reason", stuck().Reason, "nobody can")
	mixed := start(relay.StartOptions{}, "climb")
	h.eventually("the mixed one parks", func() bool { return mixed().Status != relay.Running })
	want(t, "status", mixed().Status, relay.Parked)
	want(t, "summary", mixed().Summary, "fine")
	want(t, "steps", mixed().Step, 3)
	for _, r := range []relay.ReadOut{late(), poor(), mixed()} {
		h.call("relay.stop", relay.IDIn{ID: r.ID}, nil)
	}
	h.eventually("no program is left", func() bool {
		var seats terminal.SeatsOut
		h.call("session.live", terminal.LiveIn{}, &seats)
		return len(seats.Sessions) == 1 && seats.Sessions[0].State == terminal.Closed
	})
}

// Two real Claude Codes in a relay: generic tools keep their hands off, and no program is left when it is stopped.
func TestARelayOfRealAgents(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.model.Script = led("Turn 3 of 24")
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
	h.eventually("it has begun", func() bool {
		h.call("relay.read", relay.ReadIn{ID: r.ID}, &out)
		return out.Step >= 1
	})
	h.stop(os.Kill) // the programs work on; the next server finds them
	h.start()
	h.eventually("it parks", func() bool {
		h.call("relay.read", relay.ReadIn{ID: r.ID}, &out)
		return out.Status != relay.Running
	})
	for _, e := range out.Log {
		want(t, "entries of the journal for step "+fmt.Sprint(e.Step), h.journalled("relay.turn", e.Turn), 1)
	}
	cut := 0 // a kill that falls into the typing of a prompt costs a turn, which is said, and nothing more
	for _, e := range out.Log {
		if strings.HasPrefix(e.Text, "(cut off") {
			cut++
		}
	}
	if cut > 1 {
		t.Errorf("%d turns were cut off by one kill", cut)
	}
	if out.Status != relay.Parked || out.Step != int64(5+cut) {
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

// listener is ntfy and a webhook at once.
type listener struct {
	t   *testing.T
	URL string
	mu  sync.Mutex
	got []heard
}

type heard struct {
	path, body string
	header     http.Header
}

func newListener(t *testing.T) *listener {
	l := &listener{t: t}
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.got = append(l.got, heard{r.URL.Path, string(body), r.Header})
	}))
	t.Cleanup(srv.Close)
	l.URL = srv.URL
	return l
}

func (l *listener) on(path string) (out []heard) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, g := range l.got {
		if g.path == path {
			out = append(out, g)
		}
	}
	return out
}

func (l *listener) count(path string) int { return len(l.on(path)) }

func (l *listener) titles(path string) string {
	var out []string
	for _, g := range l.on(path) {
		out = append(out, g.header.Get("Title")+" ("+g.header.Get("Priority")+")")
	}
	return strings.Join(out, ", ")
}

func (l *listener) checkSigned(secret string) {
	l.t.Helper()
	for _, g := range l.on("/hook") {
		mac := hmac.New(sha256.New, []byte(secret))
		io.WriteString(mac, g.body)
		want(l.t, "signature", g.header.Get("Tandem-Signature"), "sha256="+hex.EncodeToString(mac.Sum(nil)))
	}
}

// A relay takes any two drivers: two Codexes, and a Claude Code that leads one. Others are above, and in the long run of TestOpenCode.
func TestARelayTakesAnyTwoDrivers(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t)
	h.model.Script = led("Turn 2 of 24")
	h.addModel()
	for _, sides := range [][2]string{{"codex", "codex"}, {"claude", "codex"}, {"codex", "model"}} {
		var r relay.ReadOut
		side := func(agent string) relay.Side {
			if agent == "model" {
				return relay.Side{Agent: agent, Model: "mine/scripted"}
			}
			return relay.Side{Agent: agent}
		}
		h.call("relay.do", relay.ToolIn{Action: "start", Task: "climb",
			StartOptions: relay.StartOptions{Cwd: h.project, Lead: side(sides[0]), Worker: side(sides[1])}}, &r)
		h.eventually("it parks", func() bool { h.call("relay.read", relay.ReadIn{ID: r.ID}, &r); return r.Status != relay.Running })
		if r.Status != relay.Parked || r.Step != 3 || r.Summary != "all steps are done" {
			t.Errorf("%v: %+v", sides, r)
		}
		h.call("relay.do", relay.ToolIn{Action: "stop", ID: r.ID}, nil)
	}
}
