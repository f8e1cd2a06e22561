package daemon

import (
	"os"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// A denial about a tenant by its name, from when that was how tenants were meant, denied nothing any more, and nobody was told.
func TestAGrantByATenantsNameIsTold(t *testing.T) {
	w := newWard(t, "")
	astray := func() (out []string) {
		t.Helper()
		w.must(w.db.Read(t.Context(), func(tx *db.Tx) (err error) { out, err = w.rooms.book.Astray(t.Context(), tx, "local"); return err }))
		return out
	}
	in := map[string]any{"principal": "person:*", "effect": "deny", "resource": "tenant:/house/acme", "permissions": []string{"edit"}}
	if err := w.presents("grant.add", in); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "could never match") {
		t.Errorf("one that is given now: %v", err)
	}
	in["resource"] = "tenant:/house/ten_01"
	w.present("grant.add", in, nil)
	if got := astray(); len(got) != 0 {
		t.Errorf("by its id: %v", got)
	}
	w.must(os.Remove(w.file("journal.seals"))) // a server from before the journal vouched for anything
	w.again("DELETE FROM journal_seal", "UPDATE policy_grant SET body = replace(body, 'ten_01', 'acme')")
	w.confirm()
	w.again()
	if got := astray(); len(got) != 1 || !strings.Contains(got[0], "deny for person:* on tenant:/house/acme") {
		t.Errorf("by its name: %v", got)
	}
}
