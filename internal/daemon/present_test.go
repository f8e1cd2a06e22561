package daemon

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"net/http/httptest"
	"testing"

	"tandem/internal/client"
	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/login/device"
	"tandem/internal/op"
)

// laptop is the machine of a person elsewhere: its token, and its key under their PIN.
type laptop struct {
	w      *ward
	token  string
	of     device.Of
	sealed device.Sealed
}

const annasPIN = "2718281828"

func (w *ward) laptop(person string) *laptop {
	w.t.Helper()
	var invited identity.InviteOut
	w.present("join.invite", map[string]any{"person": person}, &invited)
	public, private, err := device.Make()
	w.must(err)
	got, err := w.enter(identity.PersonIn{Invite: invited.Invite, Machine: "laptop", Key: base64.RawURLEncoding.EncodeToString(public)})
	w.must(err)
	l := &laptop{w: w, token: got.Secret, of: device.Of{Server: got.Server, Person: got.Person, Device: got.Device}}
	l.sealed, err = device.Seal(l.of, annasPIN, private)
	w.must(err)
	return l
}

// nonce is a number of the server for one answer.
func (l *laptop) nonce() string {
	l.w.t.Helper()
	c, err := l.w.identity.Bearer(l.w.t.Context(), l.token, op.DoorHTTP)
	l.w.must(err)
	out, err := l.w.gate.Invoke(op.WithCaller(l.w.t.Context(), c), "device.challenge", map[string]any{"device": l.of.Device})
	l.w.must(err)
	return out.(identity.ChallengeOut).Nonce
}

func (l *laptop) sign(operation, nonce, body string) string {
	l.w.t.Helper()
	signature, err := l.sealed.Sign(device.Act{Of: l.of, Operation: operation, Nonce: nonce, Input: []byte(body)}, annasPIN)
	l.w.must(err)
	return l.of.Device + " " + nonce + " " + base64.RawURLEncoding.EncodeToString(signature)
}

// send is whom the server takes a request for.
func (l *laptop) send(token, url, proof, body string) (op.Caller, error) {
	r := httptest.NewRequestWithContext(l.w.t.Context(), "POST", url, bytes.NewReader([]byte(body)))
	r.Header.Set("Authorization", "Bearer "+token)
	if proof != "" {
		r.Header.Set(client.DeviceHeader, proof)
	}
	return networkAuth(l.w.identity, false)(r)
}

const decide, verdict = "approval.decide", `{"id":"ask_1","decision":"approve"}`

// Whoever has the machine's token, and every file of it, is the machine and never the person: without the PIN nothing that they send
// counts as an answer, and neither does what the person signed once.
func TestTheMachineIsNotThePerson(t *testing.T) {
	wards(t, func(w *ward) {
		anna, bob := w.laptop("anna"), w.laptop("bob")
		if _, err := anna.sealed.Open(anna.of, "2718281829"); err == nil {
			t.Fatal("another PIN opens the key")
		}
		c, err := anna.send(anna.token, "/op/"+decide, anna.sign(decide, anna.nonce(), verdict), verdict)
		if err != nil || c.Name != "anna" || c.Kind != op.Person || c.Present != "device" || c.Device != anna.of.Device || len(c.For) != 0 {
			t.Fatalf("anna answers: %+v %v", c, err)
		}
		if c, err := anna.send(anna.token, "/op/"+decide, "", verdict); err != nil || c.Kind != op.Local || c.Present != "" {
			t.Errorf("with the token alone: %+v %v", c, err)
		}
		used := anna.nonce()
		once := anna.sign(decide, used, verdict)
		_, err = anna.send(anna.token, "/op/"+decide, once, verdict)
		w.must(err)
		_, private, err := device.Make()
		w.must(err)
		act := device.Act{Of: anna.of, Operation: decide, Nonce: anna.nonce(), Input: []byte(verdict)}
		own := base64.RawURLEncoding.EncodeToString(ed25519.Sign(private, []byte(act.Nonce)))
		for what, try := range map[string]func() (op.Caller, error){
			"the same once more": func() (op.Caller, error) { return anna.send(anna.token, "/op/"+decide, once, verdict) },
			"another answer": func() (op.Caller, error) {
				return anna.send(anna.token, "/op/"+decide, anna.sign(decide, anna.nonce(), verdict), `{"id":"ask_2","decision":"approve"}`)
			},
			"another operation": func() (op.Caller, error) {
				return anna.send(anna.token, "/op/token.new", anna.sign(decide, anna.nonce(), verdict), verdict)
			},
			"a number of her own": func() (op.Caller, error) {
				return anna.send(anna.token, "/op/"+decide, anna.sign(decide, "abcdefgh", verdict), verdict)
			},
			"a key of one's own": func() (op.Caller, error) {
				return anna.send(anna.token, "/op/"+decide, anna.of.Device+" "+act.Nonce+" "+own, verdict)
			},
			"by another's token": func() (op.Caller, error) {
				return anna.send(bob.token, "/op/"+decide, anna.sign(decide, anna.nonce(), verdict), verdict)
			},
			"for another's device": func() (op.Caller, error) {
				return anna.send(anna.token, "/op/"+decide, bob.sign(decide, bob.nonce(), verdict), verdict)
			},
			"with more beside it": func() (op.Caller, error) {
				return anna.send(anna.token, "/op/"+decide+"?id=ask_2", anna.sign(decide, anna.nonce(), verdict), verdict)
			},
			"by another route": func() (op.Caller, error) {
				return anna.send(anna.token, "/approval/ask_1/decide", anna.sign(decide, anna.nonce(), verdict), verdict)
			},
			"a word": func() (op.Caller, error) { return anna.send(anna.token, "/op/"+decide, "yes", verdict) },
		} {
			if c, err := try(); err == nil || c.Present != "" || c.Kind == op.Person {
				t.Errorf("%s counts: %+v %v", what, c, err)
			}
		}
		// Wrong ones are bounded and told; what she signs counts all the same.
		var last error
		for range 6 {
			_, last = anna.send(anna.token, "/op/"+decide, once, verdict)
		}
		if !fault.Is(last, fault.Exhausted) {
			t.Errorf("after many wrong proofs: %v", last)
		}
		if _, err := anna.send(anna.token, "/op/"+decide, anna.sign(decide, anna.nonce(), verdict), verdict); err != nil {
			t.Errorf("wrong proofs keep her out: %v", err)
		}
		var log struct{ Entries []struct{ Type string } }
		w.must(w.Call(t.Context(), "audit.log", map[string]any{"type": "device.wrong"}, &log))
		if len(log.Entries) == 0 || len(log.Entries) > 20 {
			t.Errorf("%d wrong proofs are in the journal", len(log.Entries))
		}
	})
}

// Whoever writes to the server's database answers for nobody: a device is what the journal vouches for.
func TestARowOfADeviceAnswersForNobody(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		anna, bob := w.laptop("anna"), w.laptop("bob")
		tries := func() error {
			_, err := anna.send(anna.token, "/op/"+decide, anna.sign(decide, anna.nonce(), verdict), verdict)
			return err
		}
		w.must(tries())
		refused := func(what string, err error) {
			t.Helper()
			if !fault.Is(err, fault.Denied) {
				t.Errorf("%s: %v", what, err)
			}
		}
		prove := func(l *laptop) error { // with a number that was given before the row was changed
			nonce := l.nonce()
			w.sql("UPDATE device SET public_key = (SELECT public_key FROM device WHERE id = '" + bob.of.Device + "') WHERE id = '" +
				anna.of.Device + "'")
			key, err := bob.sealed.Open(bob.of, annasPIN)
			w.must(err)
			l.sealed, err = device.Seal(l.of, annasPIN, key)
			w.must(err)
			_, err = l.send(l.token, "/op/"+decide, l.sign(decide, nonce, verdict), verdict)
			return err
		}
		kept := anna.sealed
		refused("another key in her row", prove(anna))
		w.told("the device " + anna.of.Device)
		anna.sealed = kept
		w.again()
		c, err := w.identity.Bearer(ctx, anna.token, op.DoorHTTP)
		w.must(err)
		_, err = w.gate.Invoke(op.WithCaller(ctx, c), "device.challenge", map[string]any{"device": anna.of.Device})
		refused("a number for it after a start", err)

		// A device of bob's terminal that answers for the owner.
		w.sql("UPDATE device SET actor = 'act_owner' WHERE id = '" + bob.of.Device + "'")
		c, err = w.identity.Bearer(ctx, bob.token, op.DoorHTTP)
		w.must(err)
		_, err = w.gate.Invoke(op.WithCaller(ctx, c), "device.challenge", map[string]any{"device": bob.of.Device})
		refused("a device that was given to the owner", err)
	})
}

// A person who is removed has nothing left within the call: no token, no device, no session's next step; they come back by a new
// invitation, and what ended stays ended.
func TestWhoLeavesHasNothingLeft(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		anna, bob := w.laptop("anna"), w.laptop("bob")
		c, err := w.identity.Bearer(ctx, anna.token, op.DoorHTTP)
		w.must(err)
		nonce := anna.nonce()
		session := op.Caller{Tenant: c.Tenant, Actor: "ses_1", Name: "ses_1", Kind: op.Session, For: []string{"local:" + c.Name, "person:anna"}}
		w.must(w.identity.Still(ctx, session))
		present := func(l *laptop) op.Caller {
			c, err := l.send(l.token, "/op/"+decide, l.sign(decide, l.nonce(), verdict), verdict)
			w.must(err)
			return c
		}
		here := present(anna)
		_, err = w.gate.Invoke(op.WithCaller(ctx, here), "device.revoke", map[string]any{"id": bob.of.Device})
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("anna revokes bob's device: %v", err)
		}
		if _, err := w.gate.Invoke(op.WithCaller(ctx, here), "person.remove", map[string]any{"name": "bob"}); !fault.Is(err, fault.Denied) {
			t.Errorf("anna removes bob: %v", err)
		}
		if err := w.WithPIN("246813").Call(ctx, "person.remove", map[string]any{"name": "owner"}, nil); !fault.Is(err, fault.Invalid) {
			t.Errorf("the owner leaves: %v", err)
		}
		w.present("person.remove", map[string]any{"name": "anna"}, nil)
		for what, err := range map[string]error{"the token": w.bearer(anna.token), "a session of hers": w.identity.Still(ctx, session),
			"who was let in": w.identity.Still(ctx, here)} {
			if !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s after anna left: %v", what, err)
			}
		}
		if _, err := w.identity.ProveDevice(ctx, c, identity.Proof{Device: anna.of.Device, Nonce: nonce}); !fault.Is(err, fault.Denied) {
			t.Errorf("her device answers: %v", err)
		}
		present(bob)
		back := w.laptop("anna")
		if present(back).Actor != here.Actor {
			t.Error("who came back is somebody else")
		}
		if err := w.bearer(anna.token); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the old token came back: %v", err)
		}
		// A lost machine is ended by its person from another one.
		if _, err := w.gate.Invoke(op.WithCaller(ctx, present(bob)), "device.revoke", map[string]any{"id": bob.of.Device}); err != nil {
			t.Errorf("bob revokes his own: %v", err)
		}
		if err := w.bearer(bob.token); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the token of a revoked machine: %v", err)
		}
		w.sql("UPDATE device SET revoked_at = 0", "UPDATE token SET revoked_at = 0", "UPDATE actor SET disabled_at = 0")
		for what, secret := range map[string]string{"anna's": anna.token, "bob's": bob.token} {
			if err := w.bearer(secret); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s token that somebody put back: %v", what, err)
			}
		}
		w.told("the device " + bob.of.Device)
	})
}
