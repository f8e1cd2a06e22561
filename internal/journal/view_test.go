package journal

import (
	"testing"

	"tandem/internal/db"
	"tandem/internal/op"
)

// A row that moves while somebody looks is as honest as before: memory is ahead of the look. What is taken out is still found.
func TestALookThatBeganBeforeAMoveIsNoAlarm(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		row := func(says string) op.Sealed { return op.Sealed{Tenant: "t", Subject: "job:a", Says: []string{says}} }
		exec := func(tx *db.Tx, query string, args ...any) {
			t.Helper()
			if _, err := tx.Exec(query, args...); err != nil {
				t.Fatal(err)
			}
		}
		write := func(fn func(tx *db.Tx) error) {
			t.Helper()
			if err := d.Write(t.Context(), fn); err != nil {
				t.Fatal(err)
			}
		}
		move := func(says string) {
			t.Helper()
			write(func(tx *db.Tx) error {
				exec(tx, "DELETE FROM moving")
				exec(tx, "INSERT INTO moving (says) VALUES (?)", says)
				return j.Tell(tx, Event{Tenant: "t", Type: "job.moved", Actor: "a"}, map[string]any{}, row(says))
			})
		}
		write(func(tx *db.Tx) error { exec(tx, "CREATE TABLE moving (says TEXT)"); return nil })
		if _, err := j.Recall(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		move("one")
		look := func(meanwhile func()) (says string, held bool) {
			t.Helper()
			if err := j.View(t.Context(), func(tx *db.Tx) error {
				err := tx.QueryRow("SELECT says FROM moving").Scan(&says)
				if meanwhile != nil {
					meanwhile()
					meanwhile = nil
				}
				if err == nil {
					held, err = j.Kept(tx, row(says))
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return says, held
		}
		if says, held := look(func() { move("two") }); says != "two" || !held {
			t.Errorf("a row that moved meanwhile: %s, %t", says, held)
		}
		write(func(tx *db.Tx) error {
			exec(tx, "DELETE FROM journal_seal WHERE seq = (SELECT max(seq) FROM journal_seal)")
			exec(tx, "UPDATE moving SET says = 'one'")
			return nil
		})
		if says, held := look(nil); held {
			t.Errorf("%s counts again, by the entry before", says)
		}
	})
}
