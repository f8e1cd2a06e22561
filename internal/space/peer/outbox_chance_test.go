package peer

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"tandem/internal/testenv"
)

// Two of three machines become hosts of one term, again and again, while all of
// them speak. At an instant that chance picks the cables are put in, and the
// hosts look for each other: between a host's answer and the next look at its
// log, with the answer lost, or with the speaker's daemon started again right
// behind it. Whatever was acknowledged is there once, for everybody.
func TestTwoHostsMeetAtAnyInstant(t *testing.T) {
	chance := testenv.Random(t)
	people := []member{{newMachine(t), "ann"}, {newMachine(t), "bob"}, {newMachine(t), "cy"}}
	var code string
	for i, p := range people {
		do[Who](p.house, p.who, "space.rename", RenameIn{Name: p.who})
		if i == 0 {
			do[Created](p.house, p.who, "space.create", CreateIn{Name: "far", PerMinute: 100_000})
		} else {
			do[Joined](p.house, p.who, "space.join", JoinIn{Code: code})
		}
		code = do[Invited](people[0].house, "ann", "space.invite", InviteIn{}).Code
	}
	for round := range max(2, testenv.Rounds(20)) {
		term := int64(0)
		for _, p := range people {
			do[Peers](p.house, p.who, "space.peers", nil) // reads on
			term = max(term, do[Seats](p.house, p.who, "space.list", nil).Seats[0].Term)
		}
		for _, p := range people {
			p.unplug()
		}
		for _, i := range chance.Perm(3)[:2] {
			people[i].became(t, people[i].seat(people[i].who))
		}
		meet := func() {
			for _, p := range people {
				if p.srv == nil {
					p.listen(nil)
				}
			}
		}
		speaker, at, lost, again := chance.IntN(3), chance.IntN(3), chance.IntN(3) == 0, chance.IntN(3) == 0
		t.Logf("round %d: %s's word %d, answer lost %v, started again %v", round, people[speaker].who, at, lost, again)
		var acked []string
		for n := range 3 {
			for i, p := range people {
				text := fmt.Sprintf("%s-%d-%d", p.who, round, n)
				if here := i == speaker && n == at; here {
					p.tapped(lost, func(ctx context.Context) {
						meet()
						for _, o := range slices.Concat(people[i+1:], people[:i]) {
							o.peers.rivals(ctx, o.seat(o.who))
						}
					})
				}
				if _, err := p.gate.Invoke(p.as(p.who), "space.send", SendIn{Type: "chat", Message: text}); err == nil {
					acked = append(acked, text)
				}
				if i == speaker && n == at && again {
					p.again()
				}
			}
		}
		if len(acked) < 6 {
			t.Errorf("only %v were acknowledged", acked)
		}
		meet()
		eventually(t, "one host of one term", func() bool {
			hosts, terms := map[string]bool{}, map[int64]bool{}
			for _, p := range people {
				p.peers.rivals(t.Context(), p.seat(p.who))
				do[Peers](p.house, p.who, "space.peers", nil)
				s := do[Seats](p.house, p.who, "space.list", nil).Seats[0]
				if s.Host == "this machine" {
					s.Host = p.addr
				}
				hosts[s.Host], terms[s.Term] = true, s.Term > term+1
			}
			for _, higher := range terms {
				if !higher {
					return false
				}
			}
			return len(hosts) == 1 && len(terms) == 1
		})
		for _, p := range people {
			p.hasOnce(p.who, acked...)
		}
	}
}

type member struct {
	*machine
	who string
}

// tapped has something happen once, when the host has stored what this member
// says next and before its log is read; that host's answer may be lost.
func (m member) tapped(lost bool, then func(context.Context)) {
	l := &tap{free: make(chan struct{}), then: then}
	close(l.free)
	l.lose.Store(lost)
	s := m.seat(m.who)
	s.mu.Lock()
	l.link, s.link = s.link, l
	s.mu.Unlock()
}
