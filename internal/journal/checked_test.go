package journal

import (
	"strings"
	"testing"

	"tandem/internal/db"
)

// A check of 160,209 entries took 14 s, each time, of entries that had been checked the day before.
func TestACheckGoesOnFromTheLast(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		look := func(whole bool) *Report {
			t.Helper()
			r, err := j.verify(t.Context(), nil, whole)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		finds := func(whole bool, kind string, from int64) {
			t.Helper()
			if r := look(whole); r.OK || !has(r, kind) || r.From != from {
				t.Errorf("whole %v: from %d, findings %+v, want %s from %d", whole, r.From, r.Findings, kind, from)
			}
		}
		fill(t, d, j, 270)
		if r := look(false); !r.OK || r.From != 0 || r.Size != 270 {
			t.Fatalf("the first reads everything: %+v", r)
		}
		if r := look(false); !r.OK || r.From != 270 || r.Signed != 270 || !strings.Contains(strings.Join(r.Cannot, "\n"), "verify --whole") {
			t.Errorf("nothing new: %+v", r)
		}
		fill(t, d, j, 260) // fills a tile that was begun before
		if r := look(false); !r.OK || r.From != 270 || r.Size != 530 {
			t.Errorf("from inside a tile: %+v", r)
		}
		fill(t, d, j, 10)

		// A row from before the last check is found by reading everything, one from after it in any case.
		do(t, d, "UPDATE journal_event SET actor = 'x' || actor WHERE seq = 7")
		if r := look(false); !r.OK || r.From != 530 || r.Size != 540 {
			t.Errorf("what was checked before is read again: %+v", r)
		}
		finds(true, Changed, 0)
		fill(t, d, j, 10)
		do(t, d, "UPDATE journal_event SET actor = 'x' || actor WHERE seq = 545")
		finds(false, Changed, 540)
		finds(true, Changed, 0)
		finds(false, Changed, 540) // what was found leaves no mark
		do(t, d, "UPDATE journal_event SET actor = substr(actor, 2) WHERE seq = 545")

		// A tree that is not the signed one, and a journal that is shorter than the check was.
		if r := look(false); !r.OK || r.From != 540 {
			t.Fatalf("mended: %+v", r)
		}
		do(t, d, "UPDATE journal_checked SET size = 545")
		finds(false, Changed, 0) // nobody signed that: everything is read
		do(t, d, "UPDATE journal_checked SET size = 550, sig = ?", make([]byte, 64))
		finds(false, Changed, 0)
		do(t, d, "UPDATE journal_event SET actor = substr(actor, 2) WHERE seq = 7")
		if r := look(false); !r.OK || r.From != 0 {
			t.Fatalf("after a forged mark: %+v", r)
		}
		do(t, d, "UPDATE journal_event SET leaf = (SELECT leaf FROM journal_event WHERE seq = 539) WHERE seq = 540")
		finds(false, Changed, 0) // the tree does not begin with what was signed
	})
}

// Whoever cut the end off with its checkpoints, and left the mark of a check, is found by it.
func TestACheckThatWentFurther(t *testing.T) {
	d, j := open(t)
	fill(t, d, j, 20)
	var size, edge, origin any
	if err := d.QueryRow(t.Context(), "SELECT size, edge, origin FROM journal_head").Scan(&size, &edge, &origin); err != nil {
		t.Fatal(err)
	}
	fill(t, d, j, 5)
	if r, err := j.VerifyNew(t.Context()); err != nil || !r.OK {
		t.Fatalf("before: %+v %v", r, err)
	}
	do(t, d, "DELETE FROM journal_event WHERE seq > 20")
	do(t, d, "DELETE FROM journal_checkpoint")
	do(t, d, "UPDATE journal_head SET size = ?, edge = ?", size, edge)
	if r, err := j.VerifyNew(t.Context()); err != nil || !has(r, Truncated) {
		t.Errorf("the end is gone: %+v %v", r, err)
	}
}
