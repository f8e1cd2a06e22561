package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// exec is a scripted call of Codex's shell.
func execute(command string) string { return `[[tool exec_command {"cmd":` + quote(command) + `}]]` }

// One real Codex: its app-server on a socket, its terminal attached, and we beside it.
func TestCodex(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t)
	s := h.openAs("a", "codex")
	want(t, "signal", s.Signal, "app-server")
	want(t, "version", s.Version, "0.166.0")

	t.Run("a text turn", func(t *testing.T) {
		out := h.send("a", "hi [[say plain words]]")
		if out.Status != "done" || out.Report != "plain words" || !out.Idle || out.Signal != "app-server turn end" {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
		found := false
		for _, q := range h.model.Requests() {
			found = found || strings.Contains(string(q.Body), "word of this project is plover")
		}
		if !found {
			t.Error("the project's AGENTS.md did not reach the model")
		}
		want(t, "check", h.seat("a").Check, "all signals of codex 0.166.0 work")
		h.eventually("the terminal shows it", func() bool { return strings.Contains(h.shown("a"), "plain words") })
	})

	t.Run("a prompt of 100 KB arrives whole, a draft stays", func(t *testing.T) {
		h.tmux("send-keys", "-l", "-t", "=ccm-a:", "half a thought")
		h.eventually("it stands there", func() bool { return strings.Contains(h.shown("a"), "half a thought") })
		text := strings.Repeat("a line with 'quotes' \"and\" $dollars; #{x} ünïcödé 日本\n", 1700) + "[[say got it all]]"
		out := h.send("a", text)
		if out.Status != "done" || out.Report != "got it all" {
			t.Fatalf("%s %s: %s\n%s", out.Status, out.Reason, out.Report, h.shown("a"))
		}
		whole := false
		for _, q := range h.model.Requests() {
			whole = whole || strings.Contains(q.Prompt, "got it all") && strings.TrimSpace(q.Prompt) == text
		}
		if !whole {
			t.Error("the prompt did not arrive as it was sent")
		}
		if !strings.Contains(h.shown("a"), "half a thought") {
			t.Errorf("the draft was touched:\n%s", h.shown("a"))
		}
		h.tmux("send-keys", "-t", "=ccm-a:", "C-u")
		h.eventually("the person cleared it", func() bool { return !strings.Contains(h.shown("a"), "half a thought") })
	})

	t.Run("a tool is approved from elsewhere", func(t *testing.T) {
		out := h.begin("a", "make it "+execute("echo made > made.txt")+" [[say done then]]")
		a := h.decide(approval.Approve, "")
		want(t, "asked about", a.Op, "session.tool")
		if !strings.Contains(string(a.Input), `echo made \u003e made.txt`) {
			t.Errorf("the ask shows %s", a.Input)
		}
		if out = h.ended("a", out.Cursor); !strings.Contains(out.Report, "done then") || h.seat("a").Outcome != "ok" {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
		if _, err := os.Stat(filepath.Join(h.project, "made.txt")); err != nil {
			t.Error(err)
		}
	})

	t.Run("a tool is refused from elsewhere", func(t *testing.T) {
		out := h.begin("a", "make it "+execute("echo no > refused.txt")+" [[result]]")
		h.eventually("the state says so", func() bool {
			s := h.seat("a")
			return s.State == terminal.Permission && s.Signal == "app-server request"
		})
		h.decide(approval.Cancel, "not this one")
		if out = h.ended("a", out.Cursor); out.Status != "idle" && out.Status != "done" || h.seat("a").Outcome != "ok" {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
		if _, err := os.Stat(filepath.Join(h.project, "refused.txt")); err == nil {
			t.Error("it ran")
		}
	})

	t.Run("what policy denies does not even come up", func(t *testing.T) {
		h.write("home/code/.env", "TOKEN=x\n")
		out := h.send("a", "look "+execute("cat .env")+" [[result]]")
		if out.Status != "done" || !strings.Contains(out.Report, "blocked") || strings.Contains(out.Report, "TOKEN") {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
	})

	t.Run("a yes at the terminal counts, and is recorded as unproven", func(t *testing.T) {
		out := h.begin("a", "make it "+execute("echo y > typed.txt")+" [[say ran]]")
		h.eventually("the dialog is up", func() bool {
			return h.seat("a").State == terminal.Permission && strings.Contains(h.shown("a"), "Would you like to run")
		})
		h.press("a", "Enter", "Would you like to run")
		h.ended("a", out.Cursor)
		if _, err := os.Stat(filepath.Join(h.project, "typed.txt")); err != nil {
			t.Error(err, h.shown("a"))
		}
		var list approval.ListOut
		h.eventually("the ask is withdrawn", func() bool { h.call("approval.list", approval.ListIn{}, &list); return len(list.Asks) == 0 })
	})

	t.Run("a prompt typed by hand is a turn too", func(t *testing.T) {
		h.eventually("it waits for a prompt", func() bool { return h.seat("a").State == terminal.Ready })
		h.byHand("a", "by hand [[slow 3]]")
		out := h.send("a", "after that [[say second]]")
		if out.Status != "done" || out.Report != "second" {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
	})

	t.Run("two senders take turns", func(t *testing.T) {
		var wg sync.WaitGroup
		outs := make([]terminal.SendOut, 2)
		for i, word := range []string{"alpha", "beta"} {
			wg.Go(func() { outs[i] = h.send("a", "say "+word+" [[say "+word+" back]]") })
		}
		wg.Wait()
		for i, word := range []string{"alpha", "beta"} {
			if outs[i].Status != "done" || !strings.Contains(outs[i].Report, word+" back") || h.prompts("say "+word) != 1 {
				t.Errorf("%s: %+v, %d prompts", word, outs[i], h.prompts("say "+word))
			}
		}
	})

	t.Run("a model for one turn is that turn's alone", func(t *testing.T) {
		var out terminal.SendOut
		h.call("session.send", terminal.SendIn{Name: "a", Text: "one [[say first]]", Model: "other-1"}, &out)
		want(t, "report", out.Report, "first")
		h.send("a", "two [[say second]]")
		models := map[string]string{}
		for _, q := range h.model.Requests() {
			if len(q.Tools) > 0 && q.Call == 0 {
				models[q.Prompt] = q.Model
			}
		}
		if models["one [[say first]]"] != "other-1" || models["two [[say second]]"] != "scripted-1" {
			t.Errorf("models: %q %q", models["one [[say first]]"], models["two [[say second]]"])
		}
	})

	t.Run("interrupt", func(t *testing.T) {
		h.begin("a", "wait [[hang 60]]")
		h.eventually("it works", func() bool { return h.prompts("wait") > 0 })
		var out terminal.SendOut
		h.call("session.interrupt", terminal.NameIn{Name: "a"}, &out)
		want(t, "before output", out.Status, "interrupted")
		h.begin("a", "slowly [[slow 40]]")
		h.eventually("it speaks", func() bool {
			return strings.Contains(h.shown("a"), "slow words") && h.seat("a").State == terminal.Working
		})
		h.call("session.interrupt", terminal.NameIn{Name: "a"}, &out)
		want(t, "during output", out.Status, "interrupted")
		if out = h.send("a", "on [[say still here]]"); out.Report != "still here" {
			t.Errorf("after an interrupt: %+v\n%s", out, h.shown("a"))
		}
	})

	t.Run("failures of the model's provider", func(t *testing.T) {
		for _, c := range []struct {
			script, kind string
			state        terminal.State
		}{{"[[err 429]]", "rate_limit", terminal.RateLimited}, {"[[err 500]]", "server_error", terminal.Ready},
			{"[[err 401]]", "authentication_failed", terminal.Ready}} {
			out := h.send("a", "now "+c.script)
			if out.Status != "failed" || !strings.Contains(out.Reason, c.kind) || out.Signal != "app-server turn end" {
				t.Errorf("%s: %+v", c.kind, out)
			}
			h.eventually("it rests, "+string(c.state), func() bool { return h.seat("a").State == c.state })
		}
	})

	t.Run("slash commands", func(t *testing.T) {
		out := h.send("a", "/status")
		if out.Status != "done" || !strings.Contains(out.Report, "scripted-1") {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
		if out = h.send("a", "/new"); out.Status != "done" {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
		if out = h.send("a", "fresh [[say fresh start]]"); out.Report != "fresh start" {
			t.Errorf("after /new: %+v\n%s", out, h.shown("a"))
		}
		reqs := h.model.Requests()
		for _, q := range reqs {
			if strings.HasPrefix(q.Prompt, "fresh ") && strings.Contains(string(q.Body), "plain words") {
				t.Error("the old conversation went along")
			}
		}
	})

	t.Run("a question is answered from elsewhere", func(t *testing.T) {
		var pressed time.Time // Codex asks only in its plan mode, and hears that key only once its screen is at rest
		h.eventually("it plans", func() bool {
			if strings.Contains(h.shown("a"), "Plan mode") {
				return true
			}
			if time.Since(pressed) > 3*time.Second {
				h.tmux("send-keys", "-t", "=ccm-a:", "BTab")
				pressed = time.Now()
			}
			return false
		})
		out := h.begin("a", `ask [[tool request_user_input {"questions":[{"id":"q","question":"Which `+
			`colour?","header":"Colour","options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}]] [[result]]`)
		var qs session.QuestionsOut
		h.eventually("a question waits", func() bool { h.call("question.list", nil, &qs); return len(qs.Questions) == 1 })
		want(t, "question", qs.Questions[0].Questions[0].Question, "Which colour?")
		h.call("question.answer", session.AnswerIn{ID: qs.Questions[0].ID, Answer: "Blue"}, nil)
		if out = h.ended("a", out.Cursor); !strings.Contains(out.Report, "Blue") {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
	})

	t.Run("a probe says which signals work", func(t *testing.T) {
		var c terminal.Checked
		h.call("session.probe", terminal.ProbeIn{Agent: "codex", Cwd: h.project}, &c)
		if c.Version != "0.166.0" || len(c.Missing) != 0 || len(c.Works) != 6 || c.ProbedAt.IsZero() {
			t.Errorf("%+v", c)
		}
	})

	t.Run("bad input changes nothing", func(t *testing.T) {
		for _, c := range []struct {
			op   string
			in   any
			kind fault.Kind
		}{
			{"session.send", terminal.SendIn{Name: "a", Text: "x", Model: "no model"}, fault.Invalid},
			{"session.send", terminal.SendIn{Name: "a", Text: "x", Effort: "max"}, fault.Invalid},
			{"session.send", terminal.SendIn{Name: "a", Text: strings.Repeat("x", 10<<20)}, fault.Invalid},
			{"session.open", terminal.OpenIn{Name: "b", Cwd: h.project, Agent: "vim"}, fault.Invalid},
			{"session.open", terminal.OpenIn{Name: "a", Cwd: h.project, Agent: "claude"}, fault.Conflict},
		} {
			if err := h.c.Call(t.Context(), c.op, c.in, nil); !fault.Is(err, c.kind) {
				t.Errorf("%s %.80v: %v, want %v", c.op, c.in, err, c.kind)
			}
		}
		if out := h.send("a", "ok [[say unharmed]]"); out.Report != "unharmed" {
			t.Errorf("%+v", out)
		}
	})

	t.Run("nobody answers for the model's provider", func(t *testing.T) {
		h.model.Close() // Codex tries for long, and says so
		h.begin("a", "anybody there?")
		h.eventually("it tries again", func() bool { return h.seat("a").State == terminal.Retrying })
		want(t, "signal", h.seat("a").Signal, "app-server")
		var out terminal.SendOut
		h.call("session.interrupt", terminal.NameIn{Name: "a"}, &out)
		want(t, "status", out.Status, "interrupted")
		h.eventually("it waits for a prompt", func() bool { return h.seat("a").State == terminal.Ready })
	})
}

// What must hold when Codex, its server, the daemon or the whole machine end.
func TestCodexCrashes(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t)
	h.openAs("a", "codex")
	if out := h.send("a", "hi [[say first]]"); out.Report != "first" {
		t.Fatalf("%+v", out)
	}

	// The daemon is killed in the middle of a turn, and the turn ends while nobody looks.
	out := h.begin("a", "mid turn [[slow 3]]")
	h.eventually("the model is asked", func() bool { return h.prompts("mid turn") == 1 })
	h.stop(os.Kill)
	h.answered("mid turn")
	h.start()
	h.eventually("the turn's end is known", func() bool {
		out = h.poll("a", 0)
		return out.Idle && strings.Contains(out.Report, "slow words")
	})
	want(t, "prompts", h.prompts("mid turn"), 1)
	if out = h.send("a", "more [[say same session]]"); out.Report != "same session" {
		t.Fatalf("%+v\n%s", out, h.shown("a"))
	}

	// The daemon is killed while a permission waits: it is asked again, and answered.
	h.begin("a", "make it "+execute("echo made > made.txt")+" [[say done then]]")
	h.eventually("it asks", func() bool { return h.seat("a").State == terminal.Permission })
	h.stop(os.Kill)
	h.start()
	h.eventually("it asks again", func() bool { return h.seat("a").State == terminal.Permission })
	h.decide(approval.Approve, "")
	h.eventually("the turn ends", func() bool { out = h.poll("a", 0); return out.Idle && strings.Contains(out.Report, "done then") })

	// Its server is killed in the middle of a turn: the program is gone, and says so.
	out = h.begin("a", "die [[hang 60]]")
	h.eventually("the model is asked", func() bool { return h.prompts("die") == 1 })
	kill(t, h.child(h.tmux("list-panes", "-t", "=ccm-a:", "-F", "#{pane_pid}"), "app-server"))
	at := time.Now()
	h.eventually("it is reported", func() bool { return h.seat("a").State == terminal.Crashed })
	took := time.Since(at)
	t.Logf("a kill was reported after %v", took.Round(time.Millisecond))
	if took > 2*time.Second {
		t.Errorf("a kill was reported after %v", took)
	}
	if out = h.poll("a", out.Cursor); !out.Idle || out.Status != "crashed" {
		t.Errorf("%+v", out)
	}
	if err := h.c.Call(t.Context(), "session.send", terminal.SendIn{Name: "a", Text: "x"}, nil); !fault.Is(err, fault.Conflict) {
		t.Errorf("send to a dead session: %v", err)
	}
	h.openAs("a", "codex")
	if out = h.send("a", "back [[say same conversation]]"); out.Report != "same conversation" {
		t.Fatalf("%+v\n%s", out, h.shown("a"))
	}
	if !h.remembered("back", "more [[say") {
		t.Error("the conversation was not resumed")
	}

	// A new conversation begins in the same session, and then everything ends, tmux included, as in a reboot.
	if out = h.send("a", "/new"); out.Status != "done" {
		t.Fatalf("%+v\n%s", out, h.shown("a"))
	}
	if out = h.send("a", "anew [[say after the clearing]]"); out.Report != "after the clearing" {
		t.Fatalf("%+v\n%s", out, h.shown("a"))
	}
	h.stop(os.Kill)
	h.endTerminals()
	h.start()
	h.eventually("it is ready again", func() bool { return h.seat("a").State == terminal.Ready })
	if out = h.send("a", "up [[say after the reboot]]"); out.Report != "after the reboot" {
		t.Fatalf("%+v\n%s", out, h.shown("a"))
	}
	if !h.remembered("up ", "anew [[say") || h.remembered("up ", "back [[say") {
		t.Error("it is not the conversation since /new that was resumed after the reboot")
	}
	h.begin("a", "make it "+execute("echo again > again.txt")+" [[say ran again]]")
	h.decide(approval.Approve, "") // it asks as before
	h.eventually("the turn ends", func() bool { out = h.poll("a", 0); return out.Idle && strings.HasSuffix(out.Report, "ran again") })
	h.toldOnce("a")
	var s terminal.Seat
	h.call("session.close", terminal.NameIn{Name: "a"}, &s)
	want(t, "state", s.State, terminal.Closed)
}

// remembered says whether the model got an old text together with a prompt.
func (h *house) remembered(prompt, old string) bool {
	for _, q := range h.model.Requests() {
		if strings.HasPrefix(q.Prompt, prompt) && strings.Contains(string(q.Body), old) {
			return true
		}
	}
	return false
}

// child is the process below another whose command line holds a word.
func (h *house) child(parent, word string) string {
	h.t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		h.t.Fatal(err)
	}
	for _, p := range all {
		stat, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		f := strings.Fields(rest)
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "cmdline"))
		if len(f) > 1 && f[1] == parent && strings.Contains(string(line), word) {
			return filepath.Base(filepath.Dir(p))
		}
	}
	h.t.Fatalf("%s has no child with %q", parent, word)
	return ""
}
