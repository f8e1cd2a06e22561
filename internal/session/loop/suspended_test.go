package loop

import (
	"testing"
	"time"

	"tandem/internal/session"
	"tandem/internal/testenv"
)

// A turn of a suspended tenant failed for good. Now it stays as it is, and goes on when the tenant is resumed.
func TestATurnOfASuspendedTenantWaits(t *testing.T) {
	h := newHouse(t)
	s := h.session()
	h.cancel() // so that the turn is open when the tenant is suspended
	turn := h.prompt(s, "[[say hello there]]")
	h.close()
	h.shut.Store(true)
	h.open()
	testenv.Eventually(t, "its step is refused", time.Minute, h.run.shut.Load)
	h.shut.Store(false)
	if err := h.run.wakeOpen(t.Context()); err != nil { // as watch does, every minute
		t.Fatal(err)
	}
	h.until(turn, session.Done)
	if h.said(s) != "hello there" {
		t.Errorf("it said %q", h.said(s))
	}
}
