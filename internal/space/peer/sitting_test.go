package peer

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// Several programs of one folder want the seat of one that has ended: one of them gets it.
func TestASeatIsGivenToOneProgram(t *testing.T) {
	h := newHouse(t)
	program := func(id string) op.Caller {
		c := op.CallerFrom(h.as("ann"))
		c.Client.ID = id
		return c
	}
	if _, err := h.gate.Invoke(op.WithCaller(t.Context(), program("ended")), "space.create", CreateIn{}); err != nil {
		t.Fatal(err)
	}
	s := h.peers.all()[0]
	s.mu.Lock() // so that all of them wait for it
	var wg sync.WaitGroup
	var got atomic.Int64
	for i := range 8 {
		wg.Go(func() {
			_, err := h.gate.Invoke(op.WithCaller(t.Context(), program(fmt.Sprintf("%d.%d", os.Getpid(), i))), "space.rejoin", RejoinIn{})
			if err == nil {
				got.Add(1)
			} else if !fault.Is(err, fault.NotFound) {
				t.Error(err)
			}
		})
	}
	there := testenv.Within(time.Minute, func() bool { return waiting("vacant") == 8 })
	s.mu.Unlock()
	if !there {
		t.Error("they never waited for the seat together")
	}
	wg.Wait()
	if got.Load() != 1 {
		t.Errorf("the seat was given to %d programs", got.Load())
	}
}

// waiting counts the goroutines that wait for a lock within a function.
func waiting(function string) (n int) {
	stacks := make([]byte, 4<<20)
	for one := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(one, "[sync.Mutex.Lock") && strings.Contains(one, ")."+function+"(") {
			n++
		}
	}
	return n
}

// A seat is locked while it waits for its host. Whoever leaves another space does not wait with it.
func TestLeavingWaitsForNoOtherSeat(t *testing.T) {
	h := newHouse(t)
	do[Created](h, "ann", "space.create", CreateIn{})
	do[Created](h, "bob", "space.create", CreateIn{})
	busy, err := h.peers.enterSeat(h.as("bob"))
	if err != nil {
		t.Fatal(err)
	}
	defer busy.mu.Unlock()
	left := make(chan error, 1)
	go func() { _, err := h.gate.Invoke(h.as("ann"), "space.leave", nil); left <- err }()
	select {
	case err := <-left:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(30 * time.Second):
		t.Error("leaving waits for a seat in another space")
	}
}

// A pull that was under way while its member left is told that the member is none: that is no removal.
func TestWhoLeftWasNotRemoved(t *testing.T) {
	h := newHouse(t)
	do[Created](h, "ann", "space.create", CreateIn{})
	s := h.peers.all()[0]
	do[Said](h, "ann", "space.leave", nil)
	s.mu.Lock()
	h.peers.pullFailed(t.Context(), s, fault.New(fault.Denied, "space.pull", "you are no member").With("reason", "removed"))
	s.mu.Unlock()
	h.contains(h.refused("ann", "space.inbox", InboxIn{}, fault.Conflict), "Not connected")
}

// Over MCP a program was the person's own command before it was an agent at work for them. Its seat moves along, whichever agent it is told
// to be, and nobody else's program of that number sits there.
func TestAProgramKeepsItsSeatAsAnAgent(t *testing.T) {
	h := newHouse(t)
	program := func(actor, via string) context.Context {
		c := op.CallerFrom(h.local())
		c.Client.ID = fmt.Sprintf("%d.4242", os.Getpid())
		if c.Actor, c.Via = actor, via; via != "" {
			c.Kind, c.Name = op.Agent, actor
		}
		return op.WithCaller(t.Context(), c)
	}
	before := program("act_local", "")
	by[Created](h, before, "space.create", CreateIn{Name: "work"})
	by[Said](h, before, "space.set_var", SetVarIn{Key: "k", Value: "v"})
	seat := h.peers.all()[0].id
	for _, restarted := range []bool{false, true} {
		if restarted {
			h.restart()
		}
		for _, actor := range []string{"act_mcp", "act_builder"} {
			h.contains(by[Vars](h, program(actor, "act_local"), "space.get_var", GetVarIn{Key: "k"}).Text, "k = v")
		}
		if all := h.peers.all(); len(all) != 1 || all[0].id != seat {
			t.Fatalf("restarted %v: %d seats", restarted, len(all))
		}
		for name, who := range map[string]context.Context{"another's program": program("act_mcp", "act_bob"),
			"another's agent": program("act_mcp", "")} {
			if _, err := h.gate.Invoke(who, "space.get_var", GetVarIn{Key: "k"}); !fault.Is(err, fault.Conflict) {
				t.Errorf("%s sits there: %v", name, err)
			}
		}
	}
}
