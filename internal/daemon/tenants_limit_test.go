package daemon

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/identity"
	"tandem/internal/session"
)

// What the house lets a tenant use up binds it, and its own owner does not change it.
func TestATenantsLimitsBind(t *testing.T) {
	wards(t, func(w *ward) {
		ctx := t.Context()
		var made identity.TenantOut
		w.present("tenant.create", map[string]any{"name": "acme", "owner": "ana"}, &made)
		_, err := w.enter(identity.PersonIn{Invite: made.Invite.Invite, Machine: "laptop"})
		w.must(err)
		ana := w.within(made.ID, "ana")
		for what, in := range map[string]map[string]any{"nothing": {}, "less than nothing": {"sessions": -1},
			"a period of its own": {"sessions": 1, "period": "day"}, "a week": {"cents": 1, "period": "week"}, "the moon": {"cents": 1 << 60}} {
			in["name"] = "acme"
			w.refused(what, w.presents("tenant.limit", in), fault.Invalid)
		}
		w.refused("the house itself", w.presents("tenant.limit", map[string]any{"name": "local", "sessions": 1}), fault.Invalid)
		_, err = w.calls(ana, "tenant.limit", map[string]any{"name": "acme", "sessions": 0})
		w.refused("its own owner", err, fault.Denied, fault.NotFound)
		w.present("tenant.limit", map[string]any{"name": "acme", "cents": 2000, "period": "month", "sessions": 1}, nil)

		out, err := w.calls(ana, "session.create", map[string]any{})
		w.must(err)
		_, err = w.calls(ana, "session.create", map[string]any{})
		w.refused("a second session", err, fault.Exhausted)
		_, err = w.calls(ana, "session.fork", map[string]any{"id": out.(*session.Session).ID})
		w.refused("a fork", err, fault.Exhausted)
		w.present("session.create", map[string]any{}, nil) // the house is not limited

		left := func() error {
			s := out.(*session.Session)
			accounts, err := w.rooms.session.Accounts(ctx, s, &session.Turn{})
			w.must(err)
			_, err = session.Left(accounts, false, true)
			return err
		}
		w.must(left())
		_, err = w.calls(ana, "budget.set", map[string]any{"period": "month", "budget": map[string]any{"cents": 900000}})
		w.must(err)
		_, err = w.calls(ana, "budget.set", map[string]any{"period": "month"})
		w.must(err)
		spend := func(day time.Time) {
			w.sql(fmt.Sprintf(`INSERT INTO session_used (tenant, subject, day, tokens, cost, turns, calls, micros)
				VALUES ('%s', '*', %d, 0, %d, 0, 0, 0)`, made.ID, day.Unix()/86400, 2000*identity.NanoOfCent))
		}
		spend(w.db.Now().AddDate(0, -2, 0))
		w.must(left())
		spend(w.db.Now())
		err = left()
		w.refused("one more call", err, fault.Exhausted)
		if !strings.Contains(err.Error(), "for the tenant acme (this month) is used up: 2000 of 2000") ||
			!strings.Contains(fault.Public(err).Next, "tandem tenant limit acme --money") {
			t.Errorf("it is told %v, %s", err, fault.Public(err).Next)
		}
		var shown identity.Tenant
		w.present("tenant.show", map[string]any{"name": "acme"}, &shown)
		if shown.Use == nil || shown.Use.Sessions != 1 || shown.Use.Cost != 2000*identity.NanoOfCent || shown.Limits.Cents != 2000 {
			t.Errorf("shown as %+v, %+v", shown.Limits, shown.Use)
		}
		w.present("tenant.limit", map[string]any{"name": "acme", "cents": 0, "sessions": 2}, nil)
		w.must(left())
		_, err = w.calls(ana, "session.create", map[string]any{})
		w.must(err)
		w.again()
		w.sql("UPDATE tenant SET limits = '' WHERE name = 'acme'")
		w.again()
		_, err = w.calls(ana, "session.create", map[string]any{})
		w.refused("limits that were lifted in the database", err, fault.Denied, fault.Unauthenticated)
	})
}
