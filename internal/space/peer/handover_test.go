package peer

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space"
)

// The host leaves and is not stopped: it hands the space to a member whose
// machine can be reached, and the others go on there with all they had.
func TestALeavingHostHandsOver(t *testing.T) {
	a, b := far(t)
	c := newMachine(t)
	do[Who](c.house, "cy", "space.rename", RenameIn{Name: "cy"})
	do[Joined](c.house, "cy", "space.join", JoinIn{Code: do[Invited](a.house, "ann", "space.invite", InviteIn{}).Code})
	task := do[Tasked](a.house, "ann", "board.add", AddIn{Title: "outlives its maker"})
	do[Said](a.house, "ann", "space.set_var", SetVarIn{Key: "k", Value: "v"})
	do[Peers](a.house, "ann", "space.peers", nil)
	a.contains(do[Said](a.house, "ann", "space.leave", nil).Text, "bob's machine hosts it from now on")
	eventually(t, "bob's machine being the host", func() bool {
		s := do[Seats](b.house, "bob", "space.list", nil).Seats[0]
		return s.Host == "this machine" && s.Term == 2
	})
	eventually(t, "cy following", func() bool {
		s := do[Seats](c.house, "cy", "space.list", nil).Seats[0]
		return s.Host == b.addr && s.Term == 2
	})
	a.unplug()
	do[Said](c.house, "cy", "space.send", SendIn{Type: "chat", Message: "still here", To: "bob"})
	b.contains(do[Inbox](b.house, "bob", "space.inbox", InboxIn{}).Text, "still here")
	for _, m := range []struct {
		h   *house
		who string
	}{{b.house, "bob"}, {c.house, "cy"}} {
		m.h.contains(do[BoardOut](m.h, m.who, "board.show", BoardIn{All: true}).Text, task.ID, "outlives its maker")
		m.h.contains(do[Vars](m.h, m.who, "space.get_var", GetVarIn{Key: "k"}).Text, "k = v")
	}
	x, y := do[Verified](b.house, "bob", "space.verify", nil), do[Verified](c.house, "cy", "space.verify", nil)
	if x.Term != 2 || y.Term != 2 || x.Entries == y.Entries && x.Hash != y.Hash {
		t.Errorf("%+v and %+v", x, y)
	}
}

// slowLink lets something happen before the answer of one operation arrives.
type slowLink struct {
	link
	after string
	then  func()
}

func (l slowLink) call(ctx context.Context, name string, in, out any) error {
	err := l.link.call(ctx, name, in, out)
	if name == l.after {
		l.then()
	}
	return err
}

// An heir may take over before the leaving host does anything else. The one who left is out all the same, and what is
// said afterwards is sealed with a key that it does not have.
func TestALeavingHostIsOutHoweverFastItsHeirIs(t *testing.T) {
	a, b := far(t)
	c := newMachine(t)
	do[Who](c.house, "cy", "space.rename", RenameIn{Name: "cy"})
	do[Joined](c.house, "cy", "space.join", JoinIn{Code: do[Invited](a.house, "ann", "space.invite", InviteIn{}).Code})
	do[Peers](a.house, "ann", "space.peers", nil)
	s := a.peers.all()[0]
	s.mu.Lock()
	epoch := s.epoch()
	s.link = slowLink{s.link, string(space.SpaceHandOver), func() {
		eventually(t, "bob's machine being the host", func() bool {
			return do[Seats](b.house, "bob", "space.list", nil).Seats[0].Term == 2
		})
	}}
	s.mu.Unlock()
	a.contains(do[Said](a.house, "ann", "space.leave", nil).Text, "bob's machine hosts it from now on")
	for _, m := range []struct {
		h   *house
		who string
	}{{b.house, "bob"}, {c.house, "cy"}} {
		eventually(t, m.who+" having new keys without ann", func() bool {
			text := do[Said](m.h, m.who, "space.phrase", nil).Text
			return strings.Contains(text, fmt.Sprintf("(epoch %d, 2 members;", epoch+1))
		})
	}
}

// A host without an heir says that it still hosts; two seats of one machine
// follow a take-over there; whoever took over first is not taken over again.
func TestSeatsOfOneMachineFollowItsTakeOver(t *testing.T) {
	a, b := far(t)
	do[Who](b.house, "bea", "space.rename", RenameIn{Name: "bea"})
	do[Joined](b.house, "bea", "space.join", JoinIn{Code: do[Invited](a.house, "ann", "space.invite", InviteIn{}).Code})
	a.unplug()
	b.lost("bea")
	b.takeOver("bob")
	eventually(t, "both being on the new term", func() bool {
		bob, bea := do[Seats](b.house, "bob", "space.list", nil).Seats[0], do[Seats](b.house, "bea", "space.list", nil).Seats[0]
		return bob.Term == 2 && bea.Term == 2 && bob.Host == "this machine" && bea.Host == "this machine"
	})
	if _, err := b.gate.Invoke(b.person(), "space.take_over", nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("taken over twice: %v", err)
	}
	b.contains(do[Said](b.house, "bob", "space.leave", nil).Text, "Disconnected from workspace.\n")
	b.contains(do[Said](b.house, "bea", "space.leave", nil).Text, "This machine still hosts it for the others")
}

// A member may show an old host any number of take-overs beside the one that counts. What it keeps of them goes out with
// every pull, so it is little.
func TestAnOldHostKeepsLittle(t *testing.T) {
	a, b := far(t)
	a.unplug()
	b.takeOver("bob")
	b.unplug()
	b.peers.Stop()
	in := b.peers.all()[0].stepDown(b.addr)
	for range 200 {
		in.Earlier = append(in.Earlier, in.Envelope)
	}
	member := op.WithCaller(t.Context(), op.Caller{Tenant: "local", Actor: "bob", Name: "bob", Kind: op.Service, Door: op.DoorHTTP,
		Request: "r"})
	long := in
	long.Host = strings.Repeat("a", 10000)
	if _, err := a.gate.Invoke(member, "space.step_down", long); !fault.Is(err, fault.Invalid) {
		t.Errorf("an address of 10 kB: %v", err)
	}
	if _, err := a.gate.Invoke(member, "space.step_down", in); err != nil {
		t.Fatal(err)
	}
	var state, moved string
	var kept int
	if err := a.db.QueryRow(t.Context(), "SELECT state, moved_to, length(ended) FROM space").Scan(&state, &moved, &kept); err != nil ||
		moved != b.addr || kept > 64<<10 {
		t.Errorf("%s, moved to %s, %d bytes are kept, %v", state, moved, kept, err)
	}
}
