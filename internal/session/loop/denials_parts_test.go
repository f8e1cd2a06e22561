package loop

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tandem/internal/op"
	"tandem/internal/policy/book"
	"tandem/internal/session"
	"tandem/internal/tool"
)

// What is denied after a session changed it is in no other part of the session either: not in its changes, not in what taking back and
// bringing back say or do, and not in the report of a task, which a child does with the same eyes. What tools are given to run with
// (TestACanaryThatIsDeniedStaysWhereItIs) is told there.
func TestACanaryThatIsDeniedIsInNoPartOfASession(t *testing.T) {
	ways := map[string]func(h *house){
		"a tree": func(h *house) {
			h.do(person, "grant.add", book.GrantIn{Principal: "*", Effect: "deny", Resource: "folder:" + h.dir + "/priv",
				Permissions: []string{"view"}})
		},
		"a pattern, for reading": func(h *house) {
			h.do(person, "grant.add", book.GrantIn{Principal: "*", Effect: "deny", Resource: "folder:/", Permissions: []string{"read"},
				Only: []string{"/**/priv/**"}})
		},
		"a label": func(h *house) {
			h.do(person, "policy.label", book.LabelIn{Resource: "folder:" + h.dir + "/priv", Class: "customer_data"})
		},
		"a rule": func(h *house) {
			h.do(person, "policy.edit", book.EditIn{Rules: `forbid (principal, action, resource in Folder::"` + h.dir + `/priv");`})
		},
	}
	for way, deny := range ways {
		t.Run(way, func(t *testing.T) { partsHold(t, deny) })
	}
}

func partsHold(t *testing.T, deny func(h *house)) {
	h := newHouseWith(t, "", tool.Bubblewrap)
	if h.box.Kind != tool.Bubblewrap {
		t.Fatalf("bubblewrap does not work here (%s): run make test-tools", h.box.Why)
	}
	planted := h.plant("priv/p.txt", "a.txt")
	word := planted["priv/p.txt"]
	for _, what := range []string{"tool:/", "folder:" + h.dir, "session:/"} {
		h.do(person, "grant.add", book.GrantIn{Principal: "session:*", Resource: what, Permissions: []string{"view", "read", "edit", "execute"}})
		h.do(person, "grant.add", book.GrantIn{Principal: "agent:*", Resource: what, Permissions: []string{"view", "read", "edit", "execute"}})
	}
	const change = `[[tool edit {"path":"priv/p.txt","old":"canary","new":"bird"} ;; tool bash {"command":"cp priv/p.txt priv/q; ` +
		`cp a.txt b.txt"}]] [[say end]]`
	s, taken := h.session(), h.session()
	for _, x := range []*session.Session{s, taken} { // one after the other: the second finds the word as the first left it
		h.until(h.prompt(x, "begin [[say here]]"), session.Done)
		h.until(h.prompt(x, change), session.Done)
		h.write("priv/p.txt", "canary "+word+"\n")
	}
	h.do(local, "session.revert", session.RevertIn{ID: taken.ID})
	if !strings.Contains(said(h, local, "session.diff", session.IDIn{ID: s.ID}), word) {
		t.Fatal("before anybody denied it, it is in no diff")
	}
	deny(h)
	before := h.read("priv/p.txt")

	for name, c := range map[string]op.Caller{"the session": s.Caller(), "the terminal": local, "an app": chat} {
		if !h.denies(c, "priv/p.txt") {
			continue // a label does not keep it from people
		}
		for _, call := range []struct {
			op string
			in any
		}{
			{"session.diff", session.IDIn{ID: s.ID}}, {"session.diff", session.IDIn{ID: taken.ID}},
			{"session.revert", session.RevertIn{ID: s.ID}}, {"session.unrevert", session.IDIn{ID: taken.ID}},
			{"session.revert", session.RevertIn{ID: taken.ID}}, {"session.unrevert", session.IDIn{ID: s.ID}},
		} {
			if got := said(h, c, call.op, call.in); strings.Contains(got, word) {
				t.Errorf("%s of %s shows it: %.400s", call.op, name, got)
			}
		}
		if now := h.read("priv/p.txt"); now != before {
			t.Errorf("%s changed what is denied: %q", name, now)
		}
	}
	if got := said(h, s.Caller(), "session.diff", session.IDIn{ID: s.ID}); !strings.Contains(got, planted["a.txt"]) {
		t.Errorf("what nobody denied is gone from the diff: %s", got)
	}

	parent := h.session()
	look := `look [[tool read {"path":"priv/p.txt"}]] [[tool grep {"pattern":"canary"}]] [[tool bash {"command":"cat priv/* a.txt"}]] ` +
		`[[tool tandem {"op":"session.diff","input":{"id":"` + s.ID + `"}}]] [[result]]`
	prompt, err := json.Marshal(look)
	if err != nil {
		t.Fatal(err)
	}
	got := h.ask(local, parent, `[[tool task {"title":"look","prompt":`+string(prompt)+`,"tools":["*"]}]] [[result]]`)
	kids := h.children(parent)
	if len(kids) != 1 {
		t.Fatalf("%d children", len(kids))
	}
	for _, turn := range h.do(local, "session.turns", session.TurnIn{ID: kids[0].ID}).(session.TurnsOut).Turns {
		got += h.told(kids[0], turn)
	}
	if strings.Contains(got, word) {
		t.Errorf("a task shows it: %.600s", got)
	}
	if !strings.Contains(got, planted["a.txt"]) {
		t.Errorf("the task did not look: %.600s", got)
	}
}

func said(h *house, as op.Caller, name string, in any) string {
	out, err := h.try(as, name, in)
	all, _ := json.Marshal(out)
	return string(all) + fmt.Sprint(err)
}

// denies says whether policy denies a file to a caller.
func (h *house) denies(c op.Caller, name string) bool {
	h.t.Helper()
	sight, err := h.gate.Sight(op.WithCaller(h.t.Context(), c), "read")
	if err != nil {
		h.t.Fatal(err)
	}
	return sight.Of(h.dir + "/" + name).Hidden
}
