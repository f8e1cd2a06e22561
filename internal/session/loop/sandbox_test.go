package loop

import (
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/policy/book"
	"tandem/internal/session"
	"tandem/internal/tool"
)

// With Landlock alone a command runs as granted, until the folder holds a file that may hold keys and cannot be hidden: then a
// person decides, whatever was granted, and an answer that was given for other commands does not count.
func TestLandlockAsksWhereKeysAre(t *testing.T) {
	h := newHouseWith(t, "", tool.Landlock)
	if h.box.Kind != tool.Landlock {
		t.Skipf("this kernel has no Landlock: %s", h.box.Why)
	}
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/", Permissions: []string{"execute"}})
	s := h.session()
	if got := h.do(local, "session.get", session.IDIn{ID: s.ID}).(*session.Session).Confined; got != "landlock" {
		t.Errorf("confined: %q", got)
	}
	call := `[[tool bash {"command":"touch x.txt"}]] [[result]]`
	h.until(h.prompt(s, call), session.Done)
	if h.read("x.txt") != "" {
		t.Fatalf("%q", h.said(s))
	}
	h.write(".env", "KEY=1")
	turn := h.prompt(s, call)
	w := h.until(turn, session.Waiting)
	ask := h.do(person, "approval.get", approval.IDIn{ID: w.Ask}).(*approval.Ask)
	if !strings.Contains(ask.Reason, h.dir+"/.env") || !strings.Contains(ask.Reason, "cannot hide") {
		t.Errorf("the ask does not say why: %q", ask.Reason)
	}
	h.decide(turn, approval.Approve, "")
	h.until(turn, session.Done)
	// Always, for this: it counts where keys are, and only there.
	plain := `[[tool bash {"command":"echo plain"}]] [[say end]]`
	again := h.prompt(s, plain)
	rule := h.always(again, approval.AlwaysIn{})
	h.until(again, session.Done)
	if rule.Pattern != "bash.exposed(command: echo plain)" {
		t.Errorf("%+v", rule)
	}
	h.until(h.prompt(s, plain), session.Done)
	// Of lines that nobody can read it is offered for all that stay in the folder, and not for those with the network.
	again = h.prompt(s, `[[tool bash {"command":"for f in *; do echo $f; done > list"}]] [[say end]]`)
	if rule = h.always(again, approval.AlwaysIn{}); rule.Pattern != "bash.exposed(path: "+h.dir+"/**)" {
		t.Errorf("%+v", rule)
	}
	h.until(again, session.Done)
	h.until(h.prompt(s, `[[tool bash {"command":"cat * | python3 -c 'print(1)' && x=1; echo $x"}]] [[say end]]`), session.Done)
	out := h.prompt(s, `[[tool bash {"command":"echo $x","network":true}]] [[say end]]`)
	h.until(out, session.Waiting)
	h.do(local, "session.cancel", session.TurnIn{ID: s.ID})
	// A denial of a command holds there too.
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "tool:/bash", Permissions: []string{"execute"},
		Tools: []string{"bash(command: echo)"}})
	h.until(h.prompt(s, `[[tool bash {"command":"echo plain"}]] [[result]]`), session.Done)
	if !strings.Contains(h.said(s), "may not") {
		t.Errorf("%q", h.said(s))
	}
}

// Without a sandbox no command runs, until a person lets one session's run: that session's and no other's, not even its child's, and
// no longer than the session lasts.
func TestWithoutASandbox(t *testing.T) {
	h := newHouseWith(t, "", tool.NoSandbox)
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: "tool:/bash", Permissions: []string{"execute"}})
	s, other := h.session(), h.session()
	call := `[[tool bash {"command":"touch x.txt"}]] [[result]]`
	refused := func(s *session.Session) {
		t.Helper()
		h.until(h.prompt(s, call), session.Done)
		if got := h.said(s); h.read("x.txt") != "(x.txt is not there)" || !strings.Contains(got, "no sandbox") ||
			!strings.Contains(got, "tandem grant unconfined "+s.ID) {
			t.Errorf("%q %q", h.read("x.txt"), got)
		}
	}
	refused(s)
	for _, who := range []struct {
		name string
		err  error
	}{{"local", second(h.try(local, "session.unconfine", session.IDIn{ID: s.ID}))},
		{"itself", second(h.try(s.Caller(), "session.unconfine", session.IDIn{ID: s.ID}))}} {
		if !fault.Is(who.err, fault.Denied) {
			t.Errorf("%s granted it: %v", who.name, who.err)
		}
	}
	h.do(person, "session.unconfine", session.IDIn{ID: s.ID})
	refused(other)
	h.restart()
	if got := h.do(local, "session.get", session.IDIn{ID: s.ID}).(*session.Session).Confined; got != "unconfined" {
		t.Errorf("confined: %q", got)
	}
	h.until(h.prompt(s, call), session.Done)
	if h.read("x.txt") != "" {
		t.Errorf("%q", h.said(s))
	}
	h.until(h.prompt(s, `[[tool task {"title":"t","prompt":"[[tool bash {\"command\":\"touch y.txt\"}]] [[result]]"}]] [[result]]`),
		session.Done)
	if h.read("y.txt") != "(y.txt is not there)" {
		t.Errorf("a child ran a command: %q", h.said(s))
	}
	es, err := h.jn.Read(t.Context(), "local", 0, 1000, journal.Filter{Type: "session.unconfine"})
	if err != nil || len(es) != 3 || es[2].Actor != "owner" || es[2].Phase != journal.Done {
		t.Errorf("the journal tells of %d: %v", len(es), err)
	}
	// It ends with the session, also when the session comes back.
	yes, no := true, false
	h.do(local, "session.update", session.UpdateIn{ID: s.ID, Archived: &yes})
	h.do(local, "session.update", session.UpdateIn{ID: s.ID, Archived: &no})
	if got := h.do(local, "session.unconfined", session.Nothing{}).(session.UnconfinedOut); len(got.Sessions) != 0 {
		t.Errorf("%+v", got)
	}
	h.do(person, "session.unconfine", session.IDIn{ID: s.ID})
	h.do(local, "session.confine", session.IDIn{ID: s.ID})
	if got := h.do(local, "session.get", session.IDIn{ID: s.ID}).(*session.Session).Confined; got != "none" {
		t.Errorf("confined: %q", got)
	}
}

func second(_ any, err error) error { return err }
