package automation

import (
	"context"
	"strings"
	"testing"

	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

const lasting = `
name = "all"
[inputs.week]
type = "integer"
[limits]
runs = 2
[[node]]
id = "draft"
on_failure = "pause"
inputs = { week = "input.week" }
[node.operation]
name = "mark.fail"
input = { text = "week {{week}}" }
[[node]]
id = "rest"
after = ["draft"]
[node.wait]
for = "1h"
[[node]]
id = "send"
after = ["rest"]
[node.operation]
name = "mark.send"
input = { text = "{{w}}" }
`

// A run is given its inputs by their types, and no others.
func TestARunIsGivenItsInputs(t *testing.T) {
	h := newHouse(t)
	text := strings.Replace(lasting, `"{{w}}"`, `"over"`, 1)
	a := do(h, wire.Add, wire.AddIn{Text: text})
	do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
	for _, bad := range []map[string]any{nil, {"week": "42"}, {"week": 42, "day": 1}} {
		_, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Begin, wire.BeginIn{Name: "all", Input: bad})
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%v: %v", bad, err)
		}
	}
	id := do(h, wire.Begin, wire.BeginIn{Name: "all", Input: map[string]any{"week": 42}}).ID
	h.until(id, "it failed", func(r *wire.Run) bool { return r.Status == "paused" })
	if h.outside.count("fail week 42") != 1 {
		t.Errorf("it was given something else: %v", h.outside.acted)
	}
}

// People pause, resume, retry, skip and cancel; each changes what comes next, and what does not fit is refused.
func TestPeopleSteerARun(t *testing.T) {
	h := newHouse(t)
	id := h.begin(strings.Replace(lasting, `"{{w}}"`, `"over"`, 1), map[string]any{"week": 1})
	paused := h.until(id, "its first step failed", func(r *wire.Run) bool { return r.Status == "paused" })
	if !strings.Contains(paused.Reason, "draft failed") {
		t.Errorf("it says %q", paused.Reason)
	}
	do(h, wire.Retry, wire.StepIn{ID: id, Node: "draft"})
	do(h, wire.Resume, wire.RunIn{ID: id})
	h.until(id, "it failed again", func(r *wire.Run) bool { return r.Status == "paused" && r.Steps[0].Attempt == 2 })
	if n := h.outside.count("fail week 1"); n != 2 {
		t.Errorf("it was tried %d times", n)
	}
	do(h, wire.Skip, wire.StepIn{ID: id, Node: "draft", Reason: "written by hand"})
	do(h, wire.Resume, wire.RunIn{ID: id})
	got := do(h, wire.Trace, wire.RunIn{ID: id})
	if got.Steps[0].State != "skipped" || got.Steps[0].Reason != "written by hand" {
		t.Errorf("the step is %+v", got.Steps[0])
	}
	other := do(h, wire.Begin, wire.BeginIn{Name: "all", Input: map[string]any{"week": 2}}).ID
	do(h, wire.Off, wire.NameIn{Name: "all"})
	h.until(other, "switched off it is paused", func(r *wire.Run) bool { return r.Status == "paused" })
	_, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Resume, wire.RunIn{ID: other})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("it goes on though it is switched off: %v", err)
	}
	if r := do(h, wire.Cancel, wire.RunIn{ID: other, Reason: "enough"}); r.Status != "cancelled" || r.Reason != "enough" {
		t.Errorf("cancelled it is %+v", r)
	}
	agent := op.Caller{Tenant: "t", Actor: "act_a", Name: "builder", Kind: op.Agent, Door: op.DoorHTTP, Request: "r"}
	_, err = op.Do(op.WithCaller(context.Background(), agent), h.gate, wire.Accept, wire.StepIn{ID: id, Node: "draft"})
	if err == nil {
		t.Error("an agent said that a step was done")
	}
}

// A run belongs to the version that somebody looked at: when another one is switched on it is paused, and does not go on.
func TestAnotherVersionPausesRuns(t *testing.T) {
	h := newHouse(t)
	text := strings.Replace(lasting, `"{{w}}"`, `"over"`, 1)
	id := h.begin(strings.Replace(text, "mark.fail", "mark.add", 1), map[string]any{"week": 1})
	h.until(id, "it waits", func(r *wire.Run) bool { return r.Steps[0].State == "done" })
	a := do(h, wire.Add, wire.AddIn{Text: text})
	do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
	if r := do(h, wire.Trace, wire.RunIn{ID: id}); r.Status != "paused" || !strings.Contains(r.Reason, "another version") {
		t.Errorf("the run is %s: %s", r.Status, r.Reason)
	}
	_, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Resume, wire.RunIn{ID: id})
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("it goes on beside another version: %v", err)
	}
}
