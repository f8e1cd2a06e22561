package loop

import (
	"context"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/journal"
	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/session"
)

// always answers the ask that a turn waits for, for calls like it.
func (h *house) always(turn *session.Turn, in approval.AlwaysIn) *approval.Rule {
	h.t.Helper()
	in.ID = h.until(turn, session.Waiting).Ask
	yes := h.yes(in.ID)
	in.Digest, in.Pages = yes.Digest, yes.Pages
	return h.do(person, "approval.always", in).(approval.AlwaysOut).Rule
}

// A person says yes to a call and those like it, here: the same beginning of a command, the same folder, the same session; and nothing
// else.
func TestAlwaysHere(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	turn := h.prompt(s, `[[tool bash {"command":"echo one"}]] [[say end]]`)
	ask := h.until(turn, session.Waiting).Ask
	for _, who := range []op.Caller{local, s.Caller(),
		{Tenant: "local", Actor: "act_owner", Name: "owner", Kind: op.Person, Door: op.DoorHTTP}} {
		if _, err := h.try(who, "approval.always", approval.AlwaysIn{ID: ask}); !fault.Is(err, fault.Denied) {
			t.Errorf("%s made a rule: %v", who.Name, err)
		}
	}
	rule := h.always(turn, approval.AlwaysIn{})
	h.until(turn, session.Done)
	if rule.Pattern != "bash(command: echo one)" || rule.Owner != "owner" || rule.Session != s.ID || !rule.ExpiresAt.After(rule.CreatedAt) {
		t.Errorf("%+v", rule)
	}
	h.until(h.prompt(s, `[[tool bash {"command":"echo one more"}]] [[say end]]`), session.Done)
	for _, other := range []string{"echo two", "echo one; date", "echo one > x", "echo one $(id)"} {
		turn := h.prompt(s, `[[tool bash {"command":"`+other+`"}]] [[say end]]`)
		h.until(turn, session.Waiting)
		h.do(local, "session.cancel", session.TurnIn{ID: s.ID})
	}
	// Another session asks again.
	o := h.session()
	turn = h.prompt(o, `[[tool bash {"command":"echo one"}]] [[say end]]`)
	h.until(turn, session.Waiting)
	// In the whole folder: every session of the same people that stays there.
	rule = h.always(turn, approval.AlwaysIn{Scope: approval.InFolder, TTL: 60})
	h.until(turn, session.Done)
	if !strings.Contains(rule.Pattern, h.dir) || rule.Session != "" {
		t.Errorf("%+v", rule)
	}
	h.until(h.prompt(h.session(), `[[tool bash {"command":"echo one"}]] [[say end]]`), session.Done)
	out := h.prompt(h.session(), `[[tool bash {"command":"echo one /etc"}]] [[say end]]`)
	h.until(out, session.Waiting)
	// The record names the rule that let a call pass.
	es, err := h.jn.Read(context.Background(), "local", 0, 1000, journal.Filter{Type: "tool.bash"})
	named := 0
	for _, e := range es {
		if e.Phase == journal.Intent && strings.Contains(string(e.Payload), `"approval":"rul_`) {
			named++
		}
	}
	if err != nil || named != 4 {
		t.Errorf("%d calls name their rule, %v", named, err)
	}
	// Ended, it asks again; and a denial is stronger than any rule.
	h.do(local, "approval.forget", approval.IDIn{ID: rule.ID})
	h.until(h.prompt(h.session(), `[[tool bash {"command":"echo one"}]] [[say end]]`), session.Waiting)
	h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Effect: "deny", Resource: "tool:/bash", Permissions: []string{"execute"},
		Tools: []string{"bash(command: echo)"}})
	h.until(h.prompt(s, `[[tool bash {"command":"echo one"}]] [[result]]`), session.Done)
	if !strings.Contains(h.said(s), "may not") {
		t.Errorf("%q", h.said(s))
	}
}

// Files: the folder of the file, and not the next one.
func TestAlwaysHereForFiles(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	turn := h.prompt(s, `[[tool write {"path":"src/a.txt","content":"1"}]] [[tool write {"path":"src/b.txt","content":"2"}]] [[tool write `+
		`{"path":"c.txt","content":"3"}]] [[say end]]`)
	rule := h.always(turn, approval.AlwaysIn{})
	for h.until(turn, session.Waiting, session.Running).Calls < 3 {
		continue
	}
	h.until(turn, session.Waiting)
	if rule.Pattern != "write(path: "+h.dir+"/src/**)" || h.read("src/b.txt") != "2" || h.read("c.txt") != "(c.txt is not there)" {
		t.Errorf("%+v %q %q", rule, h.read("src/b.txt"), h.read("c.txt"))
	}
}

// An approval, replayed on other arguments, by hand and by the model: it is bound to the digest of the exact call and used once.
func TestApprovalIsNotReplayed(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	turn := h.prompt(s, `[[tool write {"path":"a.txt","content":"agreed"}]] [[tool write `+
		`{"path":"a.txt","content":"something else"}]] [[say end]]`)
	first := h.until(turn, session.Waiting).Ask
	h.do(person, "approval.decide", h.yes(first))
	for {
		cur := h.until(turn, session.Waiting, session.Running)
		if cur.Ask != "" && cur.Ask != first {
			break
		}
	}
	if h.read("a.txt") != "agreed" {
		t.Errorf("%q", h.read("a.txt"))
	}
	second := h.until(turn, session.Waiting).Ask
	if _, err := h.try(person, "approval.decide", h.yes(first)); !fault.Is(err, fault.Conflict) {
		t.Errorf("the first ask was answered again: %v", err)
	}
	a := h.do(person, "approval.get", approval.IDIn{ID: first}).(*approval.Ask)
	if _, err := h.try(person, "approval.decide", approval.DecideIn{ID: second, Verdict: approval.Approve, Digest: a.Digest}); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("the digest of the first passed for the second: %v", err)
	}
	// The session itself, calling again what was approved, has to ask: the approval is spent.
	_, err := h.try(s.Caller(), "tool.write", session.CallIn{Session: s.ID, Turn: turn.ID, Call: "call_other",
		Args: []byte(`{"path":"a.txt","content":"agreed"}`)})
	if !fault.Is(err, fault.Pending) {
		t.Errorf("a spent approval: %v", err)
	}
	h.do(person, "approval.decide", approval.DecideIn{ID: second, Verdict: approval.Cancel})
	h.until(turn, session.Done)
	if h.read("a.txt") != "agreed" {
		t.Errorf("%q", h.read("a.txt"))
	}
}
