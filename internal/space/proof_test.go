package space

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// A proof covered the operation's name and the space alone, and its time was not looked at: whoever saw one call, such as a tunnel, could
// make another of it, at any time.
func TestAProofIsForOneCallAndATime(t *testing.T) {
	d := newDesk(t)
	open := InviteIn{Space: d.space, Plate: "AB", TTL: time.Hour.Milliseconds()}
	open.Proof = Prove(d.me, "space.invite_open", open, d.now)
	try := func(in InviteIn) error {
		return d.write(func(ctx context.Context, tx *db.Tx) error {
			_, err := d.room.invite(ctx, tx, in)
			return err
		})
	}
	for name, change := range map[string]func(*InviteIn){
		"another plate":  func(in *InviteIn) { in.Plate = "CD" },
		"a longer life":  func(in *InviteIn) { in.TTL *= 2 },
		"another time":   func(in *InviteIn) { in.Proof.At++ },
		"a pull's proof": func(in *InviteIn) { in.Proof = Prove(d.me, "space.pull", *in, d.now) },
	} {
		in := open
		change(&in)
		if err := try(in); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	old := open
	old.Proof.V = 0
	if err := try(old); !fault.Is(err, fault.Invalid) || fault.Public(err).Data["reason"] != "version" {
		t.Errorf("a proof of the first version: %v", err)
	}
	for _, apart := range []time.Duration{-maxSkew - time.Second, maxSkew + time.Second} {
		open.Proof = Prove(d.me, "space.invite_open", open, d.now.Add(apart))
		if err := try(open); !fault.Is(err, fault.Unavailable) || fault.Public(err).Data["reason"] != "clock" {
			t.Errorf("%s apart: %v", apart, err)
		}
	}
	open.Proof = Prove(d.me, "space.invite_open", open, d.now.Add(maxSkew-time.Second))
	if err := try(open); err != nil {
		t.Errorf("within the skew: %v", err)
	}
}

// From afar the arguments are JSON that a member wrote: it is read as what was signed, or not at all.
func TestAProofFromAfar(t *testing.T) {
	d := newDesk(t)
	in := PullIn{Space: d.space, Since: 0, Limit: 3}
	in.Proof = Prove(d.me, "space.pull", in, d.now)
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.room.check(d.ctx(), "local", d.space, "space.pull", in.Proof, json.RawMessage(raw)); err != nil {
		t.Errorf("as it was written: %v", err)
	}
	for _, other := range []string{strings.Replace(string(raw), `"limit":3`, `"limit":4`, 1),
		strings.Replace(string(raw), `{`, `{"terms":true,`, 1), `[]`, `null`, `{}`} {
		if _, err := d.room.check(d.ctx(), "local", d.space, "space.pull", in.Proof, json.RawMessage(other)); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", other, err)
		}
	}
}

// A host refuses the word of a member who saw another history, so that nobody can make the others take it for a liar.
func TestTheHostRefusesAnotherHistory(t *testing.T) {
	d := newDesk(t)
	first := d.seal(ClassMessage, "one", nil)
	a, err := d.post(first)
	if err != nil {
		t.Fatal(err)
	}
	seen := func(n int64, hash string) error {
		d.t.Helper()
		k, err := d.group.EpochKey()
		if err != nil {
			t.Fatal(err)
		}
		e := d.seal(ClassMessage, "", nil)
		e.SeenSeq, e.Seen = n, hash
		if e, err = k.Seal(d.me, nil, e, []byte("two")); err != nil {
			t.Fatal(err)
		}
		if _, err = d.post(e); err != nil {
			d.seq--
		}
		return err
	}
	for n, hash := range map[int64]string{a.Seq: strings.Repeat("0", 64), a.Seq + 1: a.Hash, 1: a.Hash} {
		if err := seen(n, hash); !fault.Is(err, fault.Conflict) || fault.Public(err).Data["reason"] != "seen" {
			t.Errorf("entry %d as %.8s: %v", n, hash, err)
		}
	}
	if err := seen(a.Seq, a.Hash); err != nil {
		t.Error(err)
	}
	if err := seen(a.Seq, a.Hash); err != nil {
		t.Errorf("an entry before the last: %v", err)
	}
}
