package loop

import (
	"context"
	"testing"

	"tandem/internal/session"
)

// An interrupt that meets a worker before it has begun its turn ended the worker with an error, and the turn stayed open for good: nobody
// looked at it again.
func TestAnInterruptBeforeATurnBeginsLosesNoTurn(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	h.run.mu.Lock()
	ctx, cancel := context.WithCancelCause(h.run.base)
	w := &worker{cancel: cancel}
	h.run.working[local.Tenant+"\x00"+s.ID] = w // so that nobody else takes the turn
	h.run.mu.Unlock()
	turn := h.prompt(s, `[[say end]]`)
	cancel(errCancelled)
	h.run.work(ctx, local.Tenant, s.ID, w)
	if end := h.until(turn, session.Done, session.Cancelled, session.Failed); end.State != session.Done {
		t.Errorf("%s: %s", end.State, end.Reason)
	}
}
