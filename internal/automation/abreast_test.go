package automation

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/automation/wire"
	"tandem/internal/op"
)

const works = "[[node]]\nid = \"work\"\n[node.turn]\nagent = \"claude\"\nprompt = \"Two words\"\nfolders = [\"/\"]\n"

// A run that a node begins has the node's time from its own beginning, and none passes while it is paused; when it is over, what the run
// used so far counts.
func TestASubRunHasItsTimeFromItsBeginning(t *testing.T) {
	begin := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	h, wakeAt := asleep(t, begin)
	h.cancel()
	<-h.ended
	h.switchOn(fmt.Sprintf(rests, works))
	id := h.begin(strings.Replace(oneSub, "[[node]]", "profile = \"strict\"\n[[node]]", 1), nil)
	h.rounds(id, 1)
	ask := h.pending(id)
	at := func(minutes time.Duration) { wakeAt(begin.Add(minutes * time.Minute)) }
	at(35) // the node has 30
	h.decide(ask.ID, approval.Approve, "")
	h.must(h.LookAgain(t.Context()))
	h.rounds(id, 1)
	child := do(h, wire.Trace, wire.RunIn{ID: id}).Steps[0].Run
	h.rounds(child, 1)
	at(37)
	h.rounds(child, 1)
	status := func(want string) *wire.Run {
		t.Helper()
		h.rounds(id, 1)
		got := do(h, wire.Trace, wire.RunIn{ID: id})
		if got.Status != want {
			t.Fatalf("it is %s: %s", got.Status, got.Reason)
		}
		return got
	}
	status("running")
	do(h, wire.Pause, wire.RunIn{ID: child})
	at(77)
	do(h, wire.Resume, wire.RunIn{ID: child})
	status("running") // 42 minutes, of which it was paused for 40
	at(107)
	if got := status("failed"); !strings.Contains(got.Reason, "the node's time is") || got.Tokens != 7 {
		t.Errorf("it used %d tokens: %s", got.Tokens, got.Reason)
	}
}

// A run is paused and goes on with the one that began it; whom a person paused stays so.
func TestASubRunIsPausedWithItsParent(t *testing.T) {
	h := newHouse(t)
	h.switchOn(fmt.Sprintf(rests, ""))
	id := h.begin(oneSub, nil)
	child := h.until(id, "it waits for its run", func(r *wire.Run) bool { return r.Steps[0].Run != "" }).Steps[0].Run
	is := func(status string) func(*wire.Run) bool { return func(r *wire.Run) bool { return r.Status == status } }
	do(h, wire.Pause, wire.RunIn{ID: id})
	h.until(child, "it is paused, too", is("paused"))
	do(h, wire.Resume, wire.RunIn{ID: id})
	h.until(child, "it goes on, too", is("running"))
	do(h, wire.Off, wire.NameIn{Name: "all"})
	h.until(child, "it is paused, too", is("paused"))
	do(h, wire.Pause, wire.RunIn{ID: child})
	a := do(h, wire.Show, wire.ShowIn{Name: "all"})
	do(h, wire.On, wire.OnIn{Name: "all", Digest: a.Latest})
	do(h, wire.Resume, wire.RunIn{ID: id})
	h.must(h.abreast(t.Context()))
	if s := h.status(child); s != "paused" {
		t.Errorf("a person paused it, and it is %s", s)
	}
}

// mute does what is asked of it, and says that it did not.
type mute struct{ op.Invoker }

func (m mute) Invoke(ctx context.Context, name string, in any) (any, error) {
	out, err := m.Invoker.Invoke(ctx, name, in)
	if name == string(wire.Begin) {
		return nil, errNo
	}
	return out, err
}

// The step knows of its run in the change that begins it: one of which nobody heard does not go on beside the next.
func TestASubRunIsKnownToItsStep(t *testing.T) {
	h := byHand(t)
	h.switchOn(fmt.Sprintf(rests, ""))
	h.Rooms = mute{h.Rooms}
	id := h.begin(oneSub, nil)
	h.rounds(id, 1)
	h.must(h.orphans(t.Context()))
	if got := do(h, wire.Runs, wire.RunsIn{Name: "small"}).Runs; len(got) != 1 || got[0].EndedAt.IsZero() {
		t.Errorf("its runs are %+v", got)
	}
}

// A run that a node begins has no more than its parent has left, and waits for a place when there is none.
func TestASubRunHasNoMoreThanIsLeft(t *testing.T) {
	h := newHouse(t)
	h.switchOn("name = \"small\"\n" + works)
	less := strings.Replace(oneSub, "[[node]]", "[limits]\ntokens = 5\n[[node]]", 1)
	id := h.begin(less, nil)
	got := h.until(id, "it ends", isOver)
	child := do(h, wire.Trace, wire.RunIn{ID: got.Steps[0].Run})
	if child.Status != "failed" || !strings.Contains(child.Reason, "more than its limits") { // its turn uses 7
		t.Errorf("it is %s: %s", child.Status, child.Reason)
	}
	h.switchOn(fmt.Sprintf(rests, ""))
	first := do(h, wire.Begin, wire.BeginIn{Name: "small"}).ID
	id = h.begin(oneSub, nil)
	h.until(id, "it waits for a place", func(r *wire.Run) bool { return strings.Contains(strings.Join(r.Waits, ""), "a place") })
	do(h, wire.Cancel, wire.RunIn{ID: first})
	h.until(id, "it has one", func(r *wire.Run) bool { return r.Steps[0].Run != "" })
}

// The program of an agent that was opened and never prompted ends with its step: when the prompt is refused, and when the run ends first.
func TestAnAgentThatIsNotPromptedIsClosed(t *testing.T) {
	h := byHand(t)
	closed := func(n int) {
		t.Helper()
		h.must(h.closeVacant(t.Context()))
		if got := h.outside.count("close"); got != n {
			t.Fatalf("%d were closed, not %d", got, n)
		}
	}
	id := h.begin("name = \"all\"\n"+strings.Replace(works, "Two words", "Never", 1), nil)
	h.rounds(id, 1)
	if s := h.status(id); s != "failed" {
		t.Fatalf("it is %s", s)
	}
	closed(1)
	id = h.begin("name = \"all\"\n"+works, nil)
	h.rounds(id, 1)
	h.must(h.write("UPDATE automation_step SET turn = '', waits = 'an answer' WHERE state = 'parked'"))
	do(h, wire.Cancel, wire.RunIn{ID: id})
	h.rounds(id, 1)
	closed(2)
}
