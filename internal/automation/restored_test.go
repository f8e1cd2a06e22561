package automation

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/automation/wire"
	"tandem/internal/db"
)

// A copy that is put back lets nothing happen a second time by itself: its open runs wait for somebody to look, and moments that passed
// since it was made begin nothing.
func TestARestoreRepeatsNothing(t *testing.T) {
	begin := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	var now atomic.Int64
	at := func(t time.Time) { now.Store(t.UnixMicro()) }
	at(begin)
	h := newHouseAt(t, func() time.Time { return time.UnixMicro(now.Load()) })
	text := fmt.Sprintf(often, "every 80s", "catch-up", "catch_up = 5")
	text = strings.ReplaceAll(text, "[node.operation]\nname = \"mark.add\"\ninput = { text = \"due\" }", "[node.wait]\nfor = \"60h\"")
	a := do(h, wire.Add, wire.AddIn{Text: text})
	do(h, wire.On, wire.OnIn{Name: a.Name, Digest: a.Latest})
	open := do(h, wire.Begin, wire.BeginIn{Name: "all"}).ID
	at(begin.Add(24 * time.Hour))
	h.must(h.DB.Write(context.Background(), func(tx *db.Tx) error {
		n, err := h.Restored(tx)
		if n != 1 {
			t.Errorf("%d runs were open", n)
		}
		return err
	}))
	if r := do(h, wire.Trace, wire.RunIn{ID: open}); r.Status != "paused" || !strings.Contains(r.Reason, "restored from a copy") {
		t.Errorf("the run is %s: %s", r.Status, r.Reason)
	}
	h.must(h.fire(context.Background()))
	if runs, skipped, _ := h.dealt(); runs != 0 || skipped != 0 {
		t.Errorf("%d runs and %d skipped", runs, skipped)
	}
	at(begin.Add(24*time.Hour + 81*time.Second))
	h.must(h.fire(context.Background()))
	if runs, _, _ := h.dealt(); runs != 1 {
		t.Errorf("%d runs on time", runs)
	}
}
