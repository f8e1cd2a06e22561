package daemon

import (
	"encoding/json"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// does calls an operation as the person, present by their machine's proof of this very call.
func (l *laptop) does(operation string, in any) (any, error) {
	l.w.t.Helper()
	body, err := json.Marshal(in)
	l.w.must(err)
	c, err := l.send(l.token, "/op/"+operation, l.sign(operation, l.nonce(), string(body)), string(body))
	if err != nil {
		return nil, err
	}
	return l.w.gate.Invoke(op.WithCaller(l.w.t.Context(), c), operation, json.RawMessage(body))
}

// presents calls an operation as the first person, present by their PIN.
func (w *ward) presents(name string, in any) error {
	return w.WithPIN("246813").Call(w.t.Context(), name, in, nil)
}

// refused says of which kinds an error may be; without one it has to be none.
func (w *ward) refused(what string, err error, want ...fault.Kind) {
	w.t.Helper()
	if len(want) == 0 {
		if err != nil {
			w.t.Errorf("%s: %v", what, err)
		}
		return
	}
	for _, k := range want {
		if fault.Is(err, k) {
			return
		}
	}
	w.t.Errorf("%s: %v, want %v", what, err, want)
}

// The first person alone owned the house, and nothing could change that. Ownership is shared and handed over by an owner who is present;
// the last one who can prove to be here stays, whichever way they try to go; and a row in the database makes nobody an owner.
func TestOwnershipIsSharedAndHandedOver(t *testing.T) {
	wards(t, func(w *ward) {
		anna := w.laptop("anna")
		name := func(n string) map[string]any { return map[string]any{"name": n} }
		owners := func() (out []string) {
			var list identity.PeopleOut
			w.present("person.list", nil, &list)
			for _, h := range list.People {
				if h.Owner {
					out = append(out, h.Name)
				}
			}
			return out
		}
		_, err := anna.does("owner.add", name("anna"))
		w.refused("a member makes herself an owner", err, fault.Denied, fault.NotFound)
		w.refused("a program shares ownership", w.Call(t.Context(), "owner.add", name("anna"), nil), fault.Denied)
		w.refused("nobody's name", w.presents("owner.add", name("nobody")), fault.NotFound)
		w.refused("the last owner goes", w.presents("owner.remove", name("owner")), fault.Conflict)
		w.refused("the first person leaves", w.presents("person.remove", name("owner")), fault.Invalid)
		w.must(w.presents("owner.add", name("anna")))
		w.refused("twice", w.presents("owner.add", name("anna")), fault.Conflict)
		if got := owners(); len(got) != 2 {
			t.Fatalf("the owners are %v", got)
		}
		_, err = anna.does("actor.add", map[string]any{"name": "hers", "kind": "agent"})
		w.refused("an owner adds an actor", err)
		w.refused("an owner is removed", w.presents("person.remove", name("anna")), fault.Conflict)
		w.refused("an owner is disabled", w.presents("actor.disable", name("anna")), fault.Conflict)

		// Handed over, the first person has everyday rights, and the last owner's last machine cannot be revoked.
		w.must(w.presents("owner.hand_over", name("anna")))
		if got := owners(); len(got) != 1 || got[0] != "anna" {
			t.Fatalf("after the handing over the owners are %v", got)
		}
		w.refused("who handed it over still grants", w.presents("owner.add", name("owner")), fault.Denied, fault.NotFound)
		w.refused("who handed it over still mints", w.presents("token.new", map[string]any{"actor": "hers"}), fault.Denied)
		_, err = anna.does("device.revoke", map[string]any{"id": anna.of.Device})
		w.refused("the last way in", err, fault.Conflict)
		c, err := w.identity.Bearer(t.Context(), anna.token, op.DoorHTTP)
		w.must(err)
		_, err = w.gate.Invoke(op.WithCaller(t.Context(), c), "person.logout", nil)
		w.refused("the last owner logs out", err, fault.Conflict)
		_, err = anna.does("owner.remove", name("anna"))
		w.refused("the last owner goes", err, fault.Conflict)
		w.sound("after the handing over")

		// Somebody who writes the first person back into the database is no owner, and neither is one where the rows are gone.
		w.again("UPDATE policy_rules SET boundary = replace(boundary, 'person:anna', 'person:owner')")
		w.refused("by a row that somebody wrote", w.presents("owner.add", name("owner")), fault.Denied, fault.NotFound, fault.Conflict)
		w.again("DELETE FROM policy_rules")
		w.refused("where the rows are gone", w.presents("owner.add", name("owner")), fault.Denied, fault.NotFound)
		if got := owners(); len(got) != 1 || got[0] != "anna" {
			t.Errorf("where the rows are gone the owners are %v", got)
		}
		_, err = anna.does("policy.edit", map[string]any{"rules": ""})
		w.refused("the owner mends it", err)
		_, err = anna.does("owner.hand_over", name("owner"))
		w.refused("and gives it back", err)
		w.must(w.presents("person.remove", name("anna")))
		w.sound("after it was given back")
	})
}
