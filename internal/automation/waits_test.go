package automation

import (
	"context"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// byHand is a house in which nothing goes on unless the test says so.
func byHand(t *testing.T) *house {
	h := newHouse(t)
	h.cancel()
	<-h.ended
	return h
}

// rounds goes on with a run so many times, each time until its steps are done.
func (h *house) rounds(id string, n int) {
	h.t.Helper()
	for range n {
		h.must(h.goOn(context.Background(), runKey{"t", id}))
		h.working.Wait()
	}
}

// hasty answers each ask before whoever asked hears that they have to wait.
type hasty struct {
	op.Invoker
	h *house
}

func (e hasty) Invoke(ctx context.Context, name string, in any) (any, error) {
	out, err := e.Invoker.Invoke(ctx, name, in)
	if f := fault.Public(err); err != nil && f.Kind == fault.Pending {
		e.h.decide(f.Data["approval"], approval.Approve, "")
	}
	return out, err
}

// An answer that comes before its step is parked is heard, at a gate and at an operation that is asked about. It was heard an hour later.
func TestAnAnswerBeforeItsStepIsParked(t *testing.T) {
	h := byHand(t)
	h.Rooms = hasty{h.Rooms, h}
	id := h.begin(strings.Replace(mailing, "mark.add", "mark.ask", 1), nil)
	h.rounds(id, 6) // two asks, each looked at twice; the last step; and what is over
	if r := do(h, wire.Trace, wire.RunIn{ID: id}); r.Status != "completed" {
		t.Errorf("it is %s, and waits for %v", r.Status, r.Waits)
	}
}

// A gate that a person skips asks nobody any more, and is not looked at again and again while its run goes on.
func TestASkippedGateIsOver(t *testing.T) {
	for _, paused := range []bool{false, true} {
		h := byHand(t)
		id := h.begin(mailing+"[[node]]\nid = \"rest\"\n[node.wait]\nfor = \"60h\"\n", nil)
		h.rounds(id, 2)
		ask := h.pending(id)
		if paused {
			do(h, wire.Pause, wire.RunIn{ID: id})
		}
		do(h, wire.Skip, wire.StepIn{ID: id, Node: "look", Reason: "nobody is here"})
		h.must(h.LookAgain(t.Context()))
		if wait := h.pass(t.Context()); wait < time.Second {
			t.Errorf("paused %v: it is looked at again after %s", paused, wait)
		}
		h.working.Wait()
		if a := do(h, approval.AskGet, approval.IDIn{ID: ask.ID}); a.State != approval.Cancelled || a.DecidedBy != approval.Abandoned {
			t.Errorf("paused %v: its ask is %s by %q", paused, a.State, a.DecidedBy)
		}
		steps, err := stepsOf(looking{t.Context(), h.DB}, "t", id)
		h.must(err)
		for _, s := range steps {
			if s.state != over {
				t.Errorf("paused %v: %s is %s and waits for %q", paused, s.node, s.state, s.waits)
			}
		}
	}
}

// A run whose version cannot be read is tried now and then; once somebody gave it up it rests, asks nobody, and stays as it ended.
func TestARunThatCannotBeReadRests(t *testing.T) {
	giveUp := map[string]func(*house, string){
		"cancel": func(h *house, id string) { do(h, wire.Cancel, wire.RunIn{ID: id}) },
		"off":    func(h *house, _ string) { do(h, wire.Off, wire.NameIn{Name: "all"}) },
	}
	for how, end := range giveUp {
		h := byHand(t)
		id := h.begin(mailing, nil)
		h.rounds(id, 2)
		ask := h.pending(id)
		h.must(h.write("UPDATE automation_version SET text = 'no definition'"))
		h.must(h.LookAgain(t.Context()))
		if wait := h.pass(t.Context()); wait != again {
			t.Errorf("%s: it is tried again after %s", how, wait)
		}
		// nor does it keep a copy from coming back
		h.must(h.DB.Write(t.Context(), func(tx *db.Tx) error { _, err := h.Restored(tx); return err }))
		end(h, id)
		h.stir(runKey{"t", id}) // as a step does that comes to its end now
		if wait := h.pass(t.Context()); wait <= again || len(h.dirty) > 0 {
			t.Errorf("%s: it was given up, and is tried again after %s", how, wait)
		}
		if a := do(h, approval.AskGet, approval.IDIn{ID: ask.ID}); a.State != approval.Cancelled || a.DecidedBy != approval.Abandoned {
			t.Errorf("%s: its ask is %s by %q", how, a.State, a.DecidedBy)
		}
		_, err := op.Do(op.WithCaller(t.Context(), owner), h.gate, wire.Cancel, wire.RunIn{ID: id})
		if !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: it was ended twice: %v", how, err)
		}
	}
}
