package peer

import (
	"strings"
	"testing"

	"tandem/internal/space"
)

// Two people take over in two halves of a cut network: two hosts of one term.
// No member follows both. When the halves meet again, both hosts come to the
// same answer, the term rises, and everybody ends with one history: what was
// acknowledged in either half is there once, and what cannot be (two claims of
// one task) is told to the one who lost it.
func TestTwoTakeOversOfOneTerm(t *testing.T) {
	a, b := far(t)
	c, d := newMachine(t), newMachine(t)
	for _, m := range []struct {
		*machine
		who string
	}{{c, "cy"}, {d, "dee"}, {b, "bea"}} {
		do[Who](m.house, m.who, "space.rename", RenameIn{Name: m.who})
		do[Joined](m.house, m.who, "space.join", JoinIn{Code: do[Invited](a.house, "ann", "space.invite", InviteIn{}).Code})
	}
	task := do[Tasked](a.house, "ann", "board.add", AddIn{Title: "wanted by both"})
	people := []struct {
		*machine
		who string
	}{{a, "ann"}, {b, "bob"}, {b, "bea"}, {c, "cy"}, {d, "dee"}}
	for _, m := range people {
		m.contains(do[BoardOut](m.house, m.who, "board.show", BoardIn{All: true}).Text, "wanted by both")
	}
	w := &watch{t: t, hosts: map[string]map[int64]string{}}

	// one half: b's machine, with two members
	a.unplug()
	b.unplug()
	b.takeOver("bob")
	eventually(t, "both following", func() bool { return w.see(b, "bea").Term == 2 && w.see(b, "bob").Term == 2 })
	do[Tasked](b.house, "bob", "board.claim", TaskIn{TaskID: task.ID})
	do[Said](b.house, "bob", "space.send", SendIn{Type: "chat", Message: "said in the first half"})
	do[Said](b.house, "bea", "space.set_var", SetVarIn{Key: "first", Value: "half"})
	w.see(b, "bob")
	b.peers.Stop() // it cannot look across the cut

	// the other half: c's machine and d's
	c.takeOver("cy")
	eventually(t, "dee following", func() bool { return w.see(d, "dee").Term == 2 && w.see(c, "cy").Term == 2 })
	do[Tasked](c.house, "cy", "board.claim", TaskIn{TaskID: task.ID})
	do[Said](d.house, "dee", "space.send", SendIn{Type: "chat", Message: "said in the second half"})
	do[Said](c.house, "cy", "space.set_var", SetVarIn{Key: "second", Value: "half"})
	w.see(c, "cy")

	// the halves meet, and the first host is back too
	if err := b.db.Close(); err != nil {
		t.Fatal(err)
	}
	b.house.start()
	b.listen(nil)
	a.listen(nil)
	eventually(t, "one term for all", func() bool {
		all := true
		for _, m := range people {
			all = w.see(m.machine, m.who).Term == 3 && all
		}
		return all
	})
	winner, loser := "bob", "cy"
	if w.see(c, "cy").Host == "this machine" {
		winner, loser = loser, winner
	}
	for _, m := range people {
		eventually(t, m.who+" having everything once", func() bool {
			text := do[Inbox](m.house, m.who, "space.inbox", InboxIn{All: true}).Text
			vars := do[Vars](m.house, m.who, "space.get_var", GetVarIn{Key: "*"}).Text
			return strings.Count(text, "said in the first half") == 1 && strings.Count(text, "said in the second half") == 1 &&
				strings.Contains(vars, "first = half") && strings.Contains(vars, "second = half")
		})
		m.contains(do[BoardOut](m.house, m.who, "board.show", BoardIn{All: true}).Text, "wanted by both ("+winner+")")
		if m.who == loser {
			m.contains(do[Inbox](m.house, m.who, "space.inbox", InboxIn{}).Text, "is refused", "is held by")
		}
	}
	eventually(t, "one history", func() bool {
		heads := map[string]bool{}
		for _, m := range people {
			do[Peers](m.house, m.who, "space.peers", nil)
			heads[do[Verified](m.house, m.who, "space.verify", nil).Hash] = true
		}
		return len(heads) == 1
	})
}

// watch remembers whom each member took for the host of each term.
type watch struct {
	t     *testing.T
	hosts map[string]map[int64]string
}

func (w *watch) see(m *machine, who string) Seat {
	w.t.Helper()
	s := do[Seats](m.house, who, "space.list", nil).Seats[0]
	host := s.Host
	if host == "this machine" {
		host = m.addr
	}
	if w.hosts[who] == nil {
		w.hosts[who] = map[int64]string{}
	}
	if was := w.hosts[who][s.Term]; was != "" && was != host {
		w.t.Fatalf("%s took both %s and %s for the host of term %d", who, was, host, s.Term)
	}
	w.hosts[who][s.Term] = host
	return s
}

// Both hosts decide alike which of them goes on.
func TestOutranks(t *testing.T) {
	entry := func(seq int64, hash string) *space.Entry { return &space.Entry{Seq: seq, Hash: hash} }
	for _, c := range []struct{ a, b *space.Entry }{
		{entry(9, "b"), entry(8, "a")}, // it continues more of what was acknowledged
		{entry(8, "a"), entry(8, "b")},
		{entry(8, "a"), nil},
	} {
		if !outranks(c.a, c.b) || outranks(c.b, c.a) {
			t.Errorf("%+v and %+v are not decided alike", c.a, c.b)
		}
	}
	if outranks(nil, nil) {
		t.Error("nothing outranks nothing")
	}
}
