package journal

import (
	"strings"
	"testing"

	"tandem/internal/db"
)

// Entries without their words are sound where the house had their tenant erased, also after a start, and nowhere else.
func TestErasedEntriesCountWhereTheHouseSaysSo(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		fill(t, d, j, 300)
		var n int64
		for left := int64(1); left > 0; n += left {
			if err := d.Write(t.Context(), func(tx *db.Tx) (err error) { left, err = Erase(tx, "ten_a"); return err }); err != nil {
				t.Fatal(err)
			}
		}
		rep, err := j.Verify(t.Context(), nil)
		if err != nil || rep.OK || n != 300 || !strings.Contains(rep.Findings[0].What, "the salt has 32 bytes") {
			t.Fatalf("of %d entries: %+v %v", n, rep, err)
		}
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := j.Append(tx, Event{Tenant: "local", Type: "tenant.erase", Actor: "owner",
				Seals: []Seal{{Erased("ten_a"), Digest("ten_a")}}})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		j.Rows = nil
		for _, when := range []string{"at once", "after a start"} {
			if rep, err = j.Verify(t.Context(), nil); err != nil || rep.Erased != 300 {
				t.Fatalf("%s: %+v %v", when, rep, err)
			}
			for _, f := range rep.Findings { // in a real house the tenant's row stands for its seal
				if !strings.Contains(f.What, "the erased ten_a") {
					t.Errorf("%s: %s", when, f.What)
				}
			}
			if _, err := j.Recall(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
	})
}
