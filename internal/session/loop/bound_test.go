package loop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// An edit was approved by its arguments, whatever the file had become. The approval is bound to what the file held, and what is
// shown is its diff, with the file's own line numbers: changed in between, it is asked about anew.
func TestAnApprovedEditIsBoundToItsFile(t *testing.T) {
	h := newHouse(t)
	file := filepath.Join(h.dir, "f.txt")
	if err := os.WriteFile(file, []byte("a\nb\none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := h.session()
	turn := h.prompt(s, `[[tool edit {"path":"f.txt","old":"one","new":"two"}]] [[say end]]`)
	first := h.until(turn, session.Waiting).Ask
	shown := func(ask string) string {
		var all strings.Builder
		for _, p := range h.do(person, "approval.get", approval.IDIn{ID: ask}).(*approval.Ask).First.Pieces {
			all.WriteString(string(p.Form) + " " + p.Name + "\n" + p.Text + "\n")
		}
		return all.String()
	}
	if got := shown(first); !strings.Contains(got, "@@ -1,3 +1,3 @@\n a\n b\n-one\n+two\n") || strings.Contains(got, "args.old") {
		t.Errorf("the ask shows\n%s", got)
	}
	if err := os.WriteFile(file, []byte("a\nb\none\nmore\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.do(person, "approval.decide", h.yes(first))
	next := first
	asksAnew := testenv.Within(2*time.Minute, func() bool {
		next = h.until(turn, session.Waiting, session.Running).Ask // none while the turn runs between its two asks
		return next != first && next != ""
	})
	if !asksAnew || h.read("f.txt") != "a\nb\none\nmore\n" {
		t.Fatalf("the approval of another file was used: %q, %q", next, h.read("f.txt"))
	}
	if got := shown(next); !strings.Contains(got, " more\n") {
		t.Errorf("the second ask shows\n%s", got)
	}
	h.do(person, "approval.decide", h.yes(next))
	h.until(turn, session.Done)
	if got := h.read("f.txt"); got != "a\nb\ntwo\nmore\n" {
		t.Errorf("the file holds %q", got)
	}
}
