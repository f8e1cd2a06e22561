package peer

import (
	"testing"

	"tandem/internal/space"
)

// A group's secret was used for as long as nobody came or went: a key that leaked once opened all that was said for months.
func TestAnOldSecretIsRenewed(t *testing.T) {
	h := newHouse(t)
	names := []string{"ann", "bob", "cy"}
	seated(h, names...)
	do[Said](h, "ann", "space.send", SendIn{Type: "chat", Message: "before"})
	for _, who := range names {
		do[Inbox](h, who, "space.inbox", InboxIn{})
	}
	first := h.seat("ann")
	first.mu.Lock()
	epoch, key := first.group.Epoch(), first.sec.Keys[len(first.sec.Keys)-1]
	first.mu.Unlock()
	day := KeyLife.Microseconds() + 1
	for _, who := range names { // a day goes by
		s := h.seat(who)
		s.mu.Lock()
		s.keyed -= day
		for id := range s.brought {
			s.brought[id] -= day
		}
		s.mu.Unlock()
	}
	do[Said](h, "bob", "space.send", SendIn{Type: "chat", Message: "after a day"})
	for _, who := range names {
		s := h.seat(who)
		eventually(t, "a new secret for "+who, func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.group.Epoch() > epoch
		})
	}
	do[Said](h, "cy", "space.send", SendIn{Type: "chat", Message: "with the new one"})
	h.contains(do[Inbox](h, "ann", "space.inbox", InboxIn{}).Text, "after a day", "with the new one")
	first.mu.Lock()
	defer first.mu.Unlock()
	entries, err := h.peers.entries(t.Context(), first)
	if err != nil {
		t.Fatal(err)
	}
	last := entries[len(entries)-1]
	for i := len(entries) - 1; last.Class != space.ClassMessage; i-- {
		last = entries[i]
	}
	if _, err := key.Open(first.me, first.cards[last.Env.From], nil, last.Env); err == nil {
		t.Error("the old key opens what was said after the renewal")
	}
	if first.group.Epoch() != epoch+1 || first.stale() {
		t.Errorf("epoch %d after %d", first.group.Epoch(), epoch)
	}
}
