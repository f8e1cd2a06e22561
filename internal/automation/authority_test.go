package automation

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// An automation acts with the authority of whoever switched it on. When another person switches the same version on, the runs that the
// first one's authority began went on with the second one's: they are paused, and stay so.
func TestAnotherPersonPausesRuns(t *testing.T) {
	h := newHouse(t)
	text := strings.NewReplacer(`"{{w}}"`, `"over"`, "mark.fail", "mark.add").Replace(lasting)
	id := h.begin(text, map[string]any{"week": 1})
	h.until(id, "it waits", func(r *wire.Run) bool { return r.Steps[0].State == "done" })
	digest := do(h, wire.Trace, wire.RunIn{ID: id}).Digest
	do(h, wire.On, wire.OnIn{Name: "all", Digest: digest})
	if r := do(h, wire.Trace, wire.RunIn{ID: id}); r.Status != "running" {
		t.Errorf("switched on by the same person again, the run is %s: %s", r.Status, r.Reason)
	}
	second := op.Caller{Tenant: "t", Actor: "act_second", Name: "second", Kind: op.Person, Door: op.DoorSocket, Present: "pin", Request: "r"}
	as := op.WithCaller(context.Background(), second)
	if _, err := op.Do(as, h.gate, wire.On, wire.OnIn{Name: "all", Digest: digest}); err != nil {
		t.Fatal(err)
	}
	if r := do(h, wire.Trace, wire.RunIn{ID: id}); r.Status != "paused" || !strings.Contains(r.Reason, "another person") {
		t.Errorf("the run is %s: %s", r.Status, r.Reason)
	}
	if _, err := op.Do(as, h.gate, wire.Resume, wire.RunIn{ID: id}); !fault.Is(err, fault.Conflict) {
		t.Errorf("it goes on with the authority of somebody else: %v", err)
	}
}

// A server renewed every claim with its name, also one of which it knew nothing: the step stood still for ever. Only what is in hand is
// renewed; the rest runs out and is taken over.
func TestALostClaimIsTakenOver(t *testing.T) {
	var ahead atomic.Int64
	h := newHouseAt(t, func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) })
	h.cancel()
	<-h.ended
	id := h.begin("name = \"all\"\n[[node]]\nid = \"say\"\n[node.operation]\nname = \"mark.send\"\ninput = { text = \"once\" }\n", nil)
	ctx := t.Context()
	h.must(h.DB.Write(ctx, func(tx *db.Tx) error { // claimed, and the answer of the database was lost
		_, err := h.change(tx, "t", id, func(run *held) error {
			c := h.claims("t")
			err := h.claimAll(ctx, run, c)
			if len(c.jobs) != 1 {
				t.Errorf("%d claims", len(c.jobs))
			}
			c.drop()
			return err
		})
		return err
	}))
	ahead.Store(int64(lease + time.Second))
	h.renew(ctx)
	var until int64
	h.must(h.DB.QueryRow(ctx, "SELECT lease_until FROM automation_step WHERE run = ?", id).Scan(&until))
	if db.Time(until).After(h.DB.Now()) {
		t.Error("a claim was renewed of which nobody here knows")
	}
	going, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { h.Run(going); close(ended) }()
	h.until(id, "it is taken over", func(r *wire.Run) bool { return r.Status == "completed" })
	cancel()
	<-ended
	if n := h.outside.count("send once"); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
}

// Whoever walked away was not told that a run failed, nor that a step waits for somebody to say whether it was done.
func TestPeopleAreToldOfARunThatDoesNotGoOn(t *testing.T) {
	h := newHouse(t)
	var told atomic.Pointer[[]string]
	told.Store(&[]string{})
	h.Told = func(_ *db.Tx, _ string, r *wire.Run) error {
		all := append(slices.Clone(*told.Load()), r.Status+": "+r.Needs+r.Reason)
		told.Store(&all)
		return nil
	}
	text := strings.Replace(lasting, `"{{w}}"`, `"over"`, 1)
	id := h.begin(text, map[string]any{"week": 1})
	h.until(id, "a failure paused it", func(r *wire.Run) bool { return r.Status == "paused" && r.Needs != "" })
	do(h, wire.Cancel, wire.RunIn{ID: id})
	failing := h.begin(strings.Replace(text, "on_failure = \"pause\"\n", "", 1), map[string]any{"week": 1})
	h.until(failing, "it failed", func(r *wire.Run) bool { return r.Status == "failed" })
	got := *told.Load()
	if len(got) != 2 || !strings.HasPrefix(got[0], "paused: draft failed") || !strings.HasPrefix(got[1], "failed: draft") {
		t.Errorf("told: %q", got)
	}
	h.cancel()
	<-h.ended
	lostID := h.begin(strings.Replace(text, "mark.fail", "mark.send", 1), map[string]any{"week": 1})
	var run *wire.Run
	h.must(h.DB.Write(t.Context(), func(tx *db.Tx) error {
		x, err := h.change(tx, "t", lostID, func(x *held) error {
			c := h.claims("t")
			if err := h.claimAll(t.Context(), x, c); err != nil {
				return err
			}
			jobs := c.jobs
			c.drop()
			e := lost("it broke off").Event
			e.Node, e.Item, e.Attempt, e.Fence = "draft", -1, 1, jobs[0].step.fence
			return x.apply(e)
		})
		if err == nil {
			run = x.seen()
		}
		return err
	}))
	if got = *told.Load(); run.Needs != "draft: nobody knows whether it was done" || len(got) != 3 {
		t.Errorf("it needs %q, told: %q", run.Needs, got)
	}
}
