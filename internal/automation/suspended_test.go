package automation

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"tandem/internal/automation/wire"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// A step of a suspended tenant failed, and its run with it. Now it waits, and is done when the tenant is resumed.
func TestAStepOfASuspendedTenantWaits(t *testing.T) {
	h := newHouse(t)
	var shut atomic.Bool
	shut.Store(true)
	as := h.As
	h.As = func(ctx context.Context, tenant, actor string) (op.Caller, error) {
		if shut.Load() {
			return op.Caller{}, fault.New(fault.Denied, "tenant", "the tenant is suspended").With("reason", "tenant suspended")
		}
		return as(ctx, tenant, actor)
	}
	id := h.begin(sending, nil)
	h.until(id, "it waits", func(r *wire.Run) bool { return strings.Contains(r.Steps[0].Waits, "suspended") })
	shut.Store(false)
	h.until(id, "it is over", func(r *wire.Run) bool {
		h.lookNow()
		return r.Status == "completed"
	})
	if n := h.outside.count("send dear all"); n != 1 {
		t.Errorf("it was sent %d times", n)
	}
}
