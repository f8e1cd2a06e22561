package peer

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space"
)

// A program says which model it is when it joins, and its successor in the same folder takes the seat without a word of it: the others
// went on with a member of no model. Another agent in that seat is not the model of the one before.
func TestAModelOutlivesARejoin(t *testing.T) {
	h := newHouse(t)
	program := func(agent, number string) context.Context {
		c := op.CallerFrom(h.as("ann"))
		c.Client.ID, c.Client.Agent = number, agent
		return op.WithCaller(t.Context(), c)
	}
	call := func(ctx context.Context, name string, in any) {
		t.Helper()
		if _, err := h.gate.Invoke(ctx, name, in); err != nil {
			t.Fatal(err)
		}
	}
	of := func() Profile {
		s := h.peers.all()[0]
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.profiles[s.me.Card().ID]
	}
	said := Capabilities{Model: "claude-opus-4-8", Tools: []string{"kubectl"}}
	call(program("claude-code", "ended"), "space.create", CreateIn{Capabilities: said})
	call(program("claude-code", fmt.Sprintf("%d.1", os.Getpid())), "space.rejoin", RejoinIn{})
	if p := of(); p.Model != said.Model || !slices.Equal(p.Tools, said.Tools) {
		t.Errorf("after a rejoin it is told as %+v", p)
	}
	h.peers.all()[0].owner = owner(op.CallerFrom(program("claude-code", "ended too")))
	call(program("codex", fmt.Sprintf("%d.2", os.Getpid())), "space.rejoin", RejoinIn{})
	if p := of(); p.Model != "" || p.Agent != "codex" {
		t.Errorf("another agent is told as %+v", p)
	}
}

// dead is a line that nothing comes back on. It counts what callers wanted of it; the seat's own loop is nobody's call.
type dead struct{ asked atomic.Int64 }

func (l *dead) call(ctx context.Context, _ string, _, _ any) error {
	if op.CallerFrom(ctx).Name != "" {
		l.asked.Add(1)
	}
	return unreachable("the host", context.DeadlineExceeded)
}

// A line that went dead without a word keeps the first who sends waiting, for six seconds at most; nobody who sends after that waits.
func TestTheFirstWordIntoACutIsTheOnlyOneThatWaits(t *testing.T) {
	_, b := far(t)
	s, l := b.seat("bob"), new(dead)
	s.mu.Lock()
	s.link, s.online, s.lost = l, true, nil
	s.mu.Unlock()
	for n := range 3 {
		said := do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: fmt.Sprint("word ", n)})
		if said.State != "queued" || l.asked.Load() > 1 {
			t.Errorf("word %d is %s, and the line was tried %d times", n, said.State, l.asked.Load())
		}
	}
	if got := patience(space.PostIn{}).Seconds(); got > 6 {
		t.Errorf("a word waits for %v s", got)
	}
	b.refused("bob", "board.claim", TaskIn{TaskID: "T-000000"}, fault.Unavailable)
}
