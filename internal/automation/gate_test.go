package automation

import (
	"context"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

const mailing = `
name = "all"
[[node]]
id = "draft"
[node.operation]
name = "mark.add"
input = { text = "dear all" }
[node.output.text.schema]
type = "string"
[[node]]
id = "look"
[node.gate]
shows = ["draft.text"]
rework = "draft"
expires = "2d"
[[node]]
id = "send"
after = ["look"]
inputs = { text = "draft.text" }
[node.operation]
name = "mark.send"
input = { text = "{{text}}" }
`

// answer waits for the one ask that is pending, but not that one, and answers it as the owner.
func (h *house) answer(id string, not string, v approval.Verdict, feedback string) string {
	h.t.Helper()
	var ask *approval.Ask
	h.until(id, "somebody is asked", func(*wire.Run) bool {
		for _, a := range do(h, approval.AskList, approval.ListIn{}).Asks {
			if a.ID != not && a.State == approval.Pending {
				ask = a
				return true
			}
		}
		return false
	})
	if !strings.Contains(string(ask.Input), "dear all") {
		h.t.Errorf("the person is shown %s", ask.Input)
	}
	h.decide(ask.ID, v, feedback)
	return ask.ID
}

// decide answers an ask as the owner, who looked at it.
func (h *house) decide(ask string, v approval.Verdict, feedback string) {
	h.t.Helper()
	whole := do(h, approval.AskGet, approval.IDIn{ID: ask})
	in := approval.DecideIn{ID: ask, Verdict: v, Feedback: feedback, Digest: whole.Digest}
	if whole.First != nil {
		in.Pages = []string{whole.First.Digest}
	}
	do(h, approval.AskDecide, in)
	h.must(h.Answered(context.Background(), "t", ask))
}

// Draft, gate, sent back with a word, drafted again, approved, sent once. An agent does not answer.
func TestAGateIsAnswered(t *testing.T) {
	h := newHouse(t)
	id := h.begin(mailing, nil)
	waits := h.until(id, "it waits", func(r *wire.Run) bool { return len(r.Waits) > 0 })
	if !strings.Contains(waits.Waits[0], "look") {
		t.Errorf("it waits for %v", waits.Waits)
	}
	first := h.answer(id, "", approval.SendBack, "shorter")
	again := h.until(id, "it was drafted again", func(r *wire.Run) bool { return len(r.Steps[0].Notes) == 1 && r.Steps[0].Attempt == 2 })
	if again.Steps[0].Notes[0] != "shorter" || h.outside.count("send dear all") != 0 {
		t.Errorf("after rework: %+v", again.Steps)
	}
	h.answer(id, first, approval.Approve, "")
	done := h.until(id, "it is over", func(r *wire.Run) bool { return r.Status != "running" })
	if done.Status != "completed" || h.outside.count("send dear all") != 1 || done.Steps[1].Output["by"] != "owner" {
		t.Errorf("it ended %s with %d sent: %+v", done.Status, h.outside.count("send dear all"), done.Steps)
	}
	_, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Pass, wire.PassIn{Name: "all", Run: id, Node: "look"})
	if !fault.Is(err, fault.Denied) {
		t.Errorf("somebody passed the gate by calling it: %v", err)
	}
}

// A gate that is answered with no ends the run, and a run that is cancelled asks nobody any more.
func TestAGateThatIsNotPassed(t *testing.T) {
	h := newHouse(t)
	id := h.begin(mailing, nil)
	h.answer(id, "", approval.Cancel, "not this week")
	done := h.until(id, "it is over", func(r *wire.Run) bool { return r.Status != "running" })
	if done.Status != "cancelled" || done.Reason != "not this week" || h.outside.count("send dear all") != 0 {
		t.Errorf("it ended %s: %s", done.Status, done.Reason)
	}
	other := do(h, wire.Begin, wire.BeginIn{Name: "all"}).ID
	pending := func() (n int) {
		for _, a := range do(h, approval.AskList, approval.ListIn{}).Asks {
			if a.State == approval.Pending {
				n++
			}
		}
		return n
	}
	h.until(other, "somebody is asked", func(*wire.Run) bool { return pending() == 1 })
	do(h, wire.Cancel, wire.RunIn{ID: other})
	h.until(other, "nobody is asked any more", func(*wire.Run) bool { return pending() == 0 })
}

// An operation that a person approved while its run was paused acts when the run goes on, and not before.
func TestAPausedRunHearsNoAnswer(t *testing.T) {
	h := newHouse(t)
	id := h.begin(strings.Replace(mailing, "mark.add", "mark.ask", 1), nil)
	var ask string
	h.until(id, "somebody is asked", func(*wire.Run) bool {
		for _, a := range do(h, approval.AskList, approval.ListIn{}).Asks {
			ask = a.ID
		}
		return ask != "" && h.parked(id)
	})
	do(h, wire.Pause, wire.RunIn{ID: id})
	h.decide(ask, approval.Approve, "")
	h.must(h.goOn(t.Context(), runKey{"t", id}))
	if !h.parked(id) {
		t.Error("the step went on in a paused run")
	}
	do(h, wire.Resume, wire.RunIn{ID: id})
	h.until(id, "it acted", func(r *wire.Run) bool { return r.Steps[0].State == "done" })
	if n := h.outside.count("ask dear all"); n != 1 {
		t.Errorf("it acted %d times", n)
	}
}

// parked reports whether the first step of a run waits for somebody.
func (h *house) parked(id string) bool {
	steps, err := stepsOf(looking{context.Background(), h.DB}, "t", id)
	h.must(err)
	return len(steps) > 0 && steps[0].state == parked
}
