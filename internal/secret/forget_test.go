package secret

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/secret/wire"
)

// What was deleted or replaced is struck for a day, since it still turns up, and then forgotten. What is stored stays struck: the name was
// looked at without its tenant, and when it was deleted in vain, so that another's value of that name came back into records.
func TestADeletedValueIsForgottenAfterADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := openDB(t, filepath.Join(t.TempDir(), "a.db"))
		r := newRoom(t, d, t.TempDir(), "file")
		put(t, r, "ten_a", "deleted", "deleted-value-1")
		put(t, r, "ten_a", "replaced", "replaced-value-1")
		put(t, r, "ten_a", "replaced", "replaced-value-2")
		put(t, r, "ten_a", "kept", "kept-value-1")
		put(t, r, "ten_b", "kept", "kept-value-2")
		remove := func(tenant, name string, and error) error {
			ctx := op.WithCaller(t.Context(), op.Caller{Tenant: tenant, Name: "owner", Kind: op.Person, Present: "pin"})
			return d.Write(ctx, func(tx *db.Tx) error {
				_, err := r.remove(ctx, tx, wire.NameIn{Name: name})
				return errors.Join(err, and)
			})
		}
		cut := errors.New("cut off")
		for what, err := range map[string]error{"deleted": remove("ten_a", "deleted", nil), "another's": remove("ten_b", "kept", nil)} {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := remove("ten_a", "kept", cut); !errors.Is(err, cut) {
			t.Errorf("cut off: %v", err)
		}
		if err := remove("ten_c", "kept", nil); !fault.Is(err, fault.NotFound) {
			t.Errorf("what is not there: %v", err)
		}
		is := func(when string, struck map[string]bool) {
			t.Helper()
			for value, want := range struck {
				if got := r.redact.For("owner").String(value) != value; got != want {
					t.Errorf("%s %s is struck: %v", when, value, got)
				}
			}
		}
		is("at once", map[string]bool{"deleted-value-1": true, "replaced-value-1": true, "replaced-value-2": true, "kept-value-1": true})
		time.Sleep(forgetAfter - time.Minute)
		is("before a day", map[string]bool{"deleted-value-1": true, "replaced-value-1": true})
		time.Sleep(2 * time.Minute)
		is("after a day", map[string]bool{"deleted-value-1": false, "replaced-value-1": false, "replaced-value-2": true, "kept-value-1": true,
			"kept-value-2": false})
	})
}
