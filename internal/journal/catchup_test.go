package journal

import (
	"testing"

	"tandem/internal/db"
)

// Two servers write to one journal. What one has vouched for, and what it has taken back, the other knows from the sequence.
func TestWhatAnotherServerVouchedForIsKnown(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, a *Journal) {
		b := New(d, a.now().key)
		if _, err := b.Recall(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		b.Share()
		says := []string{"token", "of alice"}
		add(t, d, a, Event{Seals: []Seal{{"token:x", Digest(says...)}}})
		if !b.Vouch().Says("ten_a", "token:x", says) {
			t.Error("a row that the other server made is nobody's")
		}
		add(t, d, a, Event{Seals: []Seal{{"token:x", Digest("taken back")}}})
		if err := b.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if b.Vouch().Says("ten_a", "token:x", says) {
			t.Error("what the other server took back still counts")
		}
		turn := b.Vouch().Turn("token")
		add(t, d, b, Event{Seals: []Seal{{"token:y", Digest("mine")}}})
		add(t, d, a, Event{Seals: []Seal{{"token:z", Digest("theirs")}}})
		if err := b.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !b.Vouch().Whole() || b.Vouch().Turn("token") <= turn || b.Latest() != 4 {
			t.Errorf("whole %v, turn %d after %d, at %d", b.Vouch().Whole(), b.Vouch().Turn("token"), turn, b.Latest())
		}
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec("DELETE FROM journal_seal WHERE subject = 'token:z'")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		add(t, d, a, Event{Seals: []Seal{{"token:w", Digest("w")}}})
		if err := b.CatchUp(t.Context()); err != nil {
			t.Fatal(err)
		}
		if b.Vouch().Whole() {
			t.Error("a seal was taken out between two servers' entries, and nobody noticed")
		}
	})
}
