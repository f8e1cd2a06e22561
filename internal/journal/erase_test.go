package journal

import (
	"strings"
	"testing"

	"tandem/internal/db"
)

// eraseAll takes the words out of a tenant's entries, and answers with what the seal says of what is left.
func eraseAll(t *testing.T, d *db.DB, tenant string) (left string) {
	t.Helper()
	if err := d.Write(t.Context(), func(tx *db.Tx) (err error) { left, err = Erasure{Tenant: tenant}.Rest(tx); return err }); err != nil {
		t.Fatal(err)
	}
	return left
}

func appendOne(t *testing.T, d *db.DB, j *Journal, e Event) {
	t.Helper()
	if err := d.Write(t.Context(), func(tx *db.Tx) error { _, err := j.Append(tx, e); return err }); err != nil {
		t.Fatal(err)
	}
}

// without are the findings beside the one that in a real house the tenant's row stands against.
func without(r *Report) (out []string) {
	for _, f := range r.Findings {
		if !strings.Contains(f.What, "the erased ten_a") {
			out = append(out, f.What)
		}
	}
	return out
}

// Entries without their words are sound where the house had their tenant erased, also after a start, and nowhere else.
func TestErasedEntriesCountWhereTheHouseSaysSo(t *testing.T) {
	exam(t, func(t *testing.T, d *db.DB, j *Journal) {
		fill(t, d, j, 300)
		left := eraseAll(t, d, "ten_a")
		if again := eraseAll(t, d, "ten_a"); again != left {
			t.Errorf("begun anew it leaves %s instead of %s", again, left)
		}
		rep, err := j.Verify(t.Context(), nil)
		if err != nil || rep.OK || !strings.Contains(rep.Findings[0].What, "the salt has 32 bytes") {
			t.Fatalf("%+v %v", rep, err)
		}
		seal := func(says ...string) {
			appendOne(t, d, j, Event{Tenant: "local", Type: "tenant.erase", Actor: "owner", Seals: []Seal{{Erased("ten_a"), Digest(says...)}}})
		}
		for _, says := range [][]string{{"ten_a"}, {"ten_a", left}} {
			seal(says...)
			for _, when := range []string{"at once", "after a start"} {
				rep, err = j.Verify(t.Context(), nil)
				if err != nil || rep.Erased != 300 || len(without(rep)) > 0 {
					t.Fatalf("%s, %q: %+v %v", when, says, rep, err)
				}
				if open := strings.Contains(strings.Join(rep.Cannot, "\n"), "being erased"); open != (len(says) == 1) {
					t.Errorf("%s, %q: %q", when, says, rep.Cannot)
				}
				if _, err := j.Recall(t.Context(), ""); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// Once a tenant was erased, whoever writes into the database could blank any entry by calling it that tenant's, with the hash of its
// envelope in the place of the salt, or put false words into those that are bare: every leaf held, and the check found nothing.
func TestAnErasureHidesNoOtherEntry(t *testing.T) {
	blank := func(seq int64) func(*testing.T, *db.DB) {
		return func(t *testing.T, d *db.DB) {
			all, err := collect(d.Query(t.Context(), selectEntry+" WHERE e.seq = ?", seq))
			if err != nil || len(all) != 1 {
				t.Fatal(err)
			}
			hash := all[0].envelopeHash()
			do(t, d, `UPDATE journal_event SET tenant = 'ten_a', salt = ?, actor = '', behalf = '', resource = '', request = '',
				payload = NULL, payload_salt = NULL WHERE seq = ?`, hash[:], seq)
		}
	}
	set := func(what string) func(*testing.T, *db.DB) {
		return func(t *testing.T, d *db.DB) { do(t, d, "UPDATE journal_event SET "+what+" WHERE seq = 3") }
	}
	for name, c := range map[string]struct {
		does  func(*testing.T, *db.DB)
		finds string
	}{
		"one of the house, before": {blank(11), "are not those that were left"},
		"one of the house, since":  {blank(13), "the salt has 32 bytes"},
		"another type":             {set("type = 'b.c'"), "are not those that were left"},
		"another phase":            {set("phase = 'denied'"), "are not those that were left"},
		"another tenant":           {set("tenant = 'local'"), "the salt has 32 bytes"},
		"an actor":                 {set("actor = 'act_forged'"), "it has words again"},
		"a resource":               {set("resource = 'a:/b'"), "it has words again"},
	} {
		t.Run(name, func(t *testing.T) {
			d, j := open(t)
			house := Event{Tenant: "local", Type: "grant.add", Actor: "owner", Resource: "a:/b"}
			fill(t, d, j, 10)
			appendOne(t, d, j, house)
			gone := Event{Tenant: "local", Type: "tenant.erased", Actor: "system"}
			gone.Seals = []Seal{{Erased("ten_a"), Digest("ten_a", eraseAll(t, d, "ten_a"))}}
			appendOne(t, d, j, gone)
			appendOne(t, d, j, house)
			if rep, err := j.Verify(t.Context(), nil); err != nil || len(without(rep)) > 0 || rep.Erased != 10 {
				t.Fatalf("before: %+v %v", rep, err)
			}
			c.does(t, d)
			rep, err := j.Verify(t.Context(), nil)
			if err != nil || !strings.Contains(strings.Join(without(rep), "\n"), c.finds) {
				t.Errorf("%+v %v", rep, err)
			}
		})
	}
}

// Each portion looked through the whole journal for entries that had words left, while every other change waited. It goes on behind the
// one before: what was looked at is not read again, and no portion reads more entries than its share, whoever's they are.
func TestAnErasureReadsTheJournalOnce(t *testing.T) {
	d, j := open(t)
	fill(t, d, j, eraseAtOnce+10)
	for range 2 {
		appendOne(t, d, j, Event{Tenant: "local", Type: "a.b"})
	}
	next := func(e Erasure) Erasure {
		t.Helper()
		if err := d.Write(t.Context(), func(tx *db.Tx) (err error) { e, err = e.Next(tx); return err }); err != nil {
			t.Fatal(err)
		}
		return e
	}
	first := next(Erasure{Tenant: "ten_a"})
	if first.Done || first.last != eraseAtOnce {
		t.Fatalf("the first came to %d, done: %v", first.last, first.Done)
	}
	do(t, d, "UPDATE journal_event SET behalf = '{' WHERE seq = 1") // whoever reads it stumbles
	if e := next(first); !e.Done || e.last != eraseAtOnce+12 {
		t.Errorf("the second came to %d, done: %v", e.last, e.Done)
	}
	others := next(Erasure{Tenant: "ten_b"})
	if others.Done || others.last != eraseAtOnce || others.left != (Hash{}) {
		t.Errorf("one without entries came to %d at once, done: %v", others.last, others.Done)
	}
}
