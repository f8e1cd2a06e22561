package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/policy/book"
	"tandem/internal/session/terminal"
)

// A folder that a person denied was open to real agents: their boxes hid nothing. Now it is not there in the box of one that is opened,
// the session says so, and of a denial that comes later a call that could reach it asks.
func TestADeniedTreeIsHiddenFromARealAgent(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=bwrap")
	for _, name := range []string{"priv/p.txt", "later/p.txt", "open.txt"} {
		p := filepath.Join(h.project, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte("word of "+name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	deny := func(tree string) {
		t.Helper()
		in := book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "folder:" + filepath.Join(h.project, tree),
			Permissions: []string{"view"}}
		if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add", in, nil); err != nil {
			t.Fatal(err)
		}
	}
	deny("priv")
	s := h.open("a")
	if !strings.Contains(s.Boundary, "hidden from it: ") || !strings.Contains(s.Boundary, "priv") {
		t.Errorf("it does not say what is hidden: %s", s.Boundary)
	}
	got := h.send("a", `go [[tool Bash {"command":"cat open.txt priv/p.txt later/p.txt; grep -r 'word of priv' . && echo FOUND; `+
		`echo END","description":"look"}]] [[result]]`).Report
	if !strings.Contains(got, "word of open.txt") || !strings.Contains(got, "word of later") || !strings.Contains(got, "END") ||
		strings.Contains(got, "word of priv/p") || strings.Contains(got, "FOUND") {
		t.Errorf("%s", got)
	}
	// The same line, once granted, asks again when something is denied that the box does not hide.
	if err := h.c.WithPIN(pin).Call(t.Context(), "grant.add",
		book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}}, nil); err != nil {
		t.Fatal(err)
	}
	deny("later")
	got = h.send("a", `go [[tool Read {"file_path":`+quote(filepath.Join(h.project, "later/p.txt"))+`}]] [[result]]`).Report
	if strings.Contains(got, "word of later") || got == "" {
		t.Errorf("%s", got)
	}
	h.call("session.close", terminal.NameIn{Name: "a"}, nil)
}
