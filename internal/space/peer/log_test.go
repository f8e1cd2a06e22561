package peer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"tandem/internal/space"
)

// picture is everything that a seat folds from its log, and how far it is. The caller holds s.mu.
func (s *seat) picture(t *testing.T) string {
	t.Helper()
	text, err := json.MarshalIndent(map[string]any{"snapshot": s.snapshot(), "board": s.board, "cards": s.cards, "order": s.order,
		"gone": s.gone, "creator": s.creator, "heir": s.heir, "terms": s.terms, "window": s.window, "keyed": s.keyed, "brought": s.brought,
		"seq": s.seq, "hash": s.hash, "term": s.term, "epoch": s.epoch(), "keys": s.sec.Keys, "void": s.sec.Void, "unread": s.unread.n,
		"posted": s.posted.at, "group": s.group.Phrase()}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What members do in any order is one log on this machine, and each seat read from it again has the picture that it had: as far as it
// was saved by folding, behind that by taking the entries in. A member has no words from before it joined. What is done comes from a
// seed, which a failure shows.
func TestASeatIsItsLogReadAgain(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			readAgain(t, rand.New(rand.NewPCG(seed, 17)))
		})
	}
}

func readAgain(t *testing.T, chance *rand.Rand) {
	h := newHouse(t)
	names := []string{"m0"}
	do[Created](h, "m0", "space.create", CreateIn{MaxPeers: 20, PerMinute: 10_000})
	before := map[string]map[string]bool{} // what had been said when a member joined
	said := map[string]bool{}
	var tasks []string
	for i := range 60 {
		who := names[chance.IntN(len(names))]
		text := fmt.Sprintf("text-%d", i)
		switch n := chance.IntN(10); {
		case n == 0 && len(names) < 7 || len(names) < 2:
			next := fmt.Sprintf("m%d", len(names))
			before[next] = maps.Clone(said)
			do[Joined](h, next, "space.join", JoinIn{Code: do[Invited](h, who, "space.invite", InviteIn{}).Code})
			names = append(names, next)
		case n < 4:
			to := ""
			if other := names[chance.IntN(len(names))]; other != who && chance.IntN(2) == 0 {
				to = do[Who](h, other, "space.whoami", nil).Username
			}
			do[Said](h, who, "space.send", SendIn{Type: "chat", Message: text, To: to})
			said[text] = true
		case n == 4:
			do[Inbox](h, who, "space.inbox", InboxIn{Limit: 1 + chance.IntN(3)})
		case n == 5:
			do[Said](h, who, "space.set_var", SetVarIn{Key: fmt.Sprint("k", chance.IntN(3)), Value: text})
		case n == 6 && len(tasks) > 0:
			_, _ = h.gate.Invoke(h.as(who), "board.claim", TaskIn{TaskID: tasks[chance.IntN(len(tasks))]}) // somebody may hold it
		case n == 7:
			_, _ = h.gate.Invoke(h.as(who), "space.reserve", ReserveIn{Path: fmt.Sprint("dir/", chance.IntN(3))})
		case n == 8:
			do[Said](h, who, "board.finding", FindingIn{Service: "s", Severity: "low", Summary: text})
		default:
			tasks = append(tasks, do[Tasked](h, who, "board.add", AddIn{Title: text}).ID)
		}
	}
	same := func(when string) {
		t.Helper()
		for _, s := range h.peers.all() {
			s.mu.Lock()
			h.peers.fresh(t.Context(), s)
			read, err := h.peers.openSeat(t.Context(), s.tenant, s.id)
			if err != nil {
				t.Fatal(err)
			}
			if is, was := read.picture(t), s.picture(t); is != was {
				t.Errorf("%s, the seat of %s read from entry %d on is another:\n%s\nwas\n%s", when, s.owner, s.saved, is, was)
			}
			s.mu.Unlock()
		}
	}
	same("while they follow")
	entries := h.count("SELECT count(*) FROM space_log")
	lines := h.count("SELECT count(DISTINCT line) FROM peer_seat")
	if n := h.count("SELECT count(*) FROM peer_log"); n != entries || lines != 1 {
		t.Errorf("%d seats keep %d entries in %d lines, the host has %d", len(names), n, lines, entries)
	}
	h.restart()
	same("after a clean stop")
	for _, who := range names {
		all := do[Inbox](h, who, "space.inbox", InboxIn{All: true, Limit: 200})
		log := do[Activities](h, who, "space.activity", ActivityIn{Limit: 1000})
		s := h.seatOf(who)
		for text := range before[who] {
			if strings.Contains(all.Text+"\n", text+"\n") {
				t.Errorf("%s reads %s in the inbox, which was said before", who, text)
			}
		}
		for _, a := range log.Entries {
			if a.Seq <= s.joined && strings.HasPrefix(a.Action, "sent") && a.Detail != "" {
				t.Errorf("%s reads entry %d from before it joined: %s", who, a.Seq, a.Detail)
			}
		}
	}
}

// seatOf is the seat that somebody has.
func (h *house) seatOf(who string) *seat {
	h.t.Helper()
	s, err := h.peers.enterSeat(h.as(who))
	if err != nil {
		h.t.Fatal(err)
	}
	s.mu.Unlock()
	return s
}

// Two seats whose histories part have a line each, which begin alike; the one that nobody is on any more is gone, and seats that turn
// out to agree come together at the next start.
func TestLinesPartAndComeTogether(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob", "cy")
	do[Said](h, "ann", "space.send", SendIn{Type: "chat", Message: "for all"})
	bob := h.seat("bob")
	bob.mu.Lock()
	h.peers.fresh(t.Context(), bob)
	last := bob.seq
	entries, err := h.peers.entries(t.Context(), bob)
	if err != nil || int64(len(entries)) != last {
		t.Fatal(len(entries), err)
	}
	if err := h.peers.rewind(t.Context(), bob, entries[last-2], entries[last-1:], []*space.Entry{{Seq: last}}); err != nil {
		t.Fatal(err)
	}
	if bob.seq != last-1 {
		t.Fatalf("bob is at %d", bob.seq)
	}
	apart := bob.log
	bob.mu.Unlock()
	if apart == h.seatOf("ann").log {
		t.Fatal("bob took an entry off the others' log")
	}
	h.contains(do[Inbox](h, "bob", "space.inbox", InboxIn{}).Text, "for all") // it follows again
	h.contains(do[Verified](h, "bob", "space.verify", nil).Text, "entries hold")
	if n := h.count("SELECT count(DISTINCT line) FROM peer_log"); n != 2 {
		t.Errorf("%d lines", n)
	}
	h.restart()
	if n := h.count("SELECT count(DISTINCT line) FROM peer_log") + h.count("SELECT count(DISTINCT line) FROM peer_seat"); n != 2 {
		t.Errorf("they are not on one line: %d", n)
	}
	for _, who := range []string{"ann", "bob", "cy"} {
		do[Verified](h, who, "space.verify", nil)
		h.contains(do[Inbox](h, who, "space.inbox", InboxIn{All: true}).Text, "for all")
	}
}

// Among the seats of one machine that wait for the same, one asks. Who expects a newcomer asks itself.
func TestOneSeatAsksForAll(t *testing.T) {
	h := newHouse(t)
	do[Created](h, "m0", "space.create", CreateIn{MaxPeers: 10, PerMinute: 1000})
	for i := 1; i < 6; i++ {
		do[Joined](h, fmt.Sprint("m", i), "space.join", JoinIn{Code: do[Invited](h, "m0", "space.invite", InviteIn{}).Code})
	}
	for _, s := range h.peers.all() {
		s.mu.Lock()
		s.asked = h.db.Now()
		want := s.owner == "actor/act_m0" && s.invites > 0
		if got := s.asksItself(h.db.Now(), 1000); got && !want {
			t.Errorf("%s asks itself, a moment after it did (%d invites)", s.owner, s.invites)
		}
		if !s.asksItself(h.db.Now().Add(askItself), 1000) {
			t.Errorf("%s would be taken for gone", s.owner)
		}
		s.mu.Unlock()
	}
}

// Whoever waits for what another asks for has its answer, without the knocks.
func TestAnAnswerIsForAllWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pulls
		asked, answer := 0, make(chan error)
		host := counting{func(space.PullIn) (space.PullOut, error) {
			asked++
			return space.PullOut{Seq: int64(asked), Knocks: []space.Knock{{ID: "k"}}}, <-answer
		}}
		in := space.PullIn{Since: 3, Term: 1, Wait: 1000}
		got := make(chan space.PullOut, 4)
		for range 4 {
			go func() {
				out, err := p.pull(t.Context(), host, "x", in, false)
				if err != nil {
					out.Seq = -1
				}
				got <- out
			}()
		}
		synctest.Wait()
		answer <- errPin // to whoever asked first: the next one asks
		synctest.Wait()
		if out := <-got; out.Seq != -1 || asked != 2 {
			t.Fatalf("%+v, asked %d times", out, asked)
		}
		answer <- nil
		synctest.Wait()
		knocks := 0
		for range 3 {
			out := <-got
			if knocks += len(out.Knocks); out.Seq != 2 {
				t.Errorf("%+v", out)
			}
		}
		if asked != 2 || knocks != 1 || len(p.by) != 0 {
			t.Errorf("asked %d times, %d knocks, %d open", asked, knocks, len(p.by))
		}
	})
}

// counting is a host that answers pulls.
type counting struct {
	pull func(space.PullIn) (space.PullOut, error)
}

func (c counting) call(_ context.Context, _ string, in, out any) (err error) {
	*out.(*space.PullOut), err = c.pull(in.(space.PullIn))
	return err
}
