package memory

import (
	"fmt"
	"testing"

	"tandem/internal/db"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
)

// A search read the vectors of a tenant in the order in which they came, so that much in one project kept meaning from another; and
// whatever was forgotten anywhere let go of everything.
func TestWhatOthersHaveChangesNothingOfWhatIFind(t *testing.T) {
	needsVectors(t)
	both(t, func(t *testing.T, b *bench) {
		ben := caller(op.Agent, "ben", "/project/large")
		large := must(b, ann, b.room.add, wire.AddIn{Text: invoices, Tier: wire.OfProject, Of: "large"}).ID
		b.manyVectors()
		must(b, ann, b.room.add, wire.AddIn{Text: doctor, Tier: wire.OfProject, Of: "small"})
		started := &bench{t, b.db, New(b.db)}
		before, err := started.room.search(ben, wire.SearchIn{Query: ill})
		if err != nil || len(before.Hits) != 1 || before.Hits[0].By != wire.ByMeaning {
			t.Fatalf("after a start: %+v, %v", before, err)
		}
		must(started, ann, started.room.forget, wire.IDIn{ID: large})
		after, err := started.room.search(ben, wire.SearchIn{Query: ill})
		if err != nil || fmt.Sprint(before) != fmt.Sprint(after) {
			t.Errorf("after something was forgotten elsewhere: %v\n%+v\n%+v", err, before, after)
		}
	})
}

// manyVectors copies the vectors that are there 12,000 times.
func (b *bench) manyVectors() {
	b.t.Helper()
	for _, many := range []string{
		`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
			INSERT INTO memory_vector (tenant, place, nr, seq, model, vec)
			SELECT v.tenant, v.place, n.i + 1000, n.i + 1000, v.model, v.vec FROM memory_vector v, n`,
		"UPDATE memory_number SET last = 20000",
	} {
		if err := b.db.Write(b.t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(many); return err }); err != nil {
			b.t.Fatal(err)
		}
	}
}

// The 600 nearest of any kind were compared, and what was asked for was not among them.
func TestMeaningFindsWhatAFilterAsksFor(t *testing.T) {
	needsVectors(t)
	both(t, func(t *testing.T, b *bench) {
		must(b, ann, b.room.add, wire.AddIn{Text: doctor})
		b.manyVectors()
		nurse := "A nurse looks after the ward"
		must(b, ann, b.room.add, wire.AddIn{Text: nurse, Kind: wire.Decision, Labels: []string{"care"}})
		places, err := numbers(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		b.room.catchUp(t.Context(), "t", places)
		for _, f := range []wire.Filter{{Kind: wire.Decision}, {Label: "care"}} {
			out, err := b.room.search(other, wire.SearchIn{Query: "doctor in hospital", Filter: f})
			if err != nil || len(out.Hits) != 1 || out.Hits[0].Text != nurse || out.Hits[0].By != wire.ByMeaning {
				t.Errorf("%+v: %+v, %v", f, out, err)
			}
		}
	})
}

// Signatures of what was forgotten, superseded, taken back or moved were held on, on other servers until they ended.
func TestSignaturesGoWithTheirRecords(t *testing.T) {
	needsVectors(t)
	both(t, func(t *testing.T, b *bench) {
		second := &bench{t, b.db, New(b.db)}
		held := func(what string, at *bench, want int) {
			t.Helper()
			if got := at.room.meaning.tenant("t", layerOf(t)).Len(); got != want {
				t.Errorf("%s: %d signatures are held, not %d", what, got, want)
			}
		}
		var ids []string
		for i := range 5 {
			in := wire.AddIn{Text: fmt.Sprintf("%s, ward %d", doctor, i), Tier: wire.OfProject, Of: "clinic"}
			if i == 4 {
				in.Of = "alone"
			}
			ids = append(ids, must(b, ann, b.room.add, in).ID)
		}
		for _, at := range []*bench{b, second} {
			at.found(ann, ill)
			held("at first", at, 5)
		}
		must(b, ann, b.room.forget, wire.IDIn{ID: ids[0]})
		must(b, ann, b.room.demote, wire.MoveIn{ID: ids[1]})
		must(b, ann, b.room.add, wire.AddIn{Text: invoices, Tier: wire.OfProject, Of: "clinic", Replaces: ids[2]})
		second.found(ann, ill)
		held("after a search", second, 3)
		must(b, ann, b.room.promote, wire.MoveIn{ID: ids[4], Tier: wire.OfTeam}) // its place is empty now, and goes
		for _, at := range []*bench{b, second} {
			at.room.followAll(t.Context())
			held("without a search", at, 2)
			at.found(ann, ill)
			held("all that is live", at, 3)
		}
		err := b.db.Read(t.Context(), func(tx *db.Tx) error {
			s, err := look(ann, tx, wire.Filter{}, wire.Live)
			if err != nil {
				return err
			}
			must(b, ann, b.room.forget, wire.IDIn{ID: ids[3]})
			b.found(ann, ill)
			_, err = b.room.find(tx, s, ill, nil)
			held("a search that began before", b, 2)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

func layerOf(t *testing.T) layer {
	l, ok := builtin()
	if !ok {
		t.Fatal("built without vectors")
	}
	return l
}
