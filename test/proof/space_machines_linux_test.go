package proof

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// Three machines, each in a network of its own, share a space over TLS while
// all three send messages, add tasks and set variables. The host's daemon is
// killed again and again and comes back by itself, listening. Then its cable is
// pulled: another member takes over, while the old host still serves its own
// side. Then the cable is put in again: the old host steps down, and what was
// said on its side is said again. At last all cables are pulled, and two people
// take over at once, each alone: two hosts of one term, until the cables are back
// and one of them goes on with a higher term. Nothing that was acknowledged is
// lost or doubled, all three end with the same verified history, and no member
// ever accepted two hosts of a term. Ten kills with TANDEM_SOAK=1.
func TestThreeMachines(t *testing.T) {
	if !inNetwork(t) {
		return
	}
	var boxes []*box
	for i, name := range []string{"ann", "bob", "cy"} {
		boxes = append(boxes, newBox(t, i+1, name))
	}
	ann, bob, cy := boxes[0], boxes[1], boxes[2]
	for _, b := range boxes {
		b.typed("pin", "set")
		b.typed("settings", "keep") // beyond loopback only what a person approved is opened again after a crash
	}
	var made struct{ Code string }
	ann.json(&made, "space", "create", "far", "--messages-per-minute", "100000")
	bob.must("space", "join", made.Code)
	ann.json(&made, "space", "invite", "--link")
	cy.must("space", "join", made.Code)

	w := &witness{t: t, acked: map[string]map[string]bool{"message": {}, "task": {}, "var": {}}, hosts: map[string]map[int64]string{},
		at: map[string]int64{}, said: map[string]int{}, failed: map[string]error{}, began: time.Now()}
	stop := make(chan struct{})
	var all sync.WaitGroup
	for _, b := range boxes {
		all.Go(func() { w.talk(b, stop) })
	}
	kills := max(2, testenv.Rounds(10))
	for range kills {
		w.hears(boxes...)
		ann.kill() // the next command on that machine, one of the talk's, starts it again
	}
	w.until("the host comes back", ann, func(s seatIs) bool { return s.State == "active" })
	var st struct {
		Listens  []string
		CameBack bool `json:"came_back"`
	}
	if ann.json(&st, "status"); !st.CameBack || len(st.Listens) == 0 || st.Listens[0] != ann.listen {
		t.Errorf("the host came back as %+v", st)
	}
	w.hears(boxes...)

	ann.cut()
	w.mark("cut off")
	w.hears(boxes...)
	if said := bob.typed("space", "take-over"); !strings.Contains(said, "term 2") {
		t.Fatalf("take-over: %s", said)
	}
	w.mark("taken over")
	w.until("cy follows", cy, func(s seatIs) bool { return s.Term == 2 })
	w.mark("cy follows")
	w.until("the cut-off host goes on alone", ann, func(s seatIs) bool { return s.Term == 1 && s.Host == "this machine" })
	w.hears(boxes...)
	w.mark("mended")
	ann.mend()
	w.until("the old host steps down", ann, func(s seatIs) bool { return s.Term == 2 && s.Host == bob.listen })
	w.mark("stepped down")
	bob.kill() // and the new host can be killed like the old one
	w.hears(boxes...)

	for _, b := range boxes {
		b.cut()
	}
	w.mark("all cut off")
	w.hears(boxes...)
	for _, b := range []*box{ann, cy} {
		if said := b.typed("space", "take-over"); !strings.Contains(said, "term 3") {
			t.Fatalf("take-over: %s", said)
		}
	}
	w.mark("two took over")
	w.hears(boxes...)
	for _, b := range boxes {
		b.mend()
	}
	w.mark("all mended")
	for _, b := range boxes {
		w.until(b.name+" is at the one term that counts", b, func(s seatIs) bool { return s.Term == 4 })
	}
	w.mark("one host again")
	w.hears(boxes...)
	close(stop)
	all.Wait()

	w.mark("quiet")
	for kind, least := range map[string]int{"message": 20, "task": 5, "var": 5} {
		if n := len(w.acked[kind]); n < least {
			t.Errorf("only %d of %s were acknowledged", n, kind)
		}
	}
	for _, b := range boxes {
		w.finds(b)
	}
	w.mark("found")
	w.agree(boxes)
	w.mark("agreed")
	last := w.hosts["ann"][4]
	if last == "" || w.hosts["bob"][4] != last || w.hosts["cy"][4] != last {
		t.Errorf("the last term has the hosts %v", w.hosts)
	}
	t.Logf("%d messages, %d tasks and %d variables acknowledged over %d kills of the host, a partition with a take-over, "+
		"and one with two at once; hosts by member and term: %v",
		len(w.acked["message"]), len(w.acked["task"]), len(w.acked["var"]), kills+1, w.hosts)
}

// witness remembers what was acknowledged, and whom each machine took for the
// host.
type witness struct {
	t      *testing.T
	mu     sync.Mutex
	acked  map[string]map[string]bool
	said   map[string]int              // machine → how much of what it said was acknowledged
	failed map[string]error            // machine → why the last thing that it could not say failed
	hosts  map[string]map[int64]string // machine → term → whom it took for the host
	at     map[string]int64            // machine → its last term
	began  time.Time
}

func (w *witness) mark(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.t.Logf("%s after %s and %d messages", what, time.Since(w.began).Round(100*time.Millisecond), len(w.acked["message"]))
}

// hears waits until each of some machines has said a few things more: stored by the host, or kept until it is reached again.
func (w *witness) hears(boxes ...*box) {
	w.t.Helper()
	count := func(b *box) int { w.mu.Lock(); defer w.mu.Unlock(); return w.said[b.name] }
	for _, b := range boxes {
		before := count(b)
		if !testenv.Within(3*time.Minute, func() bool { return count(b) >= before+3 }) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.t.Fatalf("never: %s goes on talking; what failed last: %v", b.name, w.failed[b.name])
		}
	}
}

func (w *witness) talk(b *box, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(50 * time.Millisecond):
		}
		word := fmt.Sprintf("%s-%d", b.name, i)
		kind, line := "message", []string{"space", "send", word}
		switch i % 6 {
		case 1:
			kind, line = "task", []string{"board", "add", word}
		case 3:
			kind, line = "var", []string{"space", "set", word, "v-" + word}
		case 5:
			w.seat(b)
			continue
		}
		out, err := b.try(append(line, "--json")...)
		if err != nil {
			w.mu.Lock()
			w.failed[b.name] = err
			w.mu.Unlock()
			continue
		}
		var said struct{ State string }
		if json.Unmarshal(out, &said) == nil && said.State != "" { // stored or queued: both are promises
			w.mu.Lock()
			w.acked[kind][word] = true
			w.said[b.name]++
			w.mu.Unlock()
		}
	}
}

type seatIs struct {
	Term        int64
	Host, State string
}

// seat looks whom a machine takes for the host now.
func (w *witness) seat(b *box) seatIs {
	out, err := b.try("space", "list", "--json")
	var list struct{ Seats []seatIs }
	if err != nil || json.Unmarshal(out, &list) != nil || len(list.Seats) != 1 {
		return seatIs{} // its daemon was killed under the question
	}
	s := list.Seats[0]
	host := s.Host
	if host == "this machine" {
		host = b.listen
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hosts[b.name] == nil {
		w.hosts[b.name] = map[int64]string{}
	}
	if was := w.hosts[b.name][s.Term]; was != "" && was != host {
		w.t.Errorf("%s took both %s and %s for the host of term %d", b.name, was, host, s.Term)
	}
	w.hosts[b.name][s.Term] = host
	if s.Term < w.at[b.name] {
		w.t.Errorf("%s went back from term %d to %d", b.name, w.at[b.name], s.Term)
	}
	w.at[b.name] = max(w.at[b.name], s.Term)
	if s.State != "active" {
		w.t.Errorf("%s is %s", b.name, s.State)
	}
	return s
}

func (w *witness) until(what string, b *box, ok func(seatIs) bool) {
	w.t.Helper()
	var s seatIs
	if !testenv.Within(3*time.Minute, func() bool { s = w.seat(b); return ok(s) }) {
		w.t.Fatalf("never: %s; %s sits at %+v", what, b.name, s)
	}
}

// finds waits until a machine knows everything that was acknowledged, once.
func (w *witness) finds(b *box) {
	w.t.Helper()
	var missing string
	all := testenv.Within(3*time.Minute, func() bool {
		missing = ""
		seen := map[string]map[string]int{"message": b.history(), "task": b.tasks(), "var": b.vars()}
		for kind, words := range w.acked {
			for word := range words {
				if n := seen[kind][word]; n != 1 {
					missing = fmt.Sprintf("%s finds the %s %q %d times", b.name, kind, word, n)
				}
			}
			for word, n := range seen[kind] {
				if n > 1 {
					missing = fmt.Sprintf("%s finds the %s %q %d times", b.name, kind, word, n)
				}
			}
		}
		return missing == ""
	})
	if !all {
		w.t.Error(missing)
	}
}

// agree waits until all machines verified the same history to the same entry.
func (w *witness) agree(boxes []*box) {
	w.t.Helper()
	type head struct {
		Entries int64
		Hash    string
		Term    int64
	}
	var heads []head
	same := testenv.Within(2*time.Minute, func() bool {
		heads = heads[:0]
		for _, b := range boxes {
			var h head
			b.must("space", "peers") // brings it up to date
			b.json(&h, "space", "verify")
			heads = append(heads, h)
		}
		return heads[0] == heads[1] && heads[1] == heads[2] && heads[0].Entries > 0
	})
	if !same {
		w.t.Errorf("the histories differ: %+v", heads)
		return
	}
	w.t.Logf("all verified %d entries to %.16s…, acknowledged by the hosts of %d terms", heads[0].Entries, heads[0].Hash, heads[0].Term)
}

// history counts every message this member knows.
func (b *box) history() map[string]int {
	b.t.Helper()
	seen := map[string]int{}
	for before := int64(0); ; {
		var page struct {
			Messages []struct {
				Seq  int64
				Text string
			}
		}
		b.json(&page, "space", "inbox", "--all", "--limit", "200", "--before", fmt.Sprint(before))
		for _, m := range page.Messages {
			seen[m.Text]++
		}
		if len(page.Messages) < 200 {
			return seen
		}
		before = page.Messages[0].Seq
	}
}

func (b *box) tasks() map[string]int {
	b.t.Helper()
	var out struct{ Tasks []struct{ Title string } }
	b.json(&out, "board")
	seen := map[string]int{}
	for _, t := range out.Tasks {
		seen[t.Title]++
	}
	return seen
}

func (b *box) vars() map[string]int {
	b.t.Helper()
	var out struct{ Vars []struct{ Key, Value string } }
	b.json(&out, "space", "get")
	seen := map[string]int{}
	for _, v := range out.Vars {
		if v.Value == "v-"+v.Key {
			seen[v.Key]++
		}
	}
	return seen
}
