package automation

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

const hearing = `
name = "all"
[[trigger]]
id = "put"
event = "resource.put"
[[node]]
id = "mark"
[node.operation]
name = "mark.add"
input = { text = "due" }
`

// A listener that is denied rests as a schedule does, although each denial is an event that wakes it: one row says why. One that failed for
// a moment is looked at again by itself.
func TestAListenerThatFailedRests(t *testing.T) {
	begin := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		failure error
		rests   time.Duration
	}{
		{fault.New(fault.Denied, "audit.log", "it may not"), rarely},
		{fault.New(fault.Unavailable, "audit.log", "the database is busy"), longest},
	} {
		var now atomic.Int64
		now.Store(begin.UnixMicro())
		h := newHouseAt(t, func() time.Time { return time.UnixMicro(now.Load()) })
		h.cancel() // its worker would look as well
		<-h.ended
		h.Head = func() int64 { return 0 }
		looked := 0
		h.As = func(context.Context, string, string) (op.Caller, error) {
			looked++
			h.Noticed()
			return op.Caller{}, c.failure
		}
		a := do(h, wire.Add, wire.AddIn{Text: hearing})
		do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
		for range 20 {
			h.must(h.listen(t.Context()))
		}
		if looked != 1 {
			t.Errorf("%v: it was looked at %d times at once", c.failure, looked)
		}
		h.mu.Lock()
		h.grew = false // nothing else happens
		h.mu.Unlock()
		now.Store(begin.Add(c.rests).UnixMicro())
		h.must(h.listen(t.Context()))
		if looked != 2 {
			t.Errorf("%v: after its rest it was looked at %d times", c.failure, looked)
		}
		if _, skipped, rows := h.dealt(); rows != 1 || skipped != 1 {
			t.Errorf("%v: %d rows say why", c.failure, rows)
		}
	}
}
