package identity

import (
	"context"
	"fmt"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// 500 registrations from one machine kept every other program from connecting, for a day.
func TestOneSourceRegistersForItselfAlone(t *testing.T) {
	eachDatabase(t, func(t *testing.T, h *house) {
		from := func(source string) context.Context {
			return op.WithCaller(t.Context(), op.Caller{Tenant: LocalTenant, Actor: WellKnown(Newcomer), Name: Newcomer, Kind: op.Service,
				Source: source})
		}
		several := func(source string, times int) (first string, err error) {
			err = h.db.Write(t.Context(), func(tx *db.Tx) error {
				for i := range times {
					out, err := h.register(from(source), tx, RegisterIn{Name: "Chat", Redirects: []string{back}})
					if err != nil {
						return err
					}
					if i == 0 {
						first = out.ID
					}
				}
				return nil
			})
			return first, err
		}
		register := func(source string) (string, error) { return several(source, 1) }
		waits := func(id string) bool {
			var n int
			if err := h.db.QueryRow(t.Context(), "SELECT count(*) FROM oauth_client WHERE id = ?", id).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n == 1
		}
		honest, err := register("192.0.2.1")
		if err != nil {
			t.Fatal(err)
		}
		first, err := several("10.0.0.1", maxFrom)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := register("10.0.0.1"); !fault.Is(err, fault.Exhausted) {
			t.Errorf("more than its share: %v", err)
		}
		h.now = h.now.Add(settles)
		if _, err := register("10.0.0.1"); err != nil || waits(first) {
			t.Errorf("after a while: %v; the oldest waits: %v", err, waits(first))
		}
		for i := 2; i <= maxClients/maxFrom; i++ {
			if _, err := several(fmt.Sprintf("10.0.0.%d", i), maxFrom); err != nil {
				t.Fatal(err)
			}
		}
		if late, err := register("192.0.2.2"); err != nil || !waits(late) || !waits(honest) {
			t.Errorf("from elsewhere: %v", err)
		}
		cleared, err := do(t, h, owner("pin"), h.clearWaiting, ClearIn{From: "10.0.0.2"})
		if err != nil || cleared.Cleared < maxFrom-3 || cleared.Cleared > maxFrom || !waits(honest) {
			t.Errorf("cleared %+v, %v", cleared, err)
		}
		if _, err := do(t, h, owner("pin"), h.clearWaiting, ClearIn{}); err != nil || waits(honest) {
			t.Errorf("clear all: %v", err)
		}
	})
}
