package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session/terminal"
)

// A server that was stopped in an orderly way took back every ask with "the dialog was closed at the terminal", and its successor filed
// it anew under another id and woke the phone again. The ask stays: the same id, one notice, and its answer reaches the dialog.
func TestAnAskOutlivesAnOrderlyRestart(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t)
	for _, agent := range []string{"claude", "codex"} {
		h.openAs(agent, agent)
	}
	h.begin("claude", `make it [[tool Bash {"command":"echo c > claude.txt","description":"make a file"}]] [[say ran]]`)
	h.begin("codex", "make it "+execute("echo c > codex.txt")+" [[say ran]]")
	asks := func() (ids []string) {
		var list approval.ListOut
		h.call("approval.list", approval.ListIn{}, &list)
		for _, a := range list.Asks {
			ids = append(ids, a.ID)
		}
		return ids
	}
	wait := func() bool {
		return len(asks()) == 2 && h.seat("claude").State == terminal.Permission && h.seat("codex").State == terminal.Permission
	}
	h.eventually("both wait", wait)
	before := asks()
	for range 2 {
		if said := h.tandem(h.dir, "down"); !strings.Contains(said, "Agents go on in their terminals") || !strings.Contains(said, "codex") {
			t.Errorf("who stopped the server was told: %s", said)
		}
		h.stop(os.Interrupt)
		h.start()
		h.eventually("both wait again", wait)
	}
	want(t, "asks after two restarts", asks(), before)
	var gone approval.ListOut
	h.call("approval.list", approval.ListIn{State: string(approval.Cancelled)}, &gone)
	for _, a := range gone.Asks {
		t.Errorf("%s was taken back: %s", a.ID, a.Feedback)
	}
	told, err := os.ReadFile(filepath.Join(h.dir, "home", ".tandem", "events.log"))
	if n := strings.Count(string(told), `"type":"ask"`); err != nil || n != 2 {
		t.Errorf("people were told of %d asks, %v:\n%s", n, err, told)
	}
	for _, id := range before {
		h.approve(id)
	}
	for _, name := range []string{"claude.txt", "codex.txt"} {
		h.eventually(name+" is made", func() bool { _, err := os.Stat(filepath.Join(h.project, name)); return err == nil })
	}
}

// approve approves one ask by its id.
func (h *house) approve(id string) {
	h.t.Helper()
	if err := h.yes(id); err != nil {
		h.t.Fatalf("approve %s: %v", id, err)
	}
}

// yes is approve where the ask may end at the same moment.
func (h *house) yes(id string) error {
	h.t.Helper()
	var a approval.Ask
	h.call("approval.get", approval.IDIn{ID: id}, &a)
	yes := approval.DecideIn{ID: id, Verdict: approval.Approve, Digest: a.Digest, Pages: a.PageDigests()}
	return h.c.WithPIN(pin).Call(h.t.Context(), "approval.decide", yes, nil)
}

// A program that had ended before the server did is started again at once when that is back: it was said to be open already until the new
// server had looked at its terminal, and a job that wanted to go on in that moment was stopped.
func TestWhatHadEndedIsOpenedRightAfterARestart(t *testing.T) {
	h := newHouse(t)
	h.open("fixer")
	kill(t, h.tmux("list-panes", "-t", "=ccm-fixer:", "-F", "#{pane_pid}"))
	h.eventually("it is gone", func() bool { return h.seat("fixer").State.Gone() })
	for range 5 {
		h.stop(os.Kill)
		h.start()
		var s terminal.Seat
		h.call("session.open", terminal.OpenIn{Name: "fixer", Resume: true}, &s)
		want(t, "state", s.State, terminal.Ready)
		kill(t, h.tmux("list-panes", "-t", "=ccm-fixer:", "-F", "#{pane_pid}"))
		h.eventually("it is gone", func() bool { return h.seat("fixer").State.Gone() })
	}
}
