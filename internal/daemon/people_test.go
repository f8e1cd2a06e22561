package daemon

import (
	"testing"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// enter logs a person in with an invitation, as their machine does.
func (w *ward) enter(in identity.PersonIn) (identity.PersonOut, error) {
	ctx := w.t.Context()
	tenant, err := w.identity.InvitedTo(ctx, in.Invite)
	w.must(err)
	c, err := w.identity.Caller(ctx, tenant, identity.Newcomer, op.DoorHTTP)
	if err != nil {
		return identity.PersonOut{}, err
	}
	c.Source = "192.0.2.1"
	out, err := w.gate.Do(op.WithCaller(ctx, c), w.gate.Table().Get("person.enter"), in)
	got, _ := out.(identity.PersonOut)
	return got, err
}

// A person comes in by an invitation for them, as a terminal with everyday rights, whatever somebody writes into the database.
func TestAPersonComesIn(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		invite := func(in map[string]any) (out identity.InviteOut) {
			w.present("join.invite", in, &out)
			return out
		}
		machine, anna := invite(nil), invite(map[string]any{"person": "anna"})
		if _, err := w.enter(identity.PersonIn{Invite: machine.Invite, Machine: "laptop"}); !fault.Is(err, fault.Invalid) {
			t.Errorf("a person by a machine's invitation: %v", err)
		}
		w.sql("UPDATE invite SET person = 'owner' WHERE id = '" + anna.ID + "'")
		if _, err := w.enter(identity.PersonIn{Invite: anna.Invite, Machine: "laptop"}); !fault.Is(err, fault.Denied) {
			t.Errorf("by an invitation that somebody turned into the owner's: %v", err)
		}
		w.sql("UPDATE invite SET person = 'anna' WHERE id = '" + anna.ID + "'")
		got, err := w.enter(identity.PersonIn{Invite: anna.Invite, Machine: "laptop"})
		w.must(err)
		c, err := w.identity.Bearer(ctx, got.Secret, op.DoorHTTP)
		w.must(err)
		if c.Name != "anna-laptop" || c.Kind != op.Local || len(c.For) != 1 || c.For[0] != "person:anna" || c.Here() {
			t.Errorf("came in as %+v", c)
		}
		as := op.WithCaller(ctx, c)
		if _, err := w.gate.Invoke(as, "resource.list", nil); err != nil {
			t.Errorf("an everyday call: %v", err)
		}
		for name, in := range map[string]any{"token.new": map[string]any{"actor": "anna"}, "join.invite": nil,
			"pin.set": map[string]any{"pin": "271828"}, "signin.link": nil, "login.list": nil,
			"grant.add": map[string]any{"principal": "person:anna", "resource": "*", "permissions": []string{"read"}}} {
			if _, err := w.gate.Invoke(as, name, in); !fault.Is(err, fault.Denied) && !fault.Is(err, fault.NotFound) {
				t.Errorf("%s by a terminal elsewhere: %v", name, err)
			}
		}
		// A row that makes the terminal the person, or the owner's, is not what the journal knows.
		w.sql("UPDATE actor SET kind = 'person' WHERE name = 'anna-laptop'")
		if _, err := w.identity.Caller(ctx, c.Tenant, "anna-laptop", op.DoorHTTP); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("a terminal that somebody turned into a person: %v", err)
		}
		w.sql("UPDATE actor SET kind = 'local' WHERE name = 'anna-laptop'")
		_, err = w.gate.Invoke(as, "person.logout", nil)
		w.must(err)
		if _, err := w.identity.Bearer(ctx, got.Secret, op.DoorHTTP); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("after the logout: %v", err)
		}
		if said := w.finds(); said != "" {
			t.Errorf("verify says %s", said)
		}
	})
}
