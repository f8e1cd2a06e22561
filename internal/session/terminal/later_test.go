package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/journal"
	"tandem/internal/policy/book"
)

// A real agent was open when a person denied a folder below its own: its box still shows it, and Claude Code runs cat without asking
// anybody. Now the command waits for a person; of a folder that is denied whole it runs none, and the journal has the refusal.
func TestALaterDenialBindsAnOpenAgent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=auto")
	secret := filepath.Join(h.project, "later", "p.txt")
	if err := os.MkdirAll(filepath.Dir(secret), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, []byte("word of later\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	deny := func(folder string) {
		t.Helper()
		in := book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "folder:" + folder, Permissions: []string{"view"}}
		if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", in, nil); err != nil {
			t.Fatal(err)
		}
	}
	const look = `look [[tool Bash {"command":"cat later/p.txt","description":"look"}]] [[result]]`
	h.open("a")
	if got := h.send("a", look).Report; !strings.Contains(got, "word of later") {
		t.Fatalf("before it was denied: %s", got)
	}
	deny(filepath.Join(h.project, "later"))
	if got := h.send("a", look).Report; strings.Contains(got, "word of later") || !strings.Contains(got, "for you") {
		t.Errorf("by its name: %s", got)
	}
	began := h.begin("a", `search [[tool Bash {"command":"grep -r word .","description":"search"}]] [[result]]`)
	h.eventually("a person is asked", func() bool {
		var list approval.ListOut
		h.call("approval.list", approval.ListIn{}, &list)
		return len(list.Asks) == 1
	})
	h.decide(approval.Cancel, "")
	if got := h.ended("a", began.Cursor).Report; strings.Contains(got, "word of later") {
		t.Errorf("it was read all the same: %s", got)
	}
	deny(h.project)
	if got := h.send("a", look).Report; strings.Contains(got, "word of later") || !strings.Contains(got, "for you") {
		t.Errorf("of a folder that is denied: %s", got)
	}
	var log journal.LogOut
	h.call("audit.log", journal.LogIn{Type: "session.tool", Phase: journal.Denied}, &log)
	if len(log.Entries) == 0 {
		t.Error("the refusal is not in the journal")
	}
}
