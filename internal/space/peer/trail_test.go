package peer

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/space"
)

// A host that showed one member two entries in another order than the others was found out only when people compared hashes. What a
// member says names the last entry that it saw, so the next word of anybody shows it.
func TestAForkShows(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob", "cy")
	do[Said](h, "ann", "space.send", SendIn{Type: "chat", Message: "first"})
	do[Said](h, "bob", "space.send", SendIn{Type: "chat", Message: "second"})
	for _, who := range []string{"ann", "bob", "cy"} {
		do[Inbox](h, who, "space.inbox", InboxIn{})
		do[Verified](h, who, "space.verify", nil)
	}
	// In cy's copy of the log the two messages change places, and the chain is made anew: a host can do that.
	ann, cy := h.seat("ann"), h.seat("cy")
	cy.mu.Lock() // to the end: it follows nothing by itself
	defer cy.mu.Unlock()
	entries, err := h.peers.entries(t.Context(), cy)
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for i, e := range entries {
		if e.Class == space.ClassMessage && at < 0 {
			at = i
		}
	}
	entries[at].Env, entries[at+1].Env = entries[at+1].Env, entries[at].Env
	err = h.db.Write(t.Context(), func(tx *db.Tx) error {
		if err := errors.Join(h.peers.split(tx, cy, cy.seq), h.peers.saveSeat(tx, cy)); err != nil { // the others keep theirs
			return err
		}
		for _, e := range entries[at:] {
			e.Hash = e.Chain(entries[e.Seq-2].Hash)
			text, err := json.Marshal(e)
			if err != nil {
				return err
			}
			env := fmt.Sprintf("moved/%d", e.Seq)
			if _, err := tx.Exec("UPDATE peer_log SET entry = ?, env = ?, hash = ? WHERE line = ? AND seq = ?", string(text), env, e.Hash,
				cy.log, e.Seq); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = h.peers.reload(t.Context(), cy)
	}
	if err != nil {
		t.Fatal(err)
	}
	// The host goes on with that history for cy; here its next entry is made to follow it.
	do[Said](h, "ann", "space.send", SendIn{Type: "chat", Message: "third"})
	ann.mu.Lock()
	all, err := h.peers.entries(t.Context(), ann)
	ann.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	next := *all[cy.seq]
	next.Hash = next.Chain(cy.hash)
	err = h.peers.follow(t.Context(), cy, []*space.Entry{&next})
	if !fault.Is(err, fault.Conflict) || cy.state != broken {
		t.Fatalf("the seat is %s: %v", cy.state, err)
	}
	h.contains(cy.why, "the host shows two histories", "ann")
}

// seat is the seat of the member of that name.
func (h *house) seat(name string) *seat {
	h.t.Helper()
	h.peers.mu.Lock()
	all := slices.Collect(maps.Values(h.peers.seats))
	h.peers.mu.Unlock()
	for _, s := range all {
		s.mu.Lock()
		found := s.name(s.me.Card().ID) == name
		s.mu.Unlock()
		if found {
			return s
		}
	}
	h.t.Fatalf("%s has no seat", name)
	return nil
}
