package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
	"tandem/internal/testenv"
)

// One real Claude Code, one after another what people and chats do to it.
func TestClaudeCode(t *testing.T) {
	h := newHouse(t)
	h.write("home/code/.claude/commands/greet.md",
		"---\nallowed-tools: Bash(touch:*)\n---\nGreet $ARGUMENTS [[say greetings]]\n!`touch greeted-by-itself`\n")
	s := h.open("a")
	want(t, "confined", s.Confined, "none")
	want(t, "version", s.Version, "2.1.197")

	t.Run("a text turn", func(t *testing.T) {
		out := h.send("a", "hi [[say plain words]]")
		if out.Status != "done" || out.Report != "plain words" || !out.Idle || out.Signal != "hook Stop" {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
		found := false
		for _, q := range h.model.Requests() {
			found = found || strings.Contains(string(q.Body), "word of this project is plover")
		}
		if !found {
			t.Error("the project's CLAUDE.md did not reach the model")
		}
		want(t, "check", h.seat("a").Check, "all signals of claude 2.1.197 work")
	})

	t.Run("a prompt of 100 KB arrives whole", func(t *testing.T) {
		text := strings.Repeat("a line with 'quotes' \"and\" $dollars; #{x} ünïcödé 日本\n", 1700) + "[[say got it all]]"
		out := h.send("a", text)
		if out.Status != "done" || out.Report != "got it all" {
			t.Fatalf("%s %s: %s\n%s", out.Status, out.Reason, out.Report, h.shown("a"))
		}
		for _, q := range h.model.Requests() {
			if strings.Contains(q.Prompt, "got it all") && len(q.Tools) > 0 {
				if strings.TrimSpace(q.Prompt) != text {
					t.Errorf("the prompt has %d bytes, %d were sent", len(q.Prompt), len(text))
				}
				return
			}
		}
		t.Error("the model never saw it")
	})

	t.Run("a long reply comes whole, and a cursor gives only what is new", func(t *testing.T) {
		reply := strings.TrimSpace(strings.Repeat("one more line of the reply\n", 200))
		out := h.send("a", "[[say "+reply+"]]")
		if out.Report != reply {
			t.Errorf("the report has %d bytes, the reply %d", len(out.Report), len(reply))
		}
		if again := h.poll("a", out.Cursor); again.Report != "" || !again.Idle || again.Cursor != out.Cursor {
			t.Errorf("nothing is new: %+v", again)
		}
	})

	t.Run("a tool is approved from elsewhere", func(t *testing.T) {
		out := h.begin("a", `make it [[tool Bash {"command":"echo made > made.txt","description":"make a file"}]] [[say done then]]`)
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
		out := h.begin("a", `make it [[tool Bash {"command":"echo no > refused.txt","description":"make a file"}]] [[result]]`)
		h.eventually("the state says so", func() bool {
			s := h.seat("a")
			return s.State == terminal.Permission && s.Signal == "hook PermissionRequest"
		})
		h.decide(approval.Cancel, "not this one")
		if out = h.ended("a", out.Cursor); !strings.Contains(out.Report, "not this one") {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
		if _, err := os.Stat(filepath.Join(h.project, "refused.txt")); err == nil {
			t.Error("it ran")
		}
	})

	t.Run("what policy denies does not even come up", func(t *testing.T) {
		h.write("home/code/.env", "TOKEN=x\n")
		out := h.send("a", `look [[tool Read {"file_path":"`+filepath.Join(h.project, ".env")+`"}]] [[result]]`)
		if out.Status != "done" || !strings.Contains(out.Report, "out of reach") {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
	})

	t.Run("a yes at the terminal counts, and is recorded as unproven", func(t *testing.T) {
		out := h.begin("a", `make it [[tool Bash {"command":"echo y > typed.txt","description":"make a file"}]] [[say ran]]`)
		h.eventually("the dialog is up", func() bool {
			return h.seat("a").State == terminal.Permission && strings.Contains(h.shown("a"), "Do you want to proceed")
		})
		h.press("a", "Enter", "Do you want to proceed")
		h.ended("a", out.Cursor)
		if _, err := os.Stat(filepath.Join(h.project, "typed.txt")); err != nil {
			t.Error(err, h.shown("a"))
		}
		var list approval.ListOut
		h.eventually("the ask is withdrawn", func() bool { h.call("approval.list", approval.ListIn{}, &list); return len(list.Asks) == 0 })
	})

	t.Run("a question is answered from elsewhere", func(t *testing.T) {
		out := h.begin("a", `ask [[tool AskUserQuestion {"questions":[{"question":"Which `+
			`colour?","header":"Colour","multiSelect":false,`+
			`"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}]] [[result]]`)
		var qs session.QuestionsOut
		h.eventually("a question waits", func() bool { h.call("question.list", nil, &qs); return len(qs.Questions) == 1 })
		want(t, "question", qs.Questions[0].Questions[0].Question, "Which colour?")
		h.call("question.answer", session.AnswerIn{ID: qs.Questions[0].ID, Answer: "Blue"}, nil)
		if out = h.ended("a", out.Cursor); !strings.Contains(out.Report, "Blue") {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
	})

	t.Run("a half-typed draft is left alone", func(t *testing.T) {
		h.eventually("it waits for a prompt", func() bool { s := h.seat("a"); return s.State == terminal.Ready && s.Signal == "registry" })
		h.tmux("send-keys", "-l", "-t", "=ccm-a:", "half a thought")
		h.eventually("it stands there", func() bool { return strings.Contains(h.shown("a"), "half a thought") })
		out := h.send("a", "do not mix [[say mixed]]")
		if out.Status != "failed" || !strings.Contains(out.Reason, "draft") {
			t.Errorf("%+v", out)
		}
		if !strings.Contains(h.shown("a"), "half a thought") || strings.Contains(h.shown("a"), "do not mix") {
			t.Errorf("the draft was touched:\n%s", h.shown("a"))
		}
		h.tmux("send-keys", "-t", "=ccm-a:", "C-u")
		h.eventually("the person cleared it", func() bool { return !strings.Contains(h.shown("a"), "half a thought") })
	})

	t.Run("a prompt typed by hand is a turn too", func(t *testing.T) {
		h.eventually("it waits for a prompt", func() bool { s := h.seat("a"); return s.State == terminal.Ready && s.Signal == "registry" })
		h.byHand("a", "by hand [[slow 2]]")
		out := h.send("a", "after that [[say second]]")
		if out.Status != "done" || out.Report != "second" {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
	})

	t.Run("a prompt that somebody queues is a turn of its own", func(t *testing.T) {
		out := h.begin("a", "to be first [[slow 4]]")
		h.eventually("it works", func() bool {
			return h.prompts("to be first") > 0 && h.seat("a").State == terminal.Working || h.replied("to be first")
		})
		h.enters("a", "behind it [[say from the queue]]", func() bool { return h.prompts("behind it") > 0 })
		var turns session.TurnsOut
		h.eventually("both have ended", func() bool {
			h.call("session.turns", session.TurnIn{ID: h.seat("a").Session}, &turns)
			return turns.Turns[0].ID > out.Turn && turns.Turns[0].State == session.Done
		})
		want(t, "the first", turns.Turns[1].ID+" "+string(turns.Turns[1].State), out.Turn+" done")
		want(t, "asked by", turns.Turns[0].Asker, "terminal")
		if all := h.poll("a", out.Cursor); !strings.HasSuffix(all.Report, "from the queue") || strings.Count(all.Report, "from the queue") != 1 {
			t.Errorf("%+v", all)
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

	t.Run("slash commands", func(t *testing.T) {
		out := h.send("a", "/status")
		if out.Status != "done" || !strings.HasPrefix(out.Report, "Settings") || !strings.Contains(out.Report, "2.1.197") {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
		// A command of the project works, and its shell line is the model's to run: it has no tools of its own.
		if out = h.send("a", "/greet the world"); out.Status != "done" || out.Report != "greetings" {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
		if _, err := os.Stat(filepath.Join(h.project, "greeted-by-itself")); err == nil || h.prompts("Greet the world") != 1 {
			t.Errorf("a project's command ran something by itself, or never reached the model (%d)", h.prompts("Greet the world"))
		}
		// Each reports what it shows itself, and leaves nothing open.
		for command, shows := range map[string]string{"/mcp": "tandem", "/model": "Select model", "/goal": "No goal set",
			"/nosuch": "Unknown command: /nosuch"} {
			out = h.send("a", command)
			if out.Status != "done" || !strings.Contains(out.Report, shows) || strings.Contains(out.Report, "▐▛") ||
				strings.Contains(out.Report, "\x1b") || strings.Contains(out.Report, "Kept model") || strings.Contains(out.Report, "dismissed") {
				t.Errorf("%s: %+v\n%s", command, out, h.shown("a"))
			}
			if s := h.seat("a"); s.State != terminal.Ready {
				t.Errorf("after %s it is %s", command, s.State)
			}
		}
		if out = h.send("a", "/clear"); out.Status != "done" {
			t.Errorf("%+v\n%s", out, h.shown("a"))
		}
		if out = h.send("a", "fresh [[say fresh start]]"); out.Report != "fresh start" {
			t.Errorf("after /clear: %+v\n%s", out, h.shown("a"))
		}
	})

	t.Run("interrupt", func(t *testing.T) {
		h.begin("a", "wait [[hang 60]]")
		h.eventually("it works", func() bool { return h.prompts("wait") > 0 })
		var out terminal.SendOut
		h.call("session.interrupt", terminal.NameIn{Name: "a"}, &out)
		want(t, "before output", out.Status, "interrupted")
		if out = h.send("a", "on [[say going on]]"); out.Report != "going on" {
			t.Errorf("after an early interrupt: %+v\n%s", out, h.shown("a"))
		}
		h.begin("a", "slowly [[slow 40]]")
		h.eventually("it speaks", func() bool {
			return strings.Contains(h.shown("a"), "● slow words") && h.seat("a").State == terminal.Working
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
		}{{"[[err 429]] [[err 429]]", "rate_limit", terminal.RateLimited}, {"[[err 500]] [[err 500]]", "server_error", terminal.Ready}} {
			out := h.send("a", "now "+c.script)
			if out.Status != "failed" || !strings.Contains(out.Reason, c.kind) || out.Signal != "hook StopFailure" {
				t.Errorf("%s: %+v", c.kind, out)
			}
			h.eventually("it rests, "+string(c.state), func() bool { return h.seat("a").State == c.state })
		}
		h.begin("a", "once more [[errn 1 529 4 ;; say came back]]")
		h.eventually("it tries again", func() bool { return h.seat("a").State == terminal.Retrying })
		want(t, "signal", h.seat("a").Signal, "screen retry line")
		if out := h.ended("a", 0); !strings.HasSuffix(out.Report, "came back") {
			t.Errorf("%+v", out)
		}
	})

	t.Run("bad input changes nothing", func(t *testing.T) {
		link := filepath.Join(h.dir, "home", "link")
		if err := os.Symlink("/etc", link); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			op   string
			in   any
			kind fault.Kind
		}{
			{"session.send", terminal.SendIn{Name: "nobody", Text: "x"}, fault.NotFound},
			{"session.send", terminal.SendIn{Name: "a", Text: "x", Model: "gpt-9"}, fault.Invalid},
			{"session.send", terminal.SendIn{Name: "a", Text: "x", Effort: "huge"}, fault.Invalid},
			{"session.send", terminal.SendIn{Name: "a", Text: "esc \x1b[201~ out"}, fault.Invalid},
			{"session.send", terminal.SendIn{Name: "a", Text: "!rm -rf ."}, fault.Denied},
			{"session.send", terminal.SendIn{Name: "a", Text: strings.Repeat("x", 10<<20)}, fault.Invalid},
			{"session.open", terminal.OpenIn{Name: "b", Cwd: "/etc"}, fault.Denied},
			{"session.open", terminal.OpenIn{Name: "b", Cwd: link}, fault.Denied},
			{"session.open", terminal.OpenIn{Name: "b", Cwd: h.project + "/../../../etc"}, fault.Denied},
			{"session.open", terminal.OpenIn{Name: "b", Cwd: filepath.Join(h.dir, "home-evil")}, fault.Denied},
			{"session.open", terminal.OpenIn{Name: "b.c", Cwd: h.project}, fault.Invalid},
			{"session.open", terminal.OpenIn{Name: "relay-x", Cwd: h.project}, fault.Conflict},
			{"session.open", terminal.OpenIn{Name: "b", Cwd: h.project, Model: "gpt-9"}, fault.Invalid},
			{"session.open", terminal.OpenIn{Name: "b", Cwd: h.project, Skip: true}, fault.Denied},
			{"session.open", terminal.OpenIn{Name: "a", Cwd: h.project}, fault.Conflict},
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
		h.model.Close()
		out := h.send("a", "anybody there?")
		if out.Status != "failed" || !strings.Contains(out.Reason, "server_error") || out.Signal != "hook StopFailure" {
			t.Errorf("%+v", out)
		}
		want(t, "state", h.seat("a").State, terminal.Ready)
	})

	t.Run("the command line", func(t *testing.T) {
		for _, verb := range []string{"list", "live"} {
			if out := h.tandem(h.project, "session", verb); !strings.Contains(out, "ready") || !strings.Contains(out, "claude") {
				t.Errorf("session %s: %s", verb, out)
			}
		}
		// Whoever attaches sees the program itself.
		looker := append([]string{"-S", filepath.Join(h.dir, "looker.sock"), "new-session", "-d", "-s", "looker", "-x", "160", "-y", "50", "env",
			"-i"}, h.env...)
		if out, err := exec.Command("tmux", append(looker, testenv.Tandem(t), "session", "attach", "a")...).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		defer exec.Command("tmux", "-S", filepath.Join(h.dir, "looker.sock"), "kill-server").Run()
		h.eventually("it is shown", func() bool {
			out, _ := exec.Command("tmux", "-S", filepath.Join(h.dir, "looker.sock"), "capture-pane", "-p", "-t", "=looker:").Output()
			return strings.Contains(string(out), "unharmed") && strings.Contains(string(out), "❯")
		})
	})

	t.Run("close", func(t *testing.T) {
		pid := h.tmux("list-panes", "-t", "=ccm-a:", "-F", "#{pane_pid}")
		var s terminal.Seat
		h.call("session.close", terminal.NameIn{Name: "a"}, &s)
		want(t, "state", s.State, terminal.Closed)
		if _, err := os.Stat("/proc/" + pid); err == nil {
			t.Error("the program lives on")
		}
		if err := h.c.Call(t.Context(), "session.send", terminal.SendIn{Name: "a", Text: "x"}, nil); !fault.Is(err, fault.Conflict) {
			t.Errorf("send to a closed session: %v", err)
		}
	})
}

// What must hold when things end that should not.
func TestCrashes(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.open("a")
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

	// The program is killed in the middle of a turn.
	out = h.begin("a", "die [[hang 60]]")
	h.eventually("the model is asked", func() bool { return h.prompts("die") == 1 })
	pid := h.tmux("list-panes", "-t", "=ccm-a:", "-F", "#{pane_pid}")
	kill(t, pid)
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
	h.open("a")
	if out = h.send("a", "back [[say same conversation]]"); out.Report != "same conversation" {
		t.Fatalf("%+v\n%s", out, h.shown("a"))
	}
	if !h.remembered("back", "more [[say") {
		t.Error("the conversation was not resumed")
	}

	// A new conversation begins in the same session, and then everything ends, tmux included, as in a reboot.
	if out = h.send("a", "/clear"); out.Status != "done" {
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
		t.Error("it is not the conversation since /clear that was resumed after the reboot")
	}

	// The tmux server alone ends: that is reported, and the same conversation goes on in a new one.
	h.endTerminals()
	h.eventually("it is reported", func() bool {
		s := h.seat("a")
		return s.State == terminal.Crashed && strings.HasPrefix(s.Signal, "tmux")
	})
	h.open("a")
	if out = h.send("a", "on [[say after tmux]]"); out.Report != "after tmux" || !h.remembered("on ", "up [[say") {
		t.Errorf("%+v\n%s", out, h.shown("a"))
	}
	h.toldOnce("a")
}

// toldOnce says that every turn's end of a session is a line of events.log, once.
func (h *house) toldOnce(name string) {
	h.t.Helper()
	var turns session.TurnsOut
	h.call("session.turns", session.TurnIn{ID: h.seat(name).Session}, &turns)
	lines := 0
	h.eventually("every end is told", func() bool {
		data, _ := os.ReadFile(filepath.Join(h.dir, "home", ".tandem", "events.log"))
		lines = strings.Count(string(data), `"type":"session"`)
		return lines >= len(turns.Turns)
	})
	want(h.t, "lines in events.log", lines, len(turns.Turns))
}
