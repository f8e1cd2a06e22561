package daemon

import (
	"encoding/json"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/session"
	"tandem/internal/testenv"
)

// A standing answer counts as long as its maker could give it: not after they were removed or disabled, nor once a rule names others. It
// once passed for thirty days whatever became of who made it.
func TestAStandingAnswerEndsWithItsMaker(t *testing.T) {
	wards(t, func(w *ward) {
		folder := testenv.Dir(t)
		w.present("folder.grant", session.FolderIn{Path: folder}, nil)
		var s session.Session
		w.must(w.Call(t.Context(), "session.create", session.CreateIn{Title: "work", Directory: folder}, &s))
		began, err := w.rooms.session.Get(t.Context(), "local", s.ID)
		w.must(err)
		w.must(w.rooms.session.Begun(t.Context(), began))
		writes := func() error {
			_, err := w.gate.Invoke(op.WithCaller(t.Context(), began.Caller()), "tool.write",
				session.CallIn{Session: s.ID, Args: json.RawMessage(`{"path":"a.txt","content":"x"}`)})
			return err
		}
		always := func(l *laptop) {
			t.Helper()
			err := writes()
			w.refused("before anybody answered", err, fault.Pending)
			a := l.sees(fault.Public(err).Data["approval"])
			_, err = l.does("approval.always", map[string]any{"id": a.ID, "digest": a.Digest, "pages": a.PageDigests(),
				"scope": approval.InFolder})
			w.refused(l.of.Person+" answers for ever", err)
			w.refused("with "+l.of.Person+"'s answer", writes())
		}
		anna, ben, eve := w.laptop("anna"), w.laptop("ben"), w.laptop("eve")
		always(anna)
		w.must(w.presents("person.remove", map[string]any{"name": "anna"}))
		w.refused("after anna was removed", writes(), fault.Pending)
		always(ben)
		w.must(w.presents("actor.disable", map[string]any{"name": "ben"}))
		w.refused("after ben was disabled", writes(), fault.Pending)
		var list approval.RulesOut
		w.present("approval.rules", nil, &list)
		if len(list.Rules) != 0 {
			t.Errorf("in force are said to be %+v", list.Rules)
		}
		always(eve)
		w.must(w.presents("policy.edit", map[string]any{"rules": `
@id("named") @ask @approvers("person:owner") forbid (principal is Session, action == Action::"edit", resource is Folder);`}))
		w.refused("after the rules named somebody else", writes(), fault.Pending)
		w.sound("after all that")
	})
}
