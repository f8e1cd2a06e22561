package peer

import (
	"encoding/json"
	"testing"

	"tandem/internal/db"
	"tandem/internal/space"
)

// behind is bob's seat, held where it is, which the others' line has left behind by a word of ann's.
func behind(t *testing.T) (h *house, cy, bob *seat) {
	t.Helper()
	h = newHouse(t)
	seated(h, "ann", "bob", "cy")
	bob, cy = h.seat("bob"), h.seat("cy")
	bob.mu.Lock()
	t.Cleanup(bob.mu.Unlock) // before the house stops
	h.peers.fresh(t.Context(), bob)
	do[Said](h, "ann", "space.send", SendIn{Type: "chat", Message: "for all"})
	do[Inbox](h, "cy", "space.inbox", InboxIn{})
	return h, cy, bob
}

// A take-over that another seat filed is not taken in from the line: the seat would be of the new term and stay with the old host.
func TestATakeOverIsShownByAHost(t *testing.T) {
	h, cy, bob := behind(t)
	cy.mu.Lock()
	defer cy.mu.Unlock()
	h.peers.fresh(t.Context(), cy)
	clear, err := json.Marshal(space.TakeOverClear{Term: 2, Seq: cy.seq, Hash: cy.hash})
	if err != nil {
		t.Fatal(err)
	}
	env, err := cy.seal(thing{id: "env_takeover", class: space.ClassTakeOver}, clear, nil, h.db.Now().UnixMilli())
	if err != nil {
		t.Fatal(err)
	}
	e := &space.Entry{Seq: cy.seq + 1, Term: 2, Class: space.ClassTakeOver, At: h.db.Now().UnixMicro(), Env: &env}
	e.Hash = e.Chain(cy.hash)
	err = h.db.Write(t.Context(), func(tx *db.Tx) error {
		_, err := h.peers.put(tx, cy, e)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	read, err := h.peers.openSeat(t.Context(), bob.tenant, bob.id)
	if err != nil {
		t.Fatal(err)
	}
	if read.seq != cy.seq || read.term != 1 {
		t.Errorf("it is at entry %d of term %d, the take-over is entry %d", read.seq, read.term, e.Seq)
	}
	if err := h.peers.follow(t.Context(), read, []*space.Entry{e}); err != nil || read.term != 2 || read.saved != e.Seq || read.log != cy.log {
		t.Errorf("at entry %d of term %d, saved with %d, on %s: %v", read.seq, read.term, read.saved, read.log, err)
	}
}

// What a running seat takes in when it is read again calls for as much as if the host had shown it, once.
func TestASeatReadAgainHears(t *testing.T) {
	h, _, bob := behind(t)
	seq, unread, wakes := bob.seq, bob.unread.n, len(bob.wakes.fresh)
	for range 2 {
		if err := h.peers.reload(t.Context(), bob); err != nil {
			t.Fatal(err)
		}
		if bob.seq == seq || bob.unread.n != unread+1 || len(bob.wakes.fresh) != wakes+1 {
			t.Fatalf("from %d to entry %d, %d unread after %d, %d wakes after %d", seq, bob.seq, bob.unread.n, unread, len(bob.wakes.fresh), wakes)
		}
	}
}

// A seat that is ahead of the disk saves nothing and is read again before it asks for more. A line with a hole is nobody's history.
func TestASeatAheadOfTheDisk(t *testing.T) {
	h, _, bob := behind(t)
	h.peers.fresh(t.Context(), bob)
	seq := bob.seq
	bob.seq, bob.reread = seq+3, true
	if err := h.db.Write(t.Context(), func(tx *db.Tx) error { return h.peers.saveSeat(tx, bob) }); err == nil {
		t.Error("it was saved")
	}
	if why := h.peers.fresh(t.Context(), bob); why != "" || bob.seq != seq || bob.reread {
		t.Errorf("at entry %d after %d: %s", bob.seq, seq, why)
	}
	err := h.db.Write(t.Context(), func(tx *db.Tx) error {
		if err := h.peers.saveSeat(tx, bob); err != nil {
			return err
		}
		_, err := tx.Exec("DELETE FROM peer_log WHERE line = ? AND seq = 2", bob.log)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := h.peers.openSeat(t.Context(), bob.tenant, bob.id); err == nil {
		t.Errorf("it was read as far as entry %d", s.seq)
	}
}

// A seat that goes back to where another history of this machine goes on takes that line, and no copy.
func TestAForkTakesTheLineThatIsThere(t *testing.T) {
	h, _, bob := behind(t)
	h.peers.fresh(t.Context(), bob)
	entries, err := h.peers.entries(t.Context(), bob)
	if err != nil {
		t.Fatal(err)
	}
	last, all := len(entries)-1, h.count("SELECT count(*) FROM peer_log")
	if err := h.peers.rewind(t.Context(), bob, entries[last-1], entries[last:], entries[last:]); err != nil {
		t.Fatal(err)
	}
	if n := h.count("SELECT count(*) FROM peer_log"); n != all || bob.seq != entries[last].Seq {
		t.Errorf("%d entries after %d, at %d", n, all, bob.seq)
	}
}
