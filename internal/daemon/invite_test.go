package daemon

import (
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
)

// An invitation for several machines lets in as many as the person said, whatever somebody writes into the database.
func TestAnInvitationForSeveral(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		join := func(name, from, invite string) error {
			c, err := w.identity.Caller(ctx, identity.LocalTenant, identity.Newcomer, op.DoorHTTP)
			w.must(err)
			c.Source = from
			_, err = w.gate.Do(op.WithCaller(ctx, c), w.gate.Table().Get("join.redeem"), identity.RedeemIn{Name: name, Invite: invite})
			return err
		}
		refused := func(what, invite string) {
			t.Helper()
			err, unknown := join("late", "192.0.2.9", invite), join("late", "192.0.2.9", "tdj_wrong")
			if !fault.Is(err, fault.Denied) || err.Error() != unknown.Error() {
				t.Errorf("%s: %v, and not what a wrong one is told: %v", what, err, unknown)
			}
		}
		made := func(uses int) (out identity.InviteOut) {
			w.present("join.invite", map[string]any{"uses": uses}, &out)
			return out
		}
		told, notices := w.identity.CameBy, 0
		w.identity.CameBy = func(tx *db.Tx, c identity.CameBy) error { notices++; return told(tx, c) }
		three := made(3)
		w.must(join("one", "192.0.2.1", three.Invite))
		w.must(join("two", "192.0.2.1", three.Invite))
		if notices != 1 {
			t.Errorf("of two machines from one address %d notices", notices)
		}
		w.must(join("three", "192.0.2.3", three.Invite))
		if notices != 2 {
			t.Errorf("of another address %d notices", notices)
		}
		refused("a fourth", three.Invite)
		var list identity.InvitesOut
		w.must(w.Call(ctx, "join.invites", nil, &list))
		if len(list.Invites) != 1 || list.Invites[0].Used != 3 ||
			len(list.Invites[0].Joined) != 3 || list.Invites[0].Joined[2].From != "192.0.2.3" {
			t.Errorf("listed: %+v", list.Invites[0])
		}
		if said := w.finds(); said != "" {
			t.Errorf("verify says %s", said)
		}
		w.sql("UPDATE invite SET used = 0")
		refused("one whose count was set back", three.Invite)
		w.told("the invitation " + three.ID)
		w.sql("UPDATE invite SET used = 3")

		ended, revoked, more := made(2), made(2), made(2)
		w.present("join.revoke", map[string]any{"id": revoked.ID}, nil)
		refused("a revoked one", revoked.Invite)
		w.sql("UPDATE invite SET revoked_at = 0 WHERE id = '"+revoked.ID+"'", "UPDATE invite SET uses = 99 WHERE id = '"+more.ID+"'",
			"UPDATE invite SET expires_at = 2 WHERE id = '"+ended.ID+"'")
		refused("a revoked one that was put back", revoked.Invite)
		refused("one for more than a person said", more.Invite)
		refused("one that ended", ended.Invite)
	})
}
