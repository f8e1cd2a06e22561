package peer

import (
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// The halves of a split space each take somebody in. When they meet, one half
// goes on. Whoever joined in the other one is unknown there: it is told so, also
// after a restart, joins with a new code, and what was acknowledged to it before
// is said again by itself. Nothing is lost, nothing is there twice.
func TestWhoJoinedInTheHalfThatSteppedDown(t *testing.T) {
	t.Run("on a machine of its own", func(t *testing.T) { t.Parallel(); joinsTheLosers(t, false) })
	t.Run("on the host's machine", func(t *testing.T) { t.Parallel(); joinsTheLosers(t, true) })
}

func joinsTheLosers(t *testing.T, firstWins bool) {
	a, b := far(t)
	c, e := newMachine(t), newMachine(t)
	for m, who := range map[*machine]string{c: "cy", e: "eve"} {
		do[Who](m.house, who, "space.rename", RenameIn{Name: who})
	}
	do[Who](c.house, "fay", "space.rename", RenameIn{Name: "fay"})
	do[Joined](c.house, "cy", "space.join", JoinIn{Code: do[Invited](a.house, "ann", "space.invite", InviteIn{}).Code})
	do[Peers](b.house, "bob", "space.peers", nil)
	speak := func(m *machine, who string) {
		t.Helper()
		do[Said](m.house, who, "space.send", SendIn{Type: "chat", Message: who + " says one"})
		do[Said](m.house, who, "space.set_var", SetVarIn{Key: who, Value: "was here"})
		task := do[Tasked](m.house, who, "board.add", AddIn{Title: who + "'s task"}).ID
		do[Tasked](m.house, who, "board.claim", TaskIn{TaskID: task})
		do[Said](m.house, who, "board.finding", FindingIn{Service: who, Severity: "low", Summary: who + " found it"})
		do[Said](m.house, who, "space.send", SendIn{Type: "chat", Message: who + " says two"})
	}

	// one half knows an entry more, and will go on
	behind, ahead, reader := b, c, "cy"
	if firstWins {
		behind, ahead, reader = c, b, "bob"
	}
	behind.peers.Stop()
	do[Said](a.house, "ann", "space.send", SendIn{Type: "chat", Message: "the last word of the first host"})
	ahead.contains(do[Inbox](ahead.house, reader, "space.inbox", InboxIn{}).Text, "the last word")
	a.unplug()
	c.unplug()
	c.peers.Stop()
	b.again()
	b.takeOver("bob")
	do[Joined](e.house, "eve", "space.join", JoinIn{Code: do[Invited](b.house, "bob", "space.invite", InviteIn{}).Code})
	speak(e, "eve")
	b.unplug()
	b.peers.Stop()
	c.again()
	c.takeOver("cy")
	code, _, _ := strings.Cut(do[Invited](c.house, "cy", "space.invite", InviteIn{}).Code, "@")
	do[Joined](c.house, "fay", "space.join", JoinIn{Code: code})
	speak(c, "fay")
	b.again()
	a.listen(nil)

	members := []struct {
		*machine
		who string
	}{{a, "ann"}, {b, "bob"}, {c, "cy"}}
	for _, m := range members {
		eventually(t, m.who+" being at the one term", func() bool { return do[Seats](m.house, m.who, "space.list", nil).Seats[0].Term == 3 })
	}
	host, kept, lost, who := c, "fay", e, "eve"
	if firstWins {
		host, kept, lost, who = b, "eve", c, "fay"
	}
	told := func() string {
		_, err := lost.gate.Invoke(lost.as(who), "space.send", SendIn{Type: "chat", Message: "does anybody hear me?"})
		if !fault.Is(err, fault.Denied) {
			return ""
		}
		return err.Error() + "\n" + fault.Public(err).Next
	}
	// what is said until then is queued, and a minute takes thirty messages
	eventually(t, who+" being put out", func() bool { return do[Seats](lost.house, who, "space.list", nil).Seats[0].State == removed })
	lost.contains(told(), "the space went on from before you joined", "goes out when you have joined again", "ask a member for a new code")
	lost.contains(do[Inbox](lost.house, who, "space.inbox", InboxIn{}).Text, "is queued: it goes out when you have joined this space again")
	lost.contains(lost.refused(who, "space.rejoin", RejoinIn{}, fault.Denied), "the space went on from before you joined")
	lost.again()
	lost.contains(told(), "the space went on from before you joined")
	lost.contains(lost.refused(who, "space.rejoin", RejoinIn{}, fault.Denied), "the space went on from before you joined")

	inviter := "cy"
	if firstWins {
		inviter = "bob"
	}
	do[Joined](lost.house, who, "space.join", JoinIn{Code: do[Invited](host.house, inviter, "space.invite", InviteIn{}).Code})
	keeper := e
	if !firstWins {
		keeper = c
	}
	members = append(members, struct {
		*machine
		who string
	}{keeper, kept})
	for _, m := range members {
		var seen string // for whoever has to find out why not
		t.Cleanup(func() {
			if t.Failed() {
				t.Logf("%s saw:\n%s", m.who, seen)
			}
		})
		eventually(t, m.who+" having everything once", func() bool {
			mail := do[Inbox](m.house, m.who, "space.inbox", InboxIn{All: true, Limit: 100}).Text
			vars := do[Vars](m.house, m.who, "space.get_var", GetVarIn{Key: "*"}).Text
			tasks := do[BoardOut](m.house, m.who, "board.show", BoardIn{All: true}).Text
			found := do[Findings](m.house, m.who, "board.findings", FindingsIn{}).Text
			seen = strings.Join([]string{mail, vars, tasks, found}, "\n")
			for _, n := range []string{"eve", "fay"} {
				if strings.Count(mail, n+" says one") != 1 || strings.Count(mail, n+" says two") != 1 || !strings.Contains(vars, n+" = was here") ||
					strings.Count(tasks, n+"'s task ("+n+")") != 1 || strings.Count(found, n+" found it") != 1 {
					return false
				}
			}
			return strings.Index(mail, who+" says one") < strings.Index(mail, who+" says two")
		})
	}
	if box := do[Inbox](lost.house, who, "space.inbox", InboxIn{}); len(box.Waiting) != 0 {
		t.Errorf("still waiting: %+v", box.Waiting)
	}
	eventually(t, "one history", func() bool {
		heads := map[string]bool{}
		for _, m := range append(members, struct {
			*machine
			who string
		}{lost, who}) {
			do[Peers](m.house, m.who, "space.peers", nil)
			heads[do[Verified](m.house, m.who, "space.verify", nil).Hash] = true
		}
		return len(heads) == 1
	})
}

// A host that lost part of the history stops its members, who are told, also
// after a restart. A person takes over from what a member holds, and the others
// come back with a rejoin.
func TestAHostThatForgot(t *testing.T) {
	a, b := far(t)
	do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: "to be forgotten"})
	a.contains(do[Inbox](a.house, "ann", "space.inbox", InboxIn{}).Text, "to be forgotten")
	do[Peers](b.house, "bob", "space.peers", nil)
	err := a.db.Write(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec("DELETE FROM space_log WHERE seq > 5"); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE space SET seq = 5, hash = (SELECT hash FROM space_log WHERE seq = 5)")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	a.again()
	stopped := func(m *machine, who string) func() bool {
		return func() bool { return do[Seats](m.house, who, "space.list", nil).Seats[0].State == "broken" }
	}
	eventually(t, "bob being stopped", stopped(b, "bob"))
	eventually(t, "ann being stopped", stopped(a, "ann"))
	for range 2 {
		b.contains(b.refused("bob", "space.send", SendIn{Type: "chat", Message: "x"}, fault.Conflict),
			"this space is stopped here: the host has lost part of the history", "take-over")
		b.refused("bob", "space.rejoin", RejoinIn{}, fault.Conflict)
		b.again()
	}
	if _, err := b.gate.Invoke(b.person(), "space.take_over", nil); err != nil {
		t.Fatal(err)
	}
	do[Joined](a.house, "ann", "space.rejoin", RejoinIn{})
	do[Said](a.house, "ann", "space.send", SendIn{Type: "chat", Message: "here again"})
	eventually(t, "bob's daemon following by itself", func() bool {
		s, err := b.peers.enterSeat(b.as("bob"))
		if err != nil {
			t.Fatal(err)
		}
		defer s.mu.Unlock()
		return len(s.wakes.fresh) == 1
	})
	for _, m := range []struct {
		*machine
		who string
	}{{a, "ann"}, {b, "bob"}} {
		m.contains(do[Inbox](m.house, m.who, "space.inbox", InboxIn{All: true}).Text, "to be forgotten", "here again")
		m.contains(do[Verified](m.house, m.who, "space.verify", nil).Text, "to term 2")
	}
}

// The host took a word of bob's and was gone before he saw it in the log. He
// can still take over.
func TestATakeOverAfterAWordThatOnlyTheHostHas(t *testing.T) {
	a, b := far(t)
	do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: "one"})
	a.unplug()
	b.lost("bob")
	for _, s := range b.peers.all() {
		s.mu.Lock()
		s.said = s.window[s.me.Card().ID] + 1
		s.mu.Unlock()
	}
	if _, err := b.gate.Invoke(b.person(), "space.take_over", nil); err != nil {
		t.Fatal(err)
	}
	do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: "two"})
}
