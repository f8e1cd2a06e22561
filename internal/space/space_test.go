package space

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/id"
	"tandem/internal/op"
	"tandem/internal/space/seal"
)

// desk is a host with one member's keys at hand.
type desk struct {
	t     *testing.T
	now   time.Time
	db    *db.DB
	room  *Room
	me    *seal.Identity
	group *seal.Group
	space string
	seq   uint64
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), space: id.New("spc")}
	var err error
	if d.db, err = db.Open(t.Context(), filepath.Join(t.TempDir(), "space.db"), func() time.Time { return d.now }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.db.Close() })
	if _, err := d.db.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	d.room = New(d.db, nil)
	if d.me, err = seal.NewIdentity(); err != nil {
		t.Fatal(err)
	}
	if d.group, err = seal.NewGroup(d.me, d.space); err != nil {
		t.Fatal(err)
	}
	err = d.write(func(ctx context.Context, tx *db.Tx) error {
		in := StartIn{Space: d.space, Card: d.me.Card(), Members: 2}
		in.Proof = Prove(d.me, "space.start", in, d.now)
		_, err := d.room.start(ctx, tx, in)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *desk) ctx() context.Context {
	return op.WithCaller(d.t.Context(), op.Caller{Tenant: "local", Actor: "a", Name: "a"})
}

func (d *desk) write(f func(context.Context, *db.Tx) error) error {
	ctx := d.ctx()
	return d.db.Write(ctx, func(tx *db.Tx) error { return f(ctx, tx) })
}

func (d *desk) post(e seal.Envelope) (a Accepted, err error) {
	err = d.write(func(ctx context.Context, tx *db.Tx) error {
		a, err = d.room.post(ctx, tx, PostIn{Envelope: &e})
		return err
	})
	return a, err
}

func (d *desk) seal(class, text string, clear any) seal.Envelope {
	d.t.Helper()
	d.seq++
	k, err := d.group.EpochKey()
	if err != nil {
		d.t.Fatal(err)
	}
	var c []byte
	if clear != nil {
		if c, err = json.Marshal(clear); err != nil {
			d.t.Fatal(err)
		}
	}
	e, err := k.Seal(d.me, nil, seal.Envelope{Space: d.space, Seq: d.seq, ID: fmt.Sprintf("m_%d", d.seq), Class: class, At: d.now.UnixMilli(),
		Clear: c}, []byte(text))
	if err != nil {
		d.t.Fatal(err)
	}
	return e
}

func (d *desk) refuse(name string, e seal.Envelope, kind fault.Kind, why string) {
	d.t.Helper()
	_, err := d.post(e)
	if err == nil || fault.KindOf(err) != kind || fault.Public(err).Data["reason"] != why {
		d.t.Errorf("%s: %v (%s)", name, err, fault.KindOf(err))
	}
}

func TestTheHostRefuses(t *testing.T) {
	d := newDesk(t)
	first := d.seal(ClassMessage, "one", nil)
	if _, err := d.post(first); err != nil {
		t.Fatal(err)
	}
	again, err := d.post(first)
	if err != nil || !again.Again || again.Seq != 2 {
		t.Fatalf("a retry: %+v, %v", again, err)
	}
	replay := first
	replay.ID = "m_other"
	d.refuse("an altered id", replay, fault.Invalid, "")
	hole := d.seal(ClassMessage, "two", nil)
	d.seq++
	d.refuse("a hole", d.seal(ClassMessage, "four", nil), fault.Conflict, "sequence")
	d.seq = 2
	if _, err := d.post(hole); err != nil {
		t.Fatal(err)
	}
	plain := d.seal(ClassMessage, "three", nil)
	plain.Box = []byte("in the clear")
	d.refuse("unsealed", plain, fault.Invalid, "")
	unsigned := d.seal(ClassMessage, "three", nil)
	unsigned.Sig = nil
	d.refuse("unsigned", unsigned, fault.Invalid, "")
	d.seq = 2
	other, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	k, err := d.group.EpochKey()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := k.Seal(other, nil, seal.Envelope{Space: d.space, Seq: 1, ID: "x", Class: ClassMessage}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.refuse("a stranger", stranger, fault.NotFound, "")
	k.Epoch = 7
	late, err := k.Seal(d.me, nil, seal.Envelope{Space: d.space, Seq: 3, ID: "late", Class: ClassMessage}, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.refuse("another epoch", late, fault.Conflict, "epoch")
	d.refuse("an unknown class", d.seal("gossip", "", nil), fault.Invalid, "")
}

func TestThirtyMessagesAMinute(t *testing.T) {
	d := newDesk(t)
	for i := range DefaultMessages {
		if _, err := d.post(d.seal(ClassMessage, fmt.Sprint(i), nil)); err != nil {
			t.Fatal(err)
		}
	}
	d.refuse("the thirty-first", d.seal(ClassMessage, "x", nil), fault.Exhausted, "rate")
	d.seq--
	d.now = d.now.Add(61 * time.Second)
	if _, err := d.post(d.seal(ClassMessage, "later", nil)); err != nil {
		t.Fatal(err)
	}
}

// Everything else has a limit too: a flood of findings, variables or tasks ends.
func TestAFloodEnds(t *testing.T) {
	d := newDesk(t)
	for i := range otherPerMinute {
		if _, err := d.post(d.seal(ClassFinding, fmt.Sprint(i), nil)); err != nil {
			t.Fatalf("%d: %v", i, err)
		}
	}
	d.refuse("one more", d.seal(ClassFinding, "x", nil), fault.Exhausted, "rate")
}

// Two members offer a commit for one epoch: the host takes one.
func TestOneCommitAnEpoch(t *testing.T) {
	d := newDesk(t)
	c, err := d.group.Refresh()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.post(d.seal(ClassCommit, "", CommitClear{Commit: c.Commit})); err != nil {
		t.Fatal(err)
	}
	d.refuse("the second commit", d.seal(ClassCommit, "", CommitClear{Commit: c.Commit}), fault.Conflict, "epoch")
}

func TestASpaceIsFull(t *testing.T) {
	d := newDesk(t)
	for i := range 2 {
		who, err := seal.NewIdentity()
		if err != nil {
			t.Fatal(err)
		}
		n, err := seal.NewNewcomer(who)
		if err != nil {
			t.Fatal(err)
		}
		c, err := d.group.Add(n.KeyPackage())
		if err != nil {
			t.Fatal(err)
		}
		e := d.seal(ClassCommit, "", CommitClear{Commit: c.Commit, Add: []seal.Card{who.Card()}})
		if i == 1 {
			d.refuse("the third member", e, fault.Exhausted, "full")
			break
		}
		if _, err := d.post(e); err != nil {
			t.Fatal(err)
		}
		d.group = c.Next
	}
}

// Any change to a stored entry shows in the chain.
func TestTheChainHolds(t *testing.T) {
	d := newDesk(t)
	for i := range 5 {
		if _, err := d.post(d.seal(ClassMessage, fmt.Sprint(i), nil)); err != nil {
			t.Fatal(err)
		}
	}
	pull := PullIn{Space: d.space}
	pull.Proof = Prove(d.me, "space.pull", pull, d.now)
	out, err := d.room.pull(d.ctx(), pull)
	if err != nil || len(out.Entries) != 6 {
		t.Fatalf("%d entries, %v", len(out.Entries), err)
	}
	follow := func(entries []*Entry) error {
		seq, hash := int64(0), ""
		for _, e := range entries {
			if err := e.Follow(seq, hash, 1); err != nil {
				return err
			}
			seq, hash = e.Seq, e.Hash
		}
		return nil
	}
	if err := follow(out.Entries); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(e []*Entry) []*Entry{
		"cut out":      func(e []*Entry) []*Entry { return append(e[:2:2], e[3:]...) },
		"swapped":      func(e []*Entry) []*Entry { e[2], e[3] = e[3], e[2]; return e },
		"another time": func(e []*Entry) []*Entry { e[2].At++; return e },
		"another box":  func(e []*Entry) []*Entry { e[2].Env.Box[9] ^= 1; return e },
		"other facts":  func(e []*Entry) []*Entry { e[0].Facts = []byte(`{}`); return e },
		"other class":  func(e []*Entry) []*Entry { e[2].Class = ClassVar; return e },
	} {
		var again []*Entry
		raw, err := json.Marshal(out.Entries)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(raw, &again); err != nil {
			t.Fatal(err)
		}
		if follow(spoil(again)) == nil {
			t.Errorf("%s went unnoticed", name)
		}
	}
	unsigned := Proof{V: proofVersion, Member: d.me.Card().ID, At: d.now.UnixMilli(), Sig: []byte("x")}
	if _, err := d.room.pull(d.ctx(), PullIn{Space: d.space, Proof: unsigned}); !fault.Is(err, fault.NotFound) {
		t.Errorf("a pull without proof: %v", err)
	}
}

// Five attempts a minute and invite; another invite is not touched by them.
func TestKnocksAreLimitedByInvite(t *testing.T) {
	d := newDesk(t)
	for _, plate := range []string{"AB", "CD"} {
		err := d.write(func(ctx context.Context, tx *db.Tx) error {
			in := InviteIn{Space: d.space, Plate: plate}
			in.Proof = Prove(d.me, "space.invite_open", in, d.now)
			_, err := d.room.invite(ctx, tx, in)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	who, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	knock := func(plate string) error {
		_, err := d.room.knock(d.ctx(), KnockIn{Plate: plate, SID: make([]byte, 16), Hello: make([]byte, 32), Card: who.Card()})
		return err
	}
	for range KnocksPerMinute {
		if err := knock("AB"); err != nil {
			t.Fatal(err)
		}
	}
	if err := knock("AB"); !fault.Is(err, fault.Exhausted) {
		t.Fatalf("the sixth knock: %v", err)
	}
	if err := knock("CD"); err != nil {
		t.Fatalf("another invite was locked out: %v", err)
	}
	for range KnocksPerMinute { // where no invite is open it is no different
		if err := knock("ZZ"); err != nil {
			t.Fatalf("an unknown code: %v", err)
		}
	}
	if err := knock("ZZ"); !fault.Is(err, fault.Exhausted) {
		t.Fatalf("the sixth knock where no invite is: %v", err)
	}
	if err := knock("no plate"); !fault.Is(err, fault.Invalid) {
		t.Fatalf("what is no plate: %v", err)
	}
}

// Whoever knocks at a plate, or at all of them, keeps nobody out who comes from elsewhere.
func TestKnocksAreLimitedBySource(t *testing.T) {
	d := newDesk(t)
	who, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	knock := func(source, plate string) error {
		ctx := op.WithCaller(t.Context(), op.Caller{Source: source})
		_, err := d.room.knock(ctx, KnockIn{Plate: plate, SID: make([]byte, 16), Hello: make([]byte, 32), Card: who.Card()})
		return err
	}
	letters := "ABCDEFGHJKMNPQRSTVWXYZ"
	knocked := 0
	for _, a := range letters {
		for _, b := range letters {
			for range KnocksPerMinute {
				if err := knock("10.0.0.1", string([]rune{a, b})); err == nil {
					knocked++
				}
			}
		}
	}
	if knocked != liveKnocks {
		t.Errorf("one source knocked %d times at once", knocked)
	}
	if err := knock("10.0.0.1", "AB"); !fault.Is(err, fault.Exhausted) {
		t.Errorf("the flood goes on: %v", err)
	}
	if err := knock("192.0.2.1", "AB"); err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
	for i := range maxKnocks / liveKnocks {
		for j := range liveKnocks {
			if err := knock(fmt.Sprintf("10.0.1.%d", i), string([]byte{letters[j/10], letters[j%10]})); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := knock("192.0.2.2", "AB"); err != nil {
		t.Errorf("in a full house: %v", err)
	}
	if n := len(d.room.knocks.all); n > maxKnocks || of(&d.room.knocks, "192.0.2.1") != 1 {
		t.Errorf("%d knocks are kept", n)
	}
}

// of counts a source's knocks that are under way.
func of(k *knocks, from string) int {
	n, _, _ := underWay{k}.From(from)
	return n
}

// A stranger could tell from the first answer which of the 1,024 plates are open invites. Where none is, the host answers as an
// inviter does who is guessed wrongly.
func TestEveryPlateAnswersAlike(t *testing.T) {
	d := newDesk(t)
	who, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	mine, err := json.Marshal(who.Card())
	if err != nil {
		t.Fatal(err)
	}
	var by []seal.Card
	for range 2 {
		h, err := seal.StartHandshake([]byte("ABCD"), seal.Invite{Plate: "ZZ"}.Channel(), mine)
		if err != nil {
			t.Fatal(err)
		}
		ticket, err := d.room.knock(d.ctx(), KnockIn{Plate: "ZZ", SID: h.SessionID(), Hello: h.Message(), Card: who.Card()})
		if err != nil {
			t.Fatal(err)
		}
		k, err := d.room.next(d.ctx(), NextIn{Knock: ticket.Knock, Wait: 5000})
		if err != nil || k.By.Check() != nil || k.Refused != "" {
			t.Fatalf("%+v %v", k, err)
		}
		theirs, err := json.Marshal(k.By)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Finish(k.Answer, theirs); err != nil {
			t.Fatalf("the answer is none: %v", err)
		}
		k, err = d.room.next(d.ctx(), NextIn{Knock: ticket.Knock, Confirm: h.Tag(), Offer: []byte("x"), Wait: 5000})
		if err != nil || k.Refused != NoInvite {
			t.Fatalf("%+v %v", k, err)
		}
		by = append(by, k.By)
	}
	if !by[0].Equal(by[1]) {
		t.Error("one plate has two inviters")
	}
}
