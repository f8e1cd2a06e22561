package peer

import (
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
)

// A wake is one fixed sentence with ids and no words; there are twenty an hour,
// then messages wait and their senders are told; what a hook saw is surfaced.
func TestWakesAreBudgetedAndTold(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob")
	send := func() string {
		return do[Said](h, "ann", "space.send", SendIn{Type: "chat", Message: "secret words", To: "bob"}).ID
	}
	if out := do[Said](h, "bob", "space.wait", WaitIn{Seconds: 1}); out.Text != "" {
		t.Fatalf("woken for nothing: %s", out.Text)
	}
	woken := make(chan Said, 1)
	go func() {
		out, err := h.gate.Invoke(h.as("bob"), "space.wait", WaitIn{Seconds: 20})
		if err != nil {
			t.Error(err)
		}
		said, _ := out.(Said)
		woken <- said
	}()
	id := send()
	out := <-woken
	if out.Text != "1 message, "+id+": call intandem_inbox" {
		t.Fatalf("the sentence is %q", out.Text)
	}
	do[Said](h, "bob", "space.surfaced", SurfacedIn{Texts: []string{"Stop hook feedback: " + out.Text}, How: "hook"})
	// it failed, and each turn was a red row
	if said := do[Said](h, "carl", "space.surfaced", SurfacedIn{Texts: []string{"a prompt"}, How: "hook"}); said.Text != "0 surfaced" {
		t.Errorf("an agent in no space: %q", said.Text)
	}
	if r := do[Receipt](h, "ann", "space.receipt", ReceiptIn{ID: id}); r.Peers["bob"] != "surfaced" {
		t.Fatalf("receipt: %+v", r.Peers)
	}
	if out := do[Said](h, "bob", "space.wait", WaitIn{Seconds: 1}); out.Text != "" {
		t.Fatalf("woken twice for one message: %s", out.Text)
	}
	for range WakesPerHour - 1 {
		send()
		if out := do[Said](h, "bob", "space.wait", WaitIn{Seconds: 10}); !strings.Contains(out.Text, "call intandem_inbox") ||
			strings.Contains(out.Text, "secret") {
			t.Fatalf("wake: %q", out.Text)
		}
	}
	late := send()
	if out := do[Said](h, "bob", "space.wait", WaitIn{Seconds: 1}); out.Text != "" {
		t.Fatalf("woken beyond the budget: %s", out.Text)
	}
	eventually(t, "the sender being told that it waits", func() bool {
		return do[Receipt](h, "ann", "space.receipt", ReceiptIn{ID: late}).Peers["bob"] == "waiting"
	})
	do[Inbox](h, "bob", "space.inbox", InboxIn{Limit: 100})
	if r := do[Receipt](h, "ann", "space.receipt", ReceiptIn{ID: late}); r.Peers["bob"] != "read" {
		t.Fatalf("receipt after reading: %+v", r.Peers)
	}
}

// A newer hook takes the place of an older one, so that one message starts one
// turn.
func TestOneWaiterASeat(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob")
	old := make(chan Said, 1)
	go func() {
		out, err := h.gate.Invoke(h.as("bob"), "space.wait", WaitIn{Seconds: 20})
		if err != nil {
			t.Error(err)
		}
		said, _ := out.(Said)
		old <- said
	}()
	eventually(t, "the first waiter", func() bool {
		s, err := h.peers.enterSeat(h.as("bob"))
		if err != nil {
			t.Fatal(err)
		}
		defer s.mu.Unlock()
		return s.waiter == 1
	})
	do[Said](h, "bob", "space.wait", WaitIn{Seconds: 1})
	select {
	case out := <-old:
		if out.State != "superseded" {
			t.Fatalf("the older hook got %+v", out)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("the older hook still waits")
	}
}

// A hook tells of every turn, also when its agent was removed from its space: nothing failed, and nothing of it belongs into the
// journal as a failure. Waiting for mail is no slowness, either.
func TestHooksMakeNoNoise(t *testing.T) {
	h := newHouse(t)
	seated(h, "ann", "bob")
	do[Said](h, "ann", "space.remove", RemoveIn{Peer: "bob"})
	h.refused("bob", "space.send", SendIn{Type: "chat", Message: "still here?"}, fault.Denied)
	if said := do[Said](h, "bob", "space.surfaced", SurfacedIn{Texts: []string{"a prompt"}, How: "hook"}); said.Text != "0 surfaced" {
		t.Errorf("%q", said.Text)
	}
	waiting := 0
	for _, o := range h.gate.Table().All() {
		if o.Name == "space.wait" || o.Name == "space.pull" {
			waiting++
			if !o.Waits {
				t.Errorf("%s would be called slow", o.Name)
			}
		}
	}
	if waiting != 2 {
		t.Errorf("%d operations wait", waiting)
	}
}
