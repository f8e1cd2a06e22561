package terminal_test

import (
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// A budget stops what exceeds it: the next turn, and the running one. The program stays.
func TestBudgetsStopRealAgents(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t)
	openAs := func(name, agent string, b session.Budget) {
		t.Helper()
		var s terminal.Seat
		h.call("session.open", terminal.OpenIn{Name: name, Cwd: h.project, Agent: agent, Budget: b}, &s)
		want(t, "state", s.State, terminal.Ready)
	}
	open := func(name string, b session.Budget) { t.Helper(); openAs(name, "codex", b) }
	refused := func(name, text, what string) {
		t.Helper()
		if out := h.send(name, text+" [[say too much]]"); out.Status != "failed" || !strings.Contains(out.Reason, what) || h.prompts(text) != 0 {
			t.Errorf("%+v", out)
		}
	}
	open("turns", session.Budget{Turns: 1})
	want(t, "report", h.send("turns", "one [[say first]]").Report, "first")
	refused("turns", "two", "budget of turns")

	open("seconds", session.Budget{Seconds: 2})
	began := time.Now()
	if out := h.send("seconds", "slowly [[slow 300]]"); out.Status != "failed" || !strings.Contains(out.Reason, "budget of seconds") {
		t.Errorf("%+v", out)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v to stop", took)
	}
	h.eventually("the program stays", func() bool { return h.seat("seconds").State == terminal.Ready })

	open("tokens", session.Budget{Tokens: 10})
	h.send("tokens", "three [[say used up]]")
	refused("tokens", "four", "budget of tokens")

	openAs("claude", "claude", session.Budget{Turns: 3, Seconds: 60})
	h.begin("claude", "six [[hang 60]]") // a turn that says nothing counts all the same
	h.eventually("the model is asked", func() bool { return h.prompts("six") > 0 })
	var cut terminal.SendOut
	h.call("session.interrupt", terminal.NameIn{Name: "claude"}, &cut)
	want(t, "status", cut.Status, "interrupted")
	want(t, "report", h.send("claude", "seven [[say second]]").Report, "second")
	want(t, "report", h.send("claude", "eight [[say third]]").Report, "third")
	refused("claude", "nine", "budget of turns")
	openAs("late", "claude", session.Budget{Seconds: 2})
	if out := h.send("late", "slowly too [[slow 60]]"); out.Status != "failed" || !strings.Contains(out.Reason, "budget of seconds") {
		t.Errorf("%+v", out)
	}

	// Everybody together may use so much in a day.
	in := session.LimitIn{Period: "day", Budget: session.Budget{Tokens: 10}}
	if err := h.c.WithPIN(pin).Call(t.Context(), "budget.set", in, nil); err != nil {
		t.Fatal(err)
	}
	open("day", session.Budget{})
	refused("day", "five", "everybody together")
	if err := h.c.Call(t.Context(), "session.open", terminal.OpenIn{Name: "x", Cwd: h.project, Budget: session.Budget{Cents: 5}},
		nil); !fault.Is(err, fault.Invalid) {
		t.Errorf("a budget in money: %v", err)
	}
}
