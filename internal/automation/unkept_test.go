package automation

import (
	"context"
	"strings"
	"sync"
	"testing"

	"tandem/internal/approval"
	artifact "tandem/internal/artifact/wire"
	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// shelf keeps artifacts for a test. What is wrong with it is said instead.
type shelf struct {
	mu          sync.Mutex
	kept        []artifact.KeepIn
	full, blind error
	tried       int
}

func (s *shelf) set(full, blind error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full, s.blind = full, blind
}

func (s *shelf) tries() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tried
}

func (s *shelf) keep(_ context.Context, _ *db.Tx, in artifact.KeepIn) (*artifact.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried++; s.full != nil {
		return nil, s.full
	}
	s.kept = append(s.kept, in)
	return &artifact.Artifact{ID: "art_1", Name: "all." + in.Node + "." + in.Output, Version: len(s.kept), Kind: in.Kind}, nil
}

func (s *shelf) text(context.Context, string, string, string) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tried++; s.blind != nil {
		return "", false, s.blind
	}
	return string(s.kept[len(s.kept)-1].Data), true, nil
}

// lookNow has every step that waits looked at.
func (h *house) lookNow() {
	h.t.Helper()
	h.must(h.write("UPDATE automation_step SET look_at = 1 WHERE state = 'parked'"))
	h.rouse()
}

const sending = `
name = "all"
[[node]]
id = "send"
retry = { attempts = 3, wait = "1ms" }
[node.operation]
name = "mark.send"
input = { text = "dear all" }
[node.output.text]
artifact = "json"
`

// An effect whose artifact cannot be kept is not done again: its step waits, and keeps what was done once there is room. What will never be
// kept is a person's to look at.
func TestAnEffectIsNotRepeatedForItsArtifact(t *testing.T) {
	h := newHouse(t)
	h.shelf.set(fault.New(fault.Exhausted, "artifact.keep", "there is no room"), nil)
	id := h.begin(sending, nil)
	h.until(id, "it waits for room", func(r *wire.Run) bool { return strings.Contains(r.Steps[0].Waits, "there is no room") })
	h.until(id, "it was tried again", func(*wire.Run) bool { h.lookNow(); return h.shelf.tries() > 1 })
	h.shelf.set(nil, nil)
	h.until(id, "it is over", func(r *wire.Run) bool {
		h.lookNow()
		return r.Status == "completed"
	})
	if n := h.outside.count("send dear all"); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
	h.shelf.set(fault.New(fault.Denied, "artifact.keep", "it may not"), nil)
	id = do(h, wire.Begin, wire.BeginIn{Name: "all"}).ID
	r := h.until(id, "a person looks", func(r *wire.Run) bool { return r.Steps[0].State == "unknown" || r.Status != "running" })
	if n := h.outside.count("send dear all"); n != 2 || !strings.Contains(r.Steps[0].Reason, "it may not") {
		t.Errorf("it was sent %d times: %+v", n, r)
	}
}

const reading = sending + `
[[node]]
id = "look"
[node.gate]
shows = ["send.text"]
`

// A gate that cannot read what it shows is looked at again, and its answer is not lost; where that is gone for good, the run ends with
// the reason.
func TestAGateWhoseArtifactIsGone(t *testing.T) {
	h := newHouse(t)
	id := h.begin(reading, nil)
	ask := h.pending(id).ID
	h.shelf.set(nil, fault.New(fault.Unavailable, "artifact", "no disk"))
	tried := h.shelf.tries()
	h.decide(ask, approval.Approve, "")
	h.until(id, "it was looked at", func(*wire.Run) bool { return h.shelf.tries() > tried })
	h.shelf.set(nil, nil)
	h.until(id, "it is over", func(r *wire.Run) bool {
		h.lookNow()
		return r.Status == "completed"
	})
	id = do(h, wire.Begin, wire.BeginIn{Name: "all"}).ID
	ask = h.pending(id).ID
	h.shelf.set(nil, fault.New(fault.NotFound, "artifact", "it is not kept any more"))
	r := h.until(id, "it is over", func(r *wire.Run) bool { h.lookNow(); return r.Status != "running" })
	if r.Status != "cancelled" || !strings.Contains(r.Reason, "not kept any more") {
		t.Errorf("it is %s: %s", r.Status, r.Reason)
	}
	if a := do(h, approval.AskGet, approval.IDIn{ID: ask}); a.State == approval.Pending {
		t.Errorf("its ask is still %s", a.State)
	}
}

// No node calls what keeps artifacts: the server looks at an output first.
func TestNoNodeKeepsArtifacts(t *testing.T) {
	h := newHouse(t)
	a := do(h, wire.Add, wire.AddIn{Text: strings.Replace(sending, "mark.send", "artifact.keep", 1)})
	_, err := op.Do(op.WithCaller(t.Context(), owner), h.gate, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "artifact.keep is not for automations") {
		t.Errorf("it was switched on: %v", err)
	}
}
