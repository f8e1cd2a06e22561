package journal

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// Rows that pass were weighed with a query each: 50,000 sessions made every start and every verify wait. They are weighed together, and of
// many that are right those are named that are not, wherever they stand.
func TestManyRowsAreWeighedTogether(t *testing.T) {
	n := testenv.Rounds(50_000)
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		rows := make([]op.Sealed, n)
		for i := range rows {
			tenant := []string{"t", "u"}[i%2]
			rows[i] = op.Sealed{Tenant: tenant, Subject: fmt.Sprintf("session:s%06d", i), Says: []string{"a"}, What: fmt.Sprintf("row %06d", i)}
		}
		for from := 0; from < n; from += 1000 {
			if err := d.Write(t.Context(), func(tx *db.Tx) error {
				for _, tenant := range []string{"t", "u"} {
					var of []op.Sealed
					for _, r := range rows[from:min(from+1000, n)] {
						if r.Tenant == tenant {
							of = append(of, r)
						}
					}
					e := Event{Tenant: tenant, Type: "session.given", Actor: "a"}
					if err := j.Tell(tx, e, map[string]any{}, of...); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := j.Recall(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		j.Rows = append(j.Rows, func(context.Context) ([]op.Sealed, error) { return append([]op.Sealed(nil), rows...), nil })
		look := func() []Finding {
			t.Helper()
			found, err := j.Orphans(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		if found := look(); len(found) > 0 {
			t.Fatalf("%d rows that nobody touched are named, the first: %s", len(found), found[0].What)
		}
		forged := []int{0, 1, 499, 500, 501, n / 2, n - 1}
		for _, i := range forged {
			rows[i].Says = []string{"b"}
		}
		rows = append(rows, op.Sealed{Tenant: "t", Subject: "session:nobody", Says: []string{"a"}, What: "row of nobody"})
		var names []string
		for _, f := range look() {
			names = append(names, f.What)
		}
		said := strings.Join(names, "\n")
		if len(names) != len(forged)+1 || !strings.Contains(said, "row of nobody") {
			t.Errorf("named are:\n%s", said)
		}
		for _, i := range forged {
			if !strings.Contains(said, fmt.Sprintf("row %06d is in the database, and says something else", i)) {
				t.Errorf("row %d is not named", i)
			}
		}
	})
}
