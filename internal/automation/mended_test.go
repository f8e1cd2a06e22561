package automation

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/internal/approval"
	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// pending is the one ask that nobody answered yet.
func (h *house) pending(id string) (ask *approval.Ask) {
	h.t.Helper()
	h.until(id, "somebody is asked", func(*wire.Run) bool {
		for _, a := range do(h, approval.AskList, approval.ListIn{}).Asks {
			if ask = a; a.State == approval.Pending {
				return true
			}
		}
		return false
	})
	return ask
}

// Whoever is asked at a gate sees until when an answer is of use.
func TestTheAskOfAGateEndsWithIt(t *testing.T) {
	h := newHouse(t)
	before := time.Now()
	id := h.begin(strings.Replace(mailing, `"2d"`, `"8h"`, 1), nil)
	if a := h.pending(id); a.ExpiresAt.Before(before.Add(8*time.Hour-time.Minute)) || a.ExpiresAt.After(time.Now().Add(8*time.Hour)) {
		t.Errorf("the gate ends in 8 hours, and its ask in %s", a.ExpiresAt.Sub(before))
	}
}

// An answer that came while nobody listened is heard when somebody does again.
func TestAnAnswerIsHeardAfterARestart(t *testing.T) {
	h := newHouse(t)
	id := h.begin(mailing, nil)
	ask := h.pending(id)
	h.until(id, "the gate is parked", func(*wire.Run) bool {
		steps, err := stepsOf(looking{context.Background(), h.DB}, "t", id)
		h.must(err)
		return len(steps) == 2 && steps[1].waits == "ask:"+ask.ID
	})
	whole := do(h, approval.AskGet, approval.IDIn{ID: ask.ID})
	do(h, approval.AskDecide, approval.DecideIn{ID: ask.ID, Verdict: approval.Approve, Digest: whole.Digest, Pages: whole.PageDigests()})
	h.close()
	h.open(0)
	h.must(h.LookAgain(context.Background()))
	if done := h.until(id, "it is over", func(r *wire.Run) bool { return r.Status != "running" }); done.Status != "completed" {
		t.Errorf("it is %s: %s", done.Status, done.Reason)
	}
}

// A schedule whose person is gone is told of once, and not each minute.
func TestAScheduleOfSomebodyWhoIsGone(t *testing.T) {
	begin := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	h, wakeAt := asleep(t, begin)
	a := do(h, wire.Add, wire.AddIn{Text: fmt.Sprintf(often, "every 80s", "once", "")})
	do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
	h.cancel()
	<-h.ended
	as := h.As
	h.As = func(context.Context, string, string) (op.Caller, error) {
		return op.Caller{}, fault.New(fault.Unauthenticated, "identity", "owner is disabled")
	}
	for m := range 180 {
		wakeAt(begin.Add(time.Duration(m+2) * time.Minute))
	}
	ticks := do(h, wire.Ticks, wire.NameIn{Name: "all"}).Ticks
	if len(ticks) != 1 || !strings.Contains(ticks[0].Why, "owner is disabled") {
		t.Fatalf("in three hours it left %d rows: %+v", len(ticks), ticks)
	}
	h.As = as // let in again
	wakeAt(begin.Add(5 * time.Hour))
	if runs, _, _ := h.dealt(); runs != 1 {
		t.Errorf("let in again, it had %d runs", runs)
	}
}

// An automation is switched off and removed also where what it was cannot be read any more.
func TestOffWhereAVersionCannotBeRead(t *testing.T) {
	for _, harm := range []string{"UPDATE automation_version SET text = 'no definition'", "DELETE FROM automation_version"} {
		h := newHouse(t)
		id := h.begin(mailing, nil)
		h.pending(id)
		h.must(h.write(harm))
		if off := do(h, wire.Off, wire.NameIn{Name: "all"}); off.On {
			t.Errorf("after %s it is still on", harm)
		}
		all := do(h, wire.Runs, wire.RunsIn{}).Runs
		if len(all) != 1 || all[0].Status != "cancelled" || !strings.Contains(all[0].Reason, "cannot be read") {
			t.Errorf("after %s its run is %+v", harm, all[0])
		}
		do(h, wire.Remove, wire.NameIn{Name: "all"})
	}
}

// fill writes runs of one automation, begun by one, as many as there may be.
func (h *house) fill(name, by string, n int, ended int) {
	h.t.Helper()
	h.must(h.write(fmt.Sprintf(`WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < %d)
		INSERT INTO automation_run (%s) SELECT 't', 'run_0' || '%s' || i, '%s', 'd', 'paused', '', 'by hand', '%s', '{}', 1, %d,
		0, 0, '', '', '[]', '', 0, 0, '' FROM c`,
		n, runColumns, name, name, by, ended)))
}

// There are as many open runs of a tenant, and of one who begins them, as there may be; of those that ended the newest stay.
func TestRunsAreBounded(t *testing.T) {
	text := strings.Replace(fmt.Sprintf(often, "every day at 2:30", "once", ""), "runs = 1000", "runs = 10", 1)
	begun := func(h *house) error {
		_, err := op.Do(op.WithCaller(context.Background(), owner), h.gate, wire.Begin, wire.BeginIn{Name: "all"})
		return err
	}
	h := newHouse(t)
	h.cancel() // rows that stand for nothing are not gone on with
	<-h.ended
	a := do(h, wire.Add, wire.AddIn{Text: text})
	do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
	h.fill("all", "owner", kept+50, 7)
	h.must(begun(h))
	h.fill("other", "owner", maxFrom-1, 0)
	if err := begun(h); !fault.Is(err, fault.Exhausted) {
		t.Errorf("one began more than they may: %v", err)
	}
	var n int
	h.must(h.DB.QueryRow(t.Context(), "SELECT count(*) FROM automation_run WHERE name = 'all' AND ended_at > 0").Scan(&n))
	if n != kept {
		t.Errorf("%d runs stay that ended", n)
	}
	h.must(h.write("UPDATE automation_run SET made_by = 'somebody'"))
	h.must(begun(h))
	h.fill("third", "a third", maxOpen-maxFrom, 0)
	if err := begun(h); !fault.Is(err, fault.Exhausted) {
		t.Errorf("a tenant has more than it may: %v", err)
	}
}

// A run that waits for a person is listed however many others there are, and whoever else they belong to.
func TestRunsThatWaitAreNotLost(t *testing.T) {
	h := newHouse(t)
	h.cancel()
	<-h.ended
	h.fill("mine", "owner", 1, 0)
	h.must(h.write("UPDATE automation_run SET needs = 'look'"))
	h.fill("theirs", "second", 1200, 0)
	h.must(h.write("UPDATE automation_run SET needs = 'look' WHERE name = 'theirs' AND id LIKE '%1'"))
	ctx := op.WithMay(op.WithCaller(t.Context(), owner), func(_ string, r op.Resource) bool { return r.Path == "/mine" })
	for _, in := range []wire.RunsIn{{}, {Needs: true}, {Limit: 1}} {
		if out, err := h.runs(ctx, in); err != nil || len(out.Runs) != 1 || out.Runs[0].Name != "mine" {
			t.Errorf("%+v: %+v %v", in, out.Runs, err)
		}
	}
	if out, err := h.runs(op.WithMay(ctx, func(string, op.Resource) bool { return true }), wire.RunsIn{Needs: true, Limit: 500}); err != nil ||
		len(out.Runs) != 121 {
		t.Errorf("%d wait: %v", len(out.Runs), err)
	}
}
