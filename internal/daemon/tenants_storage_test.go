package daemon

import (
	"slices"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/op"
	"tandem/internal/tenancy"
)

// A tenant that keeps as much as the house lets it is refused what keeps more, in every room, and goes on once something was deleted.
func TestATenantsStorageIsLimited(t *testing.T) {
	wards(t, func(w *ward) {
		var made identity.TenantOut
		w.present("tenant.create", map[string]any{"name": "acme", "owner": "ana"}, &made)
		_, err := w.enter(identity.PersonIn{Invite: made.Invite.Invite, Machine: "laptop"})
		w.must(err)
		ana := w.within(made.ID, "ana")
		for what, n := range map[string]int64{"less than nothing": -1, "the moon": 1 << 60} {
			w.refused(what, w.presents("tenant.limit", map[string]any{"name": "acme", "bytes": n}), fault.Invalid)
		}
		put := func(key string, bytes int) error {
			_, err := w.calls(ana, "resource.put", map[string]any{"key": key, "value": strings.Repeat("x", bytes)})
			return err
		}
		forget := func() { // as after some seconds
			w.rooms.scales.Forget()
		}
		w.must(put("plan/0", 10))
		say := func(name string, in map[string]any) error {
			in["id"] = "r"
			_, err := w.calls(ana, name, in)
			return err
		}
		w.must(say("context.start", map[string]any{"objective": "x"}))
		var shown identity.Tenant
		w.present("tenant.show", map[string]any{"name": "acme"}, &shown)
		base := shown.Use.Bytes
		if base < 500 || base > 100_000 {
			t.Fatalf("a new tenant keeps %d bytes", base)
		}
		w.present("tenant.limit", map[string]any{"name": "acme", "bytes": base + 50_000}, nil)

		// What is sent counts at once, before anything is weighed again. Bytes that a database packs are weighed as they lie there.
		refused := error(nil)
		n := 0
		for n = 1; n < 100 && refused == nil; n++ {
			refused = put("plan/"+string(rune('a'+n%26))+strings.Repeat("z", n/26), 5_000)
			if w.db.Name() == "sqlite" && refused == nil && n > 11 {
				t.Fatalf("after %d times 5000 bytes it is not full", n)
			}
			if w.db.Name() != "sqlite" && n > 60 {
				break
			}
		}
		if w.db.Name() == "sqlite" {
			w.refused("what is one too many", refused, fault.Exhausted)
			if !strings.Contains(refused.Error(), "the tenant acme keeps ") ||
				!strings.Contains(fault.Public(refused).Next, "tandem tenant limit acme") {
				t.Errorf("it is told %v, %s", refused, fault.Public(refused).Next)
			}
		}
		w.present("tenant.limit", map[string]any{"name": "acme", "bytes": base}, nil)
		w.refused("a word of a context run", say("context.append", map[string]any{"type": "x"}), fault.Exhausted)
		w.must(say("context.append", map[string]any{"type": "run_completed", "status": "completed"}))
		forget()
		for name, in := range map[string]map[string]any{"resource.put": {"key": "more", "value": "x"}, "session.create": {},
			"memory.propose": {"text": "the tests need docker", "where": "me"}, "secret.set": {"name": "key", "value": "x"},
			"board.add": {"title": "x"}} {
			_, err := w.calls(ana, name, in)
			if name == "board.add" || name == "memory.propose" || name == "secret.set" { // it may be refused for what it says before
				if err == nil {
					t.Errorf("%s is done in a tenant that is full", name)
				}
				continue
			}
			w.refused(name, err, fault.Exhausted)
		}
		for name, in := range map[string]map[string]any{"token.new": {"actor": "ana"},
			"grant.add": {"principal": "agent:x", "resource": "resource:/", "permissions": []string{"read"}},
			"group.add": {"name": "all", "members": []string{"ana"}}, "join.invite": {"person": "eve"}} {
			_, err := w.calls(ana, name, in)
			w.refused(name, err, fault.Exhausted)
		}
		// Whoever filled it can be stopped.
		_, err = w.calls(ana, "grant.add", map[string]any{"principal": "agent:x", "effect": "deny", "resource": "resource:/",
			"permissions": []string{"edit"}})
		w.must(err)
		_, err = w.calls(ana, "policy.edit", map[string]any{"rules": ""})
		w.must(err)
		w.present("resource.put", map[string]any{"key": "house", "value": "x"}, nil) // the house is not limited

		// Reading and deleting go on, and then there is room again.
		out, err := w.calls(ana, "resource.list", map[string]any{})
		w.must(err)
		if out == nil {
			t.Error("it reads nothing")
		}
		_, err = w.calls(ana, "resource.delete", map[string]any{"key": "plan/0"})
		w.must(err)
		w.present("tenant.limit", map[string]any{"name": "acme", "bytes": base + 1_000_000}, nil)
		w.must(put("again", 10))
		w.present("tenant.limit", map[string]any{"name": "acme", "bytes": 0}, nil)
		forget()
		w.must(put("ever", 10))
	})
}

// keepsNothing are the operations of those rooms that end, move or answer something, or by which somebody who was invited comes in and
// proves to be here: a tenant that is full still does them.
var keepsNothing = strings.Fields(`artifact.remove memory.demote memory.forget memory.model_clear memory.model_set
	context.remove context.transition memory.promote knowledge.close knowledge.deprecate
	knowledge.promote knowledge.remove resource.delete resource.sweep session.cancel session.checkout session.close session.confine
	session.delete session.discard session.follow session.hook session.interrupt session.keep session.open session.probe session.reap
	session.release session.revert session.skip session.take session.tool session.type session.unconfine session.unrevert
	session.unskip session.watch secret.delete secret.rotate secret.unmask space.changed space.hand_over space.inbox space.invite
	space.invite_close space.invite_open space.knock space.knock_next space.knock_reply space.leave space.rejoin space.release
	space.remote space.remove space.rename space.reserve space.revoke space.step_down space.surfaced space.sweep space.take_over
	automation.accept automation.cancel automation.changed automation.command automation.draft automation.hook automation.notice automation.off
	automation.on automation.pass automation.pause automation.remove automation.resume automation.retry automation.skip
	automation.tick pack.remove board.adopt board.archive
	board.cancel board.change board.claim board.depend board.expire board.handoff board.reopen
	board.take_back board.unclaim
	actor.disable approval.decide approval.decide_several approval.expire approval.forget assertion.key_revoke budget.set device.revoke
	grant.revoke group.remove join.enter join.redeem join.revoke oauth.clear oauth.exchange oauth.forget owner.hand_over owner.remove
	passkey.add passkey.remove person.back person.enter person.logout person.remove pin.set policy.edit provider.default provider.remove
	question.answer recovery.begin recovery.codes recovery.stop recovery.use signin.end signin.key signin.leave signin.link signin.start
	token.revoke`)

// What keeps bytes is decided of every operation of the rooms that keep any.
func TestWhatKeepsBytesIsDecided(t *testing.T) {
	d, _ := walked(t)
	rooms := strings.Fields("artifact context memory knowledge resource session secret space automation pack board actor approval assertion " +
		"budget device grant group join oauth owner passkey person pin policy provider question recovery signin token")
	for _, o := range d.gate.Table().All() {
		room, _, _ := strings.Cut(o.Name, ".")
		if !slices.Contains(rooms, room) || o.Class == op.ClassRead {
			continue
		}
		if in := slices.Contains(keepsNothing, o.Name); in == tenancy.KeepsBytes[o.Name] {
			t.Errorf("%s: it is said that it keeps bytes: %t, and that it does not: %t", o.Name, tenancy.KeepsBytes[o.Name], in)
		}
	}
	for name := range tenancy.KeepsBytes {
		if d.gate.Table().Get(name) == nil {
			t.Errorf("there is no operation %s", name)
		}
	}
}
