package seal

import (
	"crypto/ed25519"
	"encoding/hex"
	"testing"

	"github.com/gtank/ristretto255"
)

func ed25519FromSeed(b []byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(b) }

// keyPackageBody strips the MLSMessage framing (version, wire format) of a vector.
func keyPackageBody(b []byte) []byte { return b[4:] }

func draftSide(t *testing.T, ci, sid []byte, ad, scalar string, first bool) *Handshake {
	t.Helper()
	b, err := hex.DecodeString(scalar)
	if err != nil {
		t.Fatal(err)
	}
	y, err := ristretto255.NewScalar().SetCanonicalBytes(b)
	if err != nil {
		t.Fatal(err)
	}
	h, err := newHandshake([]byte("Password"), ci, sid, []byte(ad), y, first)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func identity(t *testing.T) *Identity {
	t.Helper()
	i, err := NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// room is a space with its members' groups, all at one epoch.
type room struct {
	t       *testing.T
	members []*Identity
	groups  map[MemberID]*Group
}

func newRoom(t *testing.T, n int) *room {
	t.Helper()
	r := &room{t: t, groups: map[MemberID]*Group{}}
	first := identity(t)
	g, err := NewGroup(first, "spc_test")
	if err != nil {
		t.Fatal(err)
	}
	r.members, r.groups[first.card.ID] = []*Identity{first}, g
	for len(r.members) < n {
		r.join(first)
	}
	return r
}

// everybody moves all but the committer and the removed to the committed epoch.
func (r *room) everybody(by MemberID, c Change) {
	r.t.Helper()
	for id, g := range r.groups {
		if id == by {
			r.groups[id] = c.Next
			continue
		}
		next, err := g.Apply(c.Commit)
		if err != nil {
			r.t.Fatal(err)
		}
		r.groups[id] = next
	}
}

func (r *room) join(by *Identity) *Identity {
	r.t.Helper()
	me := identity(r.t)
	n, err := NewNewcomer(me)
	if err != nil {
		r.t.Fatal(err)
	}
	state, err := n.Bytes()
	if err != nil {
		r.t.Fatal(err)
	}
	if n, err = OpenNewcomer(me, state); err != nil { // the wait may span a restart
		r.t.Fatal(err)
	}
	c, err := r.groups[by.card.ID].Add(n.KeyPackage())
	if err != nil {
		r.t.Fatal(err)
	}
	r.everybody(by.card.ID, c)
	g, err := n.Join(c.Welcome)
	if err != nil {
		r.t.Fatal(err)
	}
	r.members = append(r.members, me)
	r.groups[me.card.ID] = g
	return me
}

func (r *room) key(id MemberID) EpochKey {
	r.t.Helper()
	k, err := r.groups[id].EpochKey()
	if err != nil {
		r.t.Fatal(err)
	}
	return k
}

func (r *room) reload() {
	r.t.Helper()
	for id, g := range r.groups {
		again, err := OpenGroup(g.me, g.Bytes())
		if err != nil {
			r.t.Fatal(err)
		}
		r.groups[id] = again
	}
}

func mustScalar(t *testing.T) *ristretto255.Scalar {
	t.Helper()
	s, err := randomScalar()
	if err != nil {
		t.Fatal(err)
	}
	return s
}
