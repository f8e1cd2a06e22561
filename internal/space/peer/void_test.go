package peer

import (
	"crypto/rand"
	"errors"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/space"
	"tandem/internal/space/seal"
)

// post says something of a member's own making to the host, as a hostile program with that member's keys does.
func (h *house) post(who string, t thing) {
	h.t.Helper()
	s := h.seat(who)
	s.mu.Lock()
	defer s.mu.Unlock()
	clear, err := asJSON(t.clear)
	if err != nil {
		h.t.Fatal(err)
	}
	env, err := s.seal(t, clear, nil, h.db.Now().UnixMilli())
	if err != nil {
		h.t.Fatal(err)
	}
	var a space.Accepted
	if err := s.link.call(h.t.Context(), "space.post", space.PostIn{Envelope: &env}, &a); err != nil {
		h.t.Fatal(err)
	}
	s.said = env.Seq
}

// A member's commit that is no commit moved the host to the next epoch and stopped every seat of the space for good. It is skipped now,
// its sender named and removable; what it claimed about members is undone by whoever keeps the space.
func TestACommitThatDoesNotHoldStopsNobody(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob", "cy")
	noise := make([]byte, 400)
	rand.Read(noise)
	puppet, err := seal.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	cy := h.seat("cy")
	cy.mu.Lock()
	valid, err := cy.group.Refresh()
	cut := valid.Commit[:len(valid.Commit)-7]
	bent := append([]byte(nil), valid.Commit...)
	bent[len(bent)/2] ^= 1
	cy.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []space.CommitClear{{Commit: noise}, {Commit: cut}, {Commit: bent},
		{Commit: valid.Commit, Add: []seal.Card{puppet.Card()}}} {
		h.post("cy", thing{id: "env_void_" + string(rune('a'+i)), class: space.ClassCommit, clear: c})
		do[Said](h, "ann", "space.send", SendIn{Type: "chat", Message: "after a commit of cy's"})
		h.contains(do[Inbox](h, "bob", "space.inbox", InboxIn{}).Text, "after a commit of cy's")
		do[Said](h, "bob", "space.send", SendIn{Type: "chat", Message: "and back"})
		h.contains(do[Inbox](h, "ann", "space.inbox", InboxIn{}).Text, "and back")
	}
	h.contains(do[Peers](h, "bob", "space.peers", nil).Text, "\ncy", "sent 4 that do not open")

	// whoever comes now counts as the others do
	do[Who](h, "dan", "space.rename", RenameIn{Name: "dan"})
	do[Joined](h, "dan", "space.join", JoinIn{Code: do[Invited](h, "bob", "space.invite", InviteIn{}).Code})
	do[Said](h, "dan", "space.send", SendIn{Type: "chat", Message: "new here"})
	h.contains(do[Inbox](h, "ann", "space.inbox", InboxIn{}).Text, "new here")

	// the puppet is a member for the host alone: what it says opens for nobody, and the keeper puts both out
	do[Said](h, "ann", "space.remove", RemoveIn{Peer: string(puppet.Card().ID)})
	do[Said](h, "ann", "space.remove", RemoveIn{Peer: "cy"})
	h.refused("cy", "space.send", SendIn{Type: "chat", Message: "still here?"}, fault.Denied)
	h.restart()
	do[Said](h, "dan", "space.send", SendIn{Type: "chat", Message: "we three"})
	for _, who := range []string{"ann", "bob"} {
		h.contains(do[Inbox](h, who, "space.inbox", InboxIn{}).Text, "we three")
		do[Verified](h, who, "space.verify", nil)
	}
}

// A removal that did not hold leaves its member in the group, and somebody who stays puts it out.
func TestARemovalThatDidNotHoldIsDoneAgain(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob", "cy")
	cy := h.seat("cy").me.Card().ID
	h.post("ann", thing{id: "env_void", class: space.ClassCommit, clear: space.CommitClear{Commit: []byte("no"), Remove: []seal.MemberID{cy}}})
	bob := h.seat("bob")
	eventually(t, "the removal", func() bool {
		bob.mu.Lock()
		defer bob.mu.Unlock()
		in, err := bob.group.Has(cy)
		return err == nil && !in
	})
	do[Said](h, "bob", "space.send", SendIn{Type: "chat", Message: "we two"})
	h.contains(do[Inbox](h, "ann", "space.inbox", InboxIn{}).Text, "we two")
}

// Only the keeper of a space removes others, and a host that lets somebody else's removal through is not believed: neither by those who
// stay nor by the one that would be out. That one once took any member's word for it.
func TestWhoMayNotRemoveRemovesNobody(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob", "cy")
	bob := h.seat("bob").me.Card().ID
	removal := func(by string) *space.Entry {
		s := h.seat(by)
		s.mu.Lock()
		defer s.mu.Unlock()
		change, err := s.group.Remove(bob)
		if err != nil {
			t.Fatal(err)
		}
		clear, err := asJSON(space.CommitClear{Commit: change.Commit, Remove: []seal.MemberID{bob}})
		if err != nil {
			t.Fatal(err)
		}
		env, err := s.seal(thing{id: "env_" + by, class: space.ClassCommit}, clear, nil, h.db.Now().UnixMilli())
		if err != nil {
			t.Fatal(err)
		}
		return &space.Entry{Seq: 99, Env: &env}
	}
	for _, who := range []string{"bob", "ann"} {
		e, s := removal("cy"), h.seat(who)
		s.mu.Lock()
		err := s.move(e)
		s.mu.Unlock()
		if err == nil || errors.Is(err, errRemoved) {
			t.Errorf("%s believes it: %v", who, err)
		}
	}
	e, s := removal("ann"), h.seat("bob")
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.move(e); !errors.Is(err, errRemoved) {
		t.Errorf("by who may: %v", err)
	}
}
