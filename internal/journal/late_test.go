package journal

import (
	"slices"
	"testing"

	"tandem/internal/db"
)

// Two commits of PostgreSQL may be told in the other order. Whoever looked between the two did not see what the earlier one brought, and
// was told afterwards that nothing had changed: a policy went on without a denial that somebody had given.
func TestWhatIsToldLateIsAChange(t *testing.T) {
	exam(t, func(t *testing.T, _ *db.DB, j *Journal) {
		if _, err := j.Recall(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		v := j.Vouch()
		j.standing.sealed("t", []Seal{{"grant:later", Digest("b")}}, 10, newLink(nil))
		looked := v.Turn("grant")
		j.standing.sealed("t", []Seal{{"grant:earlier", Digest("a")}}, 9, newLink(nil))
		heard := v.Turn("grant")
		if said, known := v.Since("t", "grant", looked); heard <= looked || !known || !slices.Equal(said, []string{"grant:earlier"}) {
			t.Errorf("at %d, after %d, it is said of %q, known %v", heard, looked, said, known)
		}
		j.standing.sealed("t", []Seal{{"grant:earlier", Digest("a")}}, 9, newLink(nil)) // read once more, as another server's
		if said, known := v.Since("t", "grant", heard); v.Turn("grant") != heard || !known || len(said) > 0 {
			t.Errorf("what was heard already is a change: %q, known %v", said, known)
		}
	})
}
