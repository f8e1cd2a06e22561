package approval

import (
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// An ask whose waiting program was lost ended in "cancelled already", and nobody was told that the same call waits in another one.
// Its page, its answer and the refusal of a late answer name that one, until somebody answered it.
func TestAnEndedAskNamesWhereTheCallWaitsNow(t *testing.T) {
	exam(t, func(b *bench) {
		ctx, call := as(b.t.Context(), person("ann")), edit(agent("bob"), "one")
		late := func(id string) error {
			_, err := b.answer(person("ann"), DecideIn{ID: id, Verdict: Cancel})
			return err
		}
		old, _ := b.file(call)
		err := b.db.Write(ctx, func(tx *db.Tx) error {
			_, err := b.Abandon(tx, old.Tenant, old.AskerID, old.ID, "nobody waits")
			return err
		})
		if err != nil {
			b.t.Fatal(err)
		}
		if a, err := b.get(ctx, IDIn{old.ID}); err != nil || a.Successor != "" {
			b.t.Errorf("before it asks anew: %q, %v", a.Successor, err)
		}
		now, _ := b.file(call)
		b.file(edit(agent("bob"), "another"))
		if a, err := b.get(ctx, IDIn{old.ID}); err != nil || a.Successor != now.ID {
			b.t.Errorf("%q, want %s: %v", a.Successor, now.ID, err)
		}
		if a, err := b.get(ctx, IDIn{now.ID}); err != nil || a.Successor != "" {
			b.t.Errorf("the one that waits: %q, %v", a.Successor, err)
		}
		err = late(old.ID)
		if f := fault.Public(err); f.Kind != fault.Conflict || f.Data["successor"] != now.ID || !strings.HasSuffix(f.Next, "approve "+now.ID) {
			b.t.Errorf("answering the old one: %+v", f)
		}
		if err := late(now.ID); err != nil {
			b.t.Fatal(err)
		}
		if a, err := b.get(ctx, IDIn{old.ID}); err != nil || a.Successor != "" {
			b.t.Errorf("after its answer: %q, %v", a.Successor, err)
		}
	})
}
