package journal

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/op"
)

// An adoption leaves what the journal speaks of to the journal, and hides none that nobody confirmed: also after a start.
func TestAnAdoptionHidesNothing(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		recall := func() {
			t.Helper()
			if _, err := j.Recall(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		row := func(subject, says string) op.Sealed {
			return op.Sealed{Tenant: "t", Subject: subject, Says: []string{says}, Over: says == "over"}
		}
		adopt := func(rows ...op.Sealed) {
			t.Helper()
			if err := j.Adopt(t.Context(), "t", "a", rows); err != nil {
				t.Fatal(err)
			}
		}
		tell := func(rows ...op.Sealed) {
			t.Helper()
			if err := d.Write(t.Context(), func(tx *db.Tx) error {
				return j.Tell(tx, Event{Tenant: "t", Type: "x.y", Actor: "a"}, map[string]any{}, rows...)
			}); err != nil {
				t.Fatal(err)
			}
		}
		waits := func(want string) {
			t.Helper()
			var got []string
			for _, at := range j.waiting() {
				got = append(got, at.subject)
			}
			if fmt.Sprint(got) != want {
				t.Errorf("%v wait, and it should be %s", got, want)
			}
		}
		kept := func(s op.Sealed) (held bool) {
			t.Helper()
			if err := j.View(t.Context(), func(tx *db.Tx) (err error) { held, err = j.Kept(tx, s); return err }); err != nil {
				t.Fatal(err)
			}
			return held
		}
		recall()
		adopt(row("grant:a", "x"))
		tell(row("grant:b", "a person's"))
		tell(row("job:moved", "now"))
		adopt(row("queue:q", "x"), row("job:old", "over"), row("job:moved", "before"))
		waits("[grant:a queue:q]")
		recall()
		waits("[grant:a queue:q]")
		if !kept(row("job:moved", "now")) || kept(row("job:moved", "before")) || !kept(row("job:old", "over")) {
			t.Error("what moved meanwhile was adopted as it was before")
		}
		tell(row("queue:q", "y"))
		waits("[grant:a]")
		tell(op.Sealed{Tenant: "t", Subject: confirmed, Says: []string{"x"}})
		waits("[]")
	})
}

// Who took the newest entry about a row out of the database, and put the row back as it was before, had it count again at the next start;
// and a server that joined took any row of which the newest entry was gone as it stood.
func TestAWordWhoseEntryIsGoneIsTheNewest(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		row := func(says string) op.Sealed {
			return op.Sealed{Tenant: "t", Subject: "job:a", Says: []string{says}, What: "the job a"}
		}
		for _, says := range []string{"approved", "spent"} {
			if err := d.Write(t.Context(), func(tx *db.Tx) error {
				return j.Tell(tx, Event{Tenant: "t", Type: "x.y", Actor: "a"}, map[string]any{}, row(says))
			}); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec("DELETE FROM journal_event WHERE seq = (SELECT max(seq) FROM journal_event)")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		next := New(d, j.now().key)
		if _, err := next.Recall(t.Context(), ""); err != nil {
			t.Fatal(err)
		}
		for _, says := range []string{"approved", "spent", "another's"} {
			var one bool
			var both []bool
			if err := next.View(t.Context(), func(tx *db.Tx) (err error) {
				if one, err = next.Kept(tx, row(says)); err == nil {
					both, err = next.KeptOf(tx, []op.Sealed{row(says)})
				}
				return err
			}); err != nil || one || both[0] {
				t.Errorf("%s counts: %t %t %v", says, one, both, err)
			}
			if left, err := next.Unspoken(t.Context(), []op.Sealed{row(says)}); err != nil || len(left) > 0 {
				t.Errorf("%s would be adopted: %v %v", says, left, err)
			}
			next.Rows = []func(context.Context) ([]op.Sealed, error){func(context.Context) ([]op.Sealed, error) {
				return []op.Sealed{row(says)}, nil
			}}
			found, err := next.Orphans(t.Context())
			if err != nil || len(found) != 1 || !strings.Contains(found[0].What, "the job a is in") {
				t.Errorf("%s: %v %v", says, found, err)
			}
		}
		if kinds, err := next.Kinds(t.Context(), []string{"grant", "job"}); err != nil || fmt.Sprint(kinds) != "[job]" {
			t.Errorf("kinds %v %v", kinds, err)
		}
	})
}

// What another server moves while it is looked at is no finding, and one that was changed is named with the entry that it differs from.
func TestWhatAnotherServerMovesIsNoFinding(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		other := New(d, j.now().key)
		for _, one := range []*Journal{j, other} {
			if _, err := one.Recall(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		row := func(says string) op.Sealed {
			return op.Sealed{Tenant: "t", Subject: "job:a", Says: []string{says}, What: "the job a"}
		}
		move := func(says string) {
			t.Helper()
			if err := d.Write(t.Context(), func(tx *db.Tx) error {
				return other.Tell(tx, Event{Tenant: "t", Type: "job.moved", Actor: "a"}, map[string]any{}, row(says))
			}); err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		j.Rows = []func(context.Context) ([]op.Sealed, error){func(context.Context) ([]op.Sealed, error) {
			was := row(fmt.Sprint(n))
			n++
			move(fmt.Sprint(n))
			return []op.Sealed{was}, nil
		}}
		move("0")
		if found, err := j.Orphans(t.Context()); err != nil || len(found) != 0 {
			t.Errorf("%v %v", found, err)
		}
		j.Rows = []func(context.Context) ([]op.Sealed, error){func(context.Context) ([]op.Sealed, error) {
			return []op.Sealed{row("forged")}, nil
		}}
		if found, err := j.Orphans(t.Context()); err != nil || len(found) != 1 || !strings.Contains(found[0].What, "else than entry") {
			t.Errorf("%v %v", found, err)
		}
	})
}

// A tenant that came from another server waits for its own confirmation, and no other list's.
func TestATenantThatCameWaitsForItsOwnConfirmation(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		recall := func() {
			t.Helper()
			if _, err := j.Recall(t.Context(), ""); err != nil {
				t.Fatal(err)
			}
		}
		tell := func(subject string) {
			t.Helper()
			if err := d.Write(t.Context(), func(tx *db.Tx) error {
				return j.Tell(tx, Event{Tenant: houseTenant, Type: "x.y", Actor: "a"}, map[string]any{},
					op.Sealed{Tenant: houseTenant, Subject: subject, Says: []string{"x"}})
			}); err != nil {
				t.Fatal(err)
			}
		}
		unconfirmed := func(when string, want int) {
			t.Helper()
			for range 2 {
				if n := j.Unconfirmed("ten_a"); n != want {
					t.Errorf("%s, %d of it are not confirmed", when, n)
				}
				recall()
			}
		}
		recall()
		unconfirmed("before", 0)
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			return j.AdoptIn(tx, houseTenant, "a", &Came{Tenant: "ten_a"}, []op.Sealed{{Tenant: "ten_a", Subject: "grant:a", Says: []string{"x"}}})
		}); err != nil {
			t.Fatal(err)
		}
		unconfirmed("when it came", 1)
		tell(confirmed)
		unconfirmed("when another list was confirmed", 1)
		tell(looked + "ten_b")
		unconfirmed("when another tenant was", 1)
		tell(looked + "ten_a")
		unconfirmed("when it was", 0)
	})
}
