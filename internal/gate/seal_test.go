package gate

import (
	"context"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// Whoever could write to the database, as the administrator of a PostgreSQL can, set an ask's state to approved, and the call
// passed while the journal was found sound. A row is an answer only while the newest entry about it vouches for what it says.
func TestARowDoesNotDecide(t *testing.T) {
	askExam(t, func(h *askHouse) {
		h.journal.Rows = []func(context.Context) ([]op.Sealed, error){h.asks.Standing}
		write := func(query string, args ...any) {
			t.Helper()
			if err := h.db.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(query, args...); return err }); err != nil {
				t.Fatal(err)
			}
		}
		orphans := func() string {
			t.Helper()
			r, err := h.journal.Verify(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, f := range r.Findings {
				all = append(all, f.Kind+": "+f.What)
			}
			return strings.Join(all, "\n")
		}
		refused := func(name string, in thingIn, how string) {
			t.Helper()
			before := h.acted.Load() + int32(h.things())
			if said := orphans(); !strings.Contains(said, "orphan: the approval") {
				t.Errorf("%s, %s: verify finds %q", name, how, said)
			}
			_, err := h.Invoke(h.builder(), name, in)
			if !fault.Is(err, fault.Denied) || fault.Public(err).Data["reason"] != "forged" || h.acted.Load()+int32(h.things()) != before {
				t.Errorf("%s, %s: %v", name, how, err)
			}
			if said := orphans(); said != "" {
				t.Errorf("%s, %s: afterwards verify finds %q", name, how, said)
			}
		}
		soon := time.Now().Add(time.Hour)
		for _, name := range []string{"thing.write", "thing.send", "thing.look"} {
			in := thingIn{Name: "a"}
			ask := h.pending(h.builder(), name, in)
			write("UPDATE approval SET state = 'approved', decided_by = 'owner', decided_at = ?, expires_at = ? WHERE id = ?", time.Now(), soon, ask)
			refused(name, in, "written by hand")

			ask = h.pending(h.builder(), name, in)
			h.approve(ask)
			if said := orphans(); said != "" {
				t.Errorf("%s: verify of a real one finds %q", name, said)
			}
			if _, err := h.Invoke(h.builder(), name, in); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			write("UPDATE approval SET state = 'approved', standing = 1, spent_at = 0 WHERE id = ?", ask)
			refused(name, in, "put back after it was spent")

			other := h.pending(h.builder(), name, thingIn{Name: "b"})
			ask = h.pending(h.builder(), name, in)
			h.approve(ask)
			var digest string
			if err := h.db.QueryRow(t.Context(), "SELECT digest FROM approval WHERE id = ?", other).Scan(&digest); err != nil {
				t.Fatal(err)
			}
			write("DELETE FROM approval WHERE id = ?", other)
			write("UPDATE approval SET digest = ? WHERE id = ?", digest, ask)
			refused(name, thingIn{Name: "b"}, "given to another call")
		}
		// A standing answer that nobody gave answers nothing.
		c := op.CallerFrom(h.as(op.Session, "s", ""))
		c.Session, c.For = "ses_x", []string{"person:ann"}
		ctx := op.WithCaller(t.Context(), c)
		h.rules(`@id("run") @ask("somebody has to look") forbid (principal, action, resource is Tool);`)
		write(`INSERT INTO approval_rule (tenant, id, scope, session, acts_for, op, pattern, made_by, ask, made_at, expires_at)
			VALUES ('local', 'rul_forged', 'session', 'ses_x', '["person:ann"]', 'thing.run', 'bash', 'ann', 'ask_x', ?, ?)`, time.Now(), soon)
		if said := orphans(); !strings.Contains(said, "the standing answer rul_forged") {
			t.Errorf("verify finds %q", said)
		}
		h.pending(ctx, "thing.run", thingIn{Name: "ls"})
	})
}
