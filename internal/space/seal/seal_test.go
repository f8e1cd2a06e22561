package seal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func (r *room) seal(by *Identity, to *Card, seq uint64, text string) Envelope {
	r.t.Helper()
	e, err := r.key(by.card.ID).Seal(by, to, Envelope{
		Space: "spc_test", Seq: seq, ID: fmt.Sprintf("m_%d", seq), Class: "message", At: 1_700_000_000_000, Clear: []byte(`{"size":1}`),
	}, []byte(text))
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

func TestMembersOpenWhatAMemberSealed(t *testing.T) {
	r := newRoom(t, 4)
	r.reload()
	a, b, c := r.members[0], r.members[1], r.members[3]
	e := r.seal(a, nil, 1, "hello")
	for _, m := range r.members {
		got, err := r.key(m.card.ID).Open(m, a.card, nil, &e)
		if err != nil || string(got) != "hello" {
			t.Fatalf("%s read %q, %v", m.card.ID, got, err)
		}
	}
	direct := r.seal(a, &b.card, 2, "for b")
	if got, err := r.key(b.card.ID).Open(b, a.card, nil, &direct); err != nil || string(got) != "for b" {
		t.Fatalf("b read %q, %v", got, err)
	}
	if got, err := r.key(a.card.ID).Open(a, a.card, &b.card, &direct); err != nil || string(got) != "for b" {
		t.Fatalf("a reread %q, %v", got, err)
	}
	if _, err := r.key(c.card.ID).Open(c, a.card, nil, &direct); !errors.Is(err, ErrRefused) {
		t.Fatalf("c opened another's mail: %v", err)
	}
	// c holds the epoch key; even pretending to be the addressee it cannot derive the pair's key
	forged := direct
	forged.To = c.card.ID
	if _, err := r.key(c.card.ID).Open(c, a.card, nil, &forged); !errors.Is(err, ErrRefused) {
		t.Fatalf("c opened readdressed mail: %v", err)
	}
}

func TestPhraseAgreesAndChanges(t *testing.T) {
	r := newRoom(t, 3)
	p := r.groups[r.members[0].card.ID].Phrase()
	for _, m := range r.members {
		if q := r.groups[m.card.ID].Phrase(); q != p {
			t.Fatalf("phrases differ: %s, %s", p, q)
		}
	}
	r.join(r.members[2])
	if q := r.groups[r.members[0].card.ID].Phrase(); q == p || strings.Count(q, "-") != 3 {
		t.Fatalf("phrase after a join: %s, before %s", q, p)
	}
}

func TestARemovedMemberOpensNothingLater(t *testing.T) {
	r := newRoom(t, 4)
	a, gone := r.members[0], r.members[2]
	old := r.groups[gone.card.ID]
	oldKey := r.key(gone.card.ID)
	c, err := r.groups[a.card.ID].Remove(gone.card.ID)
	if err != nil {
		t.Fatal(err)
	}
	if next, err := old.Apply(c.Commit); !errors.Is(err, ErrRefused) || next != nil {
		t.Fatalf("the removed member followed its own removal: %v", err)
	}
	delete(r.groups, gone.card.ID)
	r.everybody(a.card.ID, c)
	later := r.seal(a, nil, 1, "after the removal")
	if _, err := oldKey.Open(gone, a.card, nil, &later); !errors.Is(err, ErrEpoch) {
		t.Fatalf("old key on new mail: %v", err)
	}
	// with the epoch number lied about, the key itself still fails
	lied := oldKey
	lied.Epoch = later.Epoch
	if _, err := lied.Open(gone, a.card, nil, &later); !errors.Is(err, ErrRefused) {
		t.Fatalf("old secret on new mail: %v", err)
	}
	if _, err := r.groups[a.card.ID].Remove(a.card.ID); !errors.Is(err, ErrRefused) {
		t.Fatalf("a member removed itself: %v", err)
	}
}

func TestANewcomerOpensNothingEarlier(t *testing.T) {
	r := newRoom(t, 2)
	a := r.members[0]
	before := r.seal(a, nil, 1, "before the join")
	late := r.join(a)
	k := r.key(late.card.ID)
	k.Epoch = before.Epoch
	if _, err := k.Open(late, a.card, nil, &before); !errors.Is(err, ErrRefused) {
		t.Fatalf("newcomer opened earlier mail: %v", err)
	}
}

func TestOneCommitAnEpoch(t *testing.T) {
	r := newRoom(t, 3)
	a, b := r.members[0], r.members[1]
	one, err := r.groups[a.card.ID].Refresh()
	if err != nil {
		t.Fatal(err)
	}
	two, err := r.groups[b.card.ID].Refresh()
	if err != nil {
		t.Fatal(err)
	}
	r.everybody(a.card.ID, one) // b drops its own offer and follows a's
	if _, err := r.groups[a.card.ID].Apply(two.Commit); !errors.Is(err, ErrEpoch) {
		t.Fatalf("a commit of a past epoch applied: %v", err)
	}
	e := r.seal(b, nil, 1, "still together")
	if got, err := r.key(a.card.ID).Open(a, b.card, nil, &e); err != nil || string(got) != "still together" {
		t.Fatalf("%q, %v", got, err)
	}
}

// Whatever single field is altered, host and member both notice.
func TestTamperingWithAnyFieldIsDetected(t *testing.T) {
	r := newRoom(t, 3)
	a, b := r.members[0], r.members[1]
	key := r.key(b.card.ID)
	fields := reflect.TypeOf(Envelope{}).NumField()
	rapid.Check(t, func(rt *rapid.T) {
		e := r.seal(a, nil, rapid.Uint64Range(1, 1<<40).Draw(rt, "seq"), rapid.StringN(0, 300, 900).Draw(rt, "text"))
		if err := e.Verify("spc_test", a.card); err != nil {
			rt.Fatal(err)
		}
		changed := e
		i := rapid.IntRange(0, fields-1).Draw(rt, "field")
		alter(rt, reflect.ValueOf(&changed).Elem().Field(i))
		if reflect.DeepEqual(changed, e) {
			return
		}
		if err := changed.Verify("spc_test", a.card); !errors.Is(err, ErrRefused) {
			rt.Fatalf("the host accepted a changed %s: %v", reflect.TypeOf(e).Field(i).Name, err)
		}
		if _, err := key.Open(b, a.card, nil, &changed); !errors.Is(err, ErrRefused) {
			rt.Fatalf("a member accepted a changed %s: %v", reflect.TypeOf(e).Field(i).Name, err)
		}
	})
}

func alter(rt *rapid.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.String().Draw(rt, "string"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.Int64().Draw(rt, "int"))
	case reflect.Uint64:
		v.SetUint(rapid.Uint64().Draw(rt, "uint"))
	case reflect.Slice:
		b := bytes.Clone(v.Bytes())
		switch n := rapid.IntRange(0, 2).Draw(rt, "how"); {
		case n == 0 && len(b) > 0:
			b[rapid.IntRange(0, len(b)-1).Draw(rt, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
		case n == 1 && len(b) > 0:
			b = b[:rapid.IntRange(0, len(b)-1).Draw(rt, "cut")]
		default:
			b = append(b, 0)
		}
		v.SetBytes(b)
	}
}

// A member cannot speak as another: even with the group key the signature is missing.
func TestMembersCannotForgeEachOther(t *testing.T) {
	r := newRoom(t, 3)
	a, b, c := r.members[0], r.members[1], r.members[2]
	e := r.seal(b, nil, 1, "I am a")
	e.From = a.card.ID
	e.Sig = b.Sign("envelope", e.signed())
	if _, err := r.key(c.card.ID).Open(c, a.card, nil, &e); !errors.Is(err, ErrRefused) {
		t.Fatalf("forgery accepted: %v", err)
	}
	card := a.card
	card.Sign = b.card.Sign
	if err := card.Check(); !errors.Is(err, ErrRefused) {
		t.Fatalf("an id with somebody else's key passed: %v", err)
	}
	unsigned := r.seal(a, nil, 1, "x")
	unsigned.Sig = nil
	if err := unsigned.Verify("spc_test", a.card); !errors.Is(err, ErrRefused) {
		t.Fatalf("unsigned accepted: %v", err)
	}
	unsealed := r.seal(a, nil, 1, "x")
	unsealed.Box = []byte("plain words")
	unsealed.Sig = a.Sign("envelope", unsealed.signed())
	if err := unsealed.Verify("spc_test", a.card); !errors.Is(err, ErrRefused) {
		t.Fatalf("unsealed accepted: %v", err)
	}
}

// Any reordering, repetition or hole in a sender's stream is noticed.
func TestReplayAndReorderAreDetected(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seqs := rapid.SliceOfN(rapid.Uint64Range(1, 6), 1, 8).Draw(rt, "seqs")
		w, want := Window{}, uint64(0)
		for _, s := range seqs {
			err := w.Advance("mem_x", s)
			if s == want+1 {
				if err != nil {
					rt.Fatalf("%v: %d refused: %v", seqs, s, err)
				}
				want++
			} else if !errors.Is(err, ErrOrder) {
				rt.Fatalf("%v: %d accepted after %d", seqs, s, want)
			}
		}
	})
}

func TestPaddingHidesLengthAndRoundTrips(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		in := rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(rt, "content")
		p := pad(in)
		if len(p)&(len(p)-1) != 0 || len(p) < 256 {
			rt.Fatalf("padded to %d", len(p))
		}
		out, err := unpad(p)
		if err != nil || !bytes.Equal(out, in) {
			rt.Fatalf("%v", err)
		}
	})
	if _, err := (EpochKey{Secret: make([]byte, 32)}).Seal(identity(t), nil, Envelope{}, make([]byte, MaxContent+1)); !errors.Is(err,
		ErrRefused) {
		t.Fatalf("64 KB limit: %v", err)
	}
}

func TestTagsAndWraps(t *testing.T) {
	k, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	first, again := k.Tag("var", "a"), k.Tag("var", "a")
	if first != again || first == k.Tag("path", "a") || first == other.Tag("var", "a") {
		t.Fatal("tags do not separate kinds and keys")
	}
	s, err := k.Wrap("snapshot", []byte("ctx"), []byte("board"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.Unwrap("snapshot", []byte("ctx"), s); err != nil || string(got) != "board" {
		t.Fatalf("%q %v", got, err)
	}
	for name, try := range map[string]func() error{
		"another key":     func() error { _, err := other.Unwrap("snapshot", []byte("ctx"), s); return err },
		"another label":   func() error { _, err := k.Unwrap("state", []byte("ctx"), s); return err },
		"another context": func() error { _, err := k.Unwrap("snapshot", []byte("c"), s); return err },
		"cut":             func() error { _, err := k.Unwrap("snapshot", []byte("ctx"), s[:9]); return err },
	} {
		if err := try(); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzForeignBytes(f *testing.F) {
	f.Add([]byte(`{"v":1}`))
	f.Add([]byte("tandem-join:e30"))
	me, err := NewIdentity()
	if err != nil {
		f.Fatal(err)
	}
	g, err := NewGroup(me, "spc_fuzz")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var e Envelope
		if json.Unmarshal(b, &e) == nil {
			if e.Verify("spc_fuzz", me.card) == nil {
				t.Fatal("foreign bytes verified")
			}
		}
		_, _ = ParseInvite(string(b))
		if _, err := g.Apply(b); err == nil {
			t.Fatal("foreign bytes applied as a commit")
		}
		if _, err := g.Add(b); err == nil {
			t.Fatal("foreign bytes added as a member")
		}
	})
}
