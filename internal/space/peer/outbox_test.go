package peer

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space"
)

// tap is a line to a host that does something between two calls. The seat's own
// loop is kept waiting at it, so that nothing happens but what a test says.
type tap struct {
	link
	free  chan struct{}             // closed when the loop may go on
	lose  atomic.Bool               // the next answer to something said
	then  func(ctx context.Context) // once, when the host has stored something and before its log is read
	armed atomic.Bool
	once  sync.Once
}

func (l *tap) call(ctx context.Context, name string, in, out any) error {
	loop := op.CallerFrom(ctx).Name == "" // nobody's call
	if loop {
		select {
		case <-l.free:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if name == "space.pull" && !loop && l.armed.CompareAndSwap(true, false) {
		l.once.Do(func() { l.then(op.WithCaller(ctx, op.Caller{Tenant: "local", Name: "aside"})) })
	}
	err := l.link.call(ctx, name, in, out)
	if name == "space.post" && err == nil && l.then != nil {
		if l.lose.CompareAndSwap(true, false) {
			return unreachable("the host", context.DeadlineExceeded)
		}
		l.armed.Store(true)
	}
	return err
}

// losing are a host that does not know yet that it lost the space, with a tap at
// its member's line, and the machine that took over.
func losing(t *testing.T) (a, b *machine, ann *seat, l *tap) {
	t.Helper()
	a, b = far(t)
	ann = a.seat("ann")
	l = &tap{free: make(chan struct{})}
	ann.mu.Lock()
	l.link, ann.link = ann.link, l
	ann.mu.Unlock()
	do[Said](a.house, "ann", "space.send", SendIn{Type: "chat", Message: "before"}) // the loop waits at the tap from here on
	b.contains(do[Inbox](b.house, "bob", "space.inbox", InboxIn{}).Text, "before")
	a.unplug()
	b.became(t, b.seat("bob"))
	return a, b, ann, l
}

// became makes a machine the host, without a person who waits for the old one.
func (m *machine) became(t *testing.T, s *seat) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := m.peers.host(t.Context(), s, s.term+1); err != nil {
		t.Fatal(err)
	}
}

// A host stores a word and loses the space in the same moment. The word was
// acknowledged, and the log that held it is not the space's any more: whoever
// said it must say it again, whatever happens between the host's answer and the
// next look at its log.
func TestAWordThatALosingHostStored(t *testing.T) {
	type scene struct {
		a, b *machine
		ann  *seat
		l    *tap
	}
	moved := func(ctx context.Context, s scene) {
		s.ann.mu.Lock()
		defer s.ann.mu.Unlock()
		if !s.a.peers.moveTo(ctx, s.ann, s.b.addr, s.b.pin) {
			t.Error("the old host's member did not follow")
		}
	}
	stepped := func(ctx context.Context, s scene) {
		bob := s.b.seat("bob")
		bob.mu.Lock()
		in := bob.stepDown(s.b.addr)
		bob.mu.Unlock()
		if err := (inside{invoke: late{&s.a.gate}, tenant: "local"}).call(ctx, "space.step_down", in, nil); err != nil {
			t.Error(err)
		}
	}
	read := func(ctx context.Context, s scene) {
		s.ann.mu.Lock()
		defer s.ann.mu.Unlock()
		if err := s.a.peers.sync(ctx, s.ann, 0); err != nil {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		then  []func(context.Context, scene)
		lose  bool // the host's answer
		again bool // the daemon is started again afterwards
	}{
		"it steps down":                        {then: []func(context.Context, scene){stepped}},
		"it steps down, and the daemon stops":  {then: []func(context.Context, scene){stepped}, again: true},
		"its member goes":                      {then: []func(context.Context, scene){moved}},
		"its member reads it and goes":         {then: []func(context.Context, scene){read, moved}},
		"its answer is lost and it steps down": {then: []func(context.Context, scene){stepped}, lose: true},
	} {
		for _, waited := range []bool{false, true} {
			way := "said at once"
			if waited {
				way = "having waited"
			}
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				a, b, ann, l := losing(t)
				s := scene{a, b, ann, l}
				l.lose.Store(c.lose)
				l.then = func(ctx context.Context) {
					for _, f := range c.then {
						f(ctx, s)
					}
				}
				if waited {
					a.queue(ann, "m_00waited", "waited")
				}
				do[Said](a.house, "ann", "space.send", SendIn{Type: "chat", Message: "said"})
				close(l.free)
				if c.again {
					a.again()
				}
				want := []string{"said"}
				if waited {
					want = append(want, "waited")
				}
				for _, m := range []struct {
					*machine
					who string
				}{{b, "bob"}, {a, "ann"}} {
					m.hasOnce(m.who, want...)
				}
				if left := do[Inbox](a.house, "ann", "space.inbox", InboxIn{}).Waiting; len(left) != 0 {
					t.Errorf("still waiting: %+v", left)
				}
			})
		}
	}
}

// queue puts a message into the outbox, as when its host was away.
func (m *machine) queue(s *seat, id, text string) {
	m.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queued = true
	if err := m.db.Write(m.t.Context(), func(tx *db.Tx) error {
		return m.peers.enqueue(tx, s, thing{id: id, class: space.ClassMessage, content: Words{Type: "chat", Text: text}}, tx.Now())
	}); err != nil {
		m.t.Fatal(err)
	}
}

// hasOnce waits until a member has each of some messages, and none twice.
func (m *machine) hasOnce(who string, texts ...string) {
	m.t.Helper()
	eventually(m.t, who+" having "+strings.Join(texts, ", ")+", each once", func() bool {
		seen := map[string]int{}
		for _, x := range do[Inbox](m.house, who, "space.inbox", InboxIn{All: true, Limit: 200}).Messages {
			seen[x.Text]++
		}
		for _, x := range texts {
			if seen[x] != 1 {
				return false
			}
		}
		return true
	})
}

// A host that cannot be read for a moment has refused nothing.
func TestWhatWaitsIsNotRefusedByAFailureOnTheWay(t *testing.T) {
	a, _ := far(t)
	ann := a.seat("ann")
	a.queue(ann, "m_00waited", "waited")
	ann.mu.Lock()
	ann.lose(fault.New(fault.NotFound, "space", "there is no such space here"))
	err := a.peers.flush(t.Context(), ann)
	ann.mu.Unlock()
	if !fault.Is(err, fault.NotFound) {
		t.Fatal(err)
	}
	for _, w := range do[Inbox](a.house, "ann", "space.inbox", InboxIn{}).Waiting {
		if w.State == "refused" {
			t.Fatalf("%+v", w)
		}
	}
	a.hasOnce("ann", "waited")
}

// Somebody tried to send while the space was stopped here; what waits is not
// forgotten by that, and goes out when the space goes on.
func TestWhatWaitsInAStoppedSeatIsAwake(t *testing.T) {
	a, b := far(t)
	bob := b.seat("bob")
	a.unplug()
	if said := do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: "waited"}); said.State != "queued" {
		t.Fatalf("%+v", said)
	}
	bob.mu.Lock()
	b.peers.stop(t.Context(), bob, broken, "the host has lost part of the history")
	bob.mu.Unlock()
	b.refused("bob", "space.send", SendIn{Type: "chat", Message: "x"}, fault.Conflict)
	if _, err := b.gate.Invoke(b.person(), "space.take_over", nil); err != nil {
		t.Fatal(err)
	}
	b.hasOnce("bob", "waited")
}

// A host that lost the space got it back while a member was away. That member
// has entries that are in nobody's history any more, from that same machine: it
// goes back, and says again what it said.
func TestAMemberOfAHostThatLostAndCameBack(t *testing.T) {
	a, b := far(t)
	c := newMachine(t)
	do[Who](c.house, "cy", "space.rename", RenameIn{Name: "cy"})
	do[Joined](c.house, "cy", "space.join", JoinIn{Code: do[Invited](a.house, "ann", "space.invite", InviteIn{}).Code})
	do[Peers](b.house, "bob", "space.peers", nil)
	b.peers.Stop()
	var said []string
	for i := range 8 {
		said = append(said, fmt.Sprintf("cy-%d", i))
		do[Said](c.house, "cy", "space.send", SendIn{Type: "chat", Message: said[i]})
	}
	c.unplug()
	c.peers.Stop()
	a.unplug()
	b.again()
	b.became(t, b.seat("bob"))
	a.listen(nil)
	eventually(t, "ann following bob's machine", func() bool { return do[Seats](a.house, "ann", "space.list", nil).Seats[0].Term == 2 })
	b.unplug()
	a.became(t, a.seat("ann"))
	c.again()
	c.hasOnce("cy", said...)
	a.hasOnce("ann", said...)
	if s := do[Seats](c.house, "cy", "space.list", nil).Seats[0]; s.Term != 3 || s.Host != a.addr {
		t.Errorf("cy sits at %+v", s)
	}
}

// Who leaves has what waits sent first; what cannot be sent is told.
func TestLeavingSendsWhatWaits(t *testing.T) {
	a, b := far(t)
	b.queue(b.seat("bob"), "m_00waited", "waited")
	if text := do[Said](b.house, "bob", "space.leave", nil).Text; strings.Contains(text, "never sent") {
		t.Error(text)
	}
	a.hasOnce("ann", "waited")
	do[Joined](b.house, "bob", "space.join", JoinIn{Code: do[Invited](a.house, "ann", "space.invite", InviteIn{}).Code})
	a.unplug()
	do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: "into the dark"})
	b.contains(do[Said](b.house, "bob", "space.leave", nil).Text, "1 of your messages was never sent")
}
