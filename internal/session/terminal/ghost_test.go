package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/session/terminal"
)

// A dialog was answered at the terminal while no server ran. Its ask stayed pending, and approved with a PIN it did nothing, silently.
// It ends with its reason; approving it says so; and where the program asks again, there is a new ask. (Real Claude Code.)
func TestAnAskWhoseDialogIsGoneEnds(t *testing.T) {
	h := newHouse(t)
	h.open("a")
	const use = `make it [[tool Bash {"command":"echo y > ghost.txt","description":"make a file"}]] [[say ran]]`
	h.begin("a", use)
	var list approval.ListOut
	h.eventually("the dialog is up", func() bool {
		h.call("approval.list", approval.ListIn{}, &list)
		return len(list.Asks) == 1 && strings.Contains(h.shown("a"), "Do you want to proceed")
	})
	ghost := list.Asks[0]
	h.stop(os.Kill)
	h.press("a", "Enter", "Do you want to proceed")
	h.eventually("it ran", func() bool { _, err := os.Stat(filepath.Join(h.project, "ghost.txt")); return err == nil })
	h.start()
	var a approval.Ask
	h.eventually("the ask ends", func() bool {
		h.call("approval.get", approval.IDIn{ID: ghost.ID}, &a)
		return a.State != approval.Pending
	})
	// Which of the two is heard first decides who ended it: the tool's own end, or that nobody waits any more.
	if a.State != approval.Cancelled || a.DecidedBy != approval.Abandoned && a.DecidedBy != approval.Withdrawn || a.Feedback == "" {
		t.Errorf("%s by %s: %q", a.State, a.DecidedBy, a.Feedback)
	}
	yes := approval.DecideIn{ID: a.ID, Verdict: approval.Approve, Digest: a.Digest, Pages: a.PageDigests()}
	err := h.c.WithPIN(pin).Call(t.Context(), "approval.decide", yes, nil)
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "ended before an answer came: "+a.Feedback) {
		t.Errorf("approving what is gone: %v", err)
	}
	h.eventually("it waits for a prompt", func() bool { return h.seat("a").State == terminal.Ready })
	h.begin("a", strings.ReplaceAll(use, "ghost", "again"))
	h.eventually("it asks anew", func() bool {
		h.call("approval.list", approval.ListIn{}, &list)
		return len(list.Asks) == 1 && list.Asks[0].ID != ghost.ID
	})
}
