//go:build unix

package memory

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// A million records of others in one database move nothing of an answer and make no search slower: counted in time of the processor, as a
// server's own load says nothing. (A sample in make test; make soak ROOM=memory has the million.)
func TestAMillionForeignRecordsMoveAndSlowNothing(t *testing.T) {
	needsVectors(t)
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	for i := range 300 {
		must(b, ann, b.room.add, wire.AddIn{Text: fmt.Sprintf("%s, ward %d, bed %d", doctor, i, i%7)})
	}
	must(b, ann, b.room.add, wire.AddIn{Text: invoices})
	for i := range 40 { // of this tenant, where the one who searches may not read
		must(b, ann, b.room.add, wire.AddIn{Text: fmt.Sprintf("%s, hidden %d", doctor, i), Tier: wire.OfProject, Of: "secret"})
	}
	barred := caller(op.Agent, "barred", "/project/secret")
	questions := []string{ill, "physician ward", `"ward 17"`, "war*", "invoices", "volcanic basalt eruption", "bed 3"}
	var took [2]time.Duration
	var said [2]string
	const rounds = 30
	for n := range 2 {
		if n == 1 {
			times := 4
			if testenv.Soak() {
				times = 100
			}
			b.foreign(times, 30)
		}
		b.room = New(b.db)
		for range 3 { // what is read into memory once is read
			for _, q := range questions {
				if _, err := b.room.search(barred, wire.SearchIn{Query: q}); err != nil {
					t.Fatal(err)
				}
			}
		}
		said[n] = ""
		began := used(t)
		for i := range rounds {
			for _, q := range questions {
				out, err := b.room.search(barred, wire.SearchIn{Query: q})
				if err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					said[n] += fmt.Sprintf("%s: %+v\n", q, out)
				}
			}
		}
		took[n] = used(t) - began
	}
	if said[0] != said[1] {
		t.Errorf("before\n%s\nafter\n%s", said[0], said[1])
	}
	var all int
	if err := b.db.QueryRow(t.Context(), "SELECT count(*) FROM memory_record").Scan(&all); err != nil || all < 40_000 {
		t.Fatal(all, err)
	}
	searches := rounds * len(questions)
	each := time.Duration(searches)
	t.Logf("%d records: a search takes %v of a processor, %v without the others", all, took[1]/each, took[0]/each)
	if took[1] > 2*took[0]+time.Duration(searches)*time.Millisecond {
		t.Errorf("%v without the others, %v with them", took[0], took[1])
	}
}

// foreign copies what the tenant has to others: so many times to so many.
func (b *bench) foreign(times, each int) {
	b.t.Helper()
	for n := range times {
		err := b.db.Write(b.t.Context(), func(tx *db.Tx) error {
			for i := range each {
				tenant := fmt.Sprintf("u%d-%d", n, i)
				for _, copy := range []string{
					"INSERT INTO memory_place SELECT ?, nr, tier, of_name, texts, length, seq FROM memory_place WHERE tenant = 't'",
					`INSERT INTO memory_record SELECT ?, id, nr, place, kind, state, trust, text, digest, labels, owner, actor, version, uses,
						replaces, replaced_by, made_at, changed_at, expires_at FROM memory_record WHERE tenant = 't'`,
					"INSERT INTO memory_posting SELECT ?, term, place, nr, often, length, spots FROM memory_posting WHERE tenant = 't'",
					"INSERT INTO memory_words SELECT ?, nr, length, words FROM memory_words WHERE tenant = 't'",
					"INSERT INTO memory_vector SELECT ?, place, nr, seq, model, vec FROM memory_vector WHERE tenant = 't'",
				} {
					if _, err := tx.Exec(copy, tenant); err != nil {
						return err
					}
				}
			}
			return nil
		})
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

// used is how much of the processors this process has had.
func used(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
