package peer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// The seats of a suspended tenant went on at their hosts. Now they rest, and go on when the tenant is resumed.
func TestTheSeatsOfASuspendedTenantRest(t *testing.T) {
	h := newHouse(t)
	do[Created](h, "alice", "space.create", CreateIn{Name: "room"})
	var shut atomic.Bool
	var asked atomic.Int32
	shut.Store(true)
	h.opens = func(context.Context, string) error {
		switch first := asked.Add(1) == 1; {
		case first: // nobody can say: that is not a yes
			return errors.New("the database is away")
		case shut.Load():
			return fault.New(fault.Denied, "tenant", "the tenant is suspended")
		}
		return nil
	}
	h.restart()
	online := func() bool {
		h.peers.mu.Lock()
		defer h.peers.mu.Unlock()
		for _, s := range h.peers.seats {
			if s.mu.TryLock() { // the room's lock is held, so this one is not waited for
				defer s.mu.Unlock()
				return s.online
			}
		}
		return false
	}
	testenv.Eventually(t, "it is asked whether the tenant is open", time.Minute, func() bool { return asked.Load() > 1 })
	if online() {
		t.Error("the seat follows its space")
	}
	shut.Store(false)
	testenv.Eventually(t, "the seat follows its space again", time.Minute, online)
}
