package memory

import (
	"context"
	"fmt"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/memory/wire"
)

// crowd makes places with so many texts each.
func (b *bench) crowd(name string, first, n, texts int) {
	b.t.Helper()
	err := b.db.Write(b.t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO memory_place (tenant, nr, tier, of_name, texts, length)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ` + fmt.Sprint(n) + `)
			SELECT 't', i + ` + fmt.Sprint(first) + `, 'project', '` + name + `' || i, ` + fmt.Sprint(texts, ", ", texts) + ` FROM n`)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) places() (n int) {
	b.t.Helper()
	if err := b.db.QueryRow(b.t.Context(), "SELECT count(*) FROM memory_place").Scan(&n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

// Who proposes makes few places, leaves room for people, and takes reading from nobody. A place without records goes.
func TestPlacesAreBounded(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		project := func(of string) wire.AddIn { return wire.AddIn{Text: "Tea in " + of, Tier: wire.OfProject, Of: of} }
		id := must(b, other, func(ctx context.Context, tx *db.Tx, n int) (p wire.Changed, err error) {
			for i := 0; i < n && err == nil; i++ {
				p, err = b.room.propose(ctx, tx, project(fmt.Sprint("own", i)))
			}
			return p, err
		}, maxOwn).ID
		if _, err := change(b, other, b.room.propose, project("one-more")); !fault.Is(err, fault.Exhausted) {
			t.Errorf("an author's place too many: %v", err)
		}
		must(b, other, b.room.propose, wire.AddIn{Text: "Tea again", Tier: wire.OfProject, Of: "own1"})
		before := b.places()
		must(b, ann, b.room.promote, wire.MoveIn{ID: id, Tier: wire.OfTeam})
		if n := b.places(); n != before { // the team's came, the project's went
			t.Errorf("%d places after a record left the only one it was in, not %d", n, before)
		}
		b.crowd("waits", 1_000_000, maxProposed-b.places(), 0)
		if _, err := change(b, robot, b.room.propose, project("two-more")); !fault.Is(err, fault.Exhausted) {
			t.Errorf("a place of agents too many: %v", err)
		}
		must(b, ann, b.room.add, project("anns"))
		many := maxPlaces
		if b.db.Path() != "" {
			many = 33_000 // more than SQLite takes variables
		}
		b.crowd("told", 2_000_000, many, 1)
		if found := b.found(robot, "tea"); len(found) != 2 {
			t.Errorf("among many: %q", found)
		}
		if l, err := b.room.list(robot, wire.ListIn{}); err != nil || len(l.Records) != 2 {
			t.Errorf("%+v, %v", l, err)
		}
		if l, err := b.room.list(other, wire.ListIn{State: wire.Proposed}); err != nil || !l.More {
			t.Errorf("%+v, %v", l, err)
		}
		if _, err := b.room.brief(robot, wire.BriefIn{About: "tea", Project: "anns"}); err != nil {
			t.Error(err)
		}
		if _, err := change(b, ann, b.room.add, project("three-more")); !fault.Is(err, fault.Exhausted) {
			t.Errorf("a place too many: %v", err)
		}
	})
}

// Nobody supersedes a record where they may not write, neither at once nor by promoting what an agent proposed.
func TestSupersedingNeedsTheRightToWriteThere(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		old := must(b, ann, b.room.add, wire.AddIn{Text: "Keys turn in March", Tier: wire.Curated, Of: "handbook"})
		ben := readsOnly("ben", "/curated/handbook")
		if _, err := change(b, ben, b.room.add, wire.AddIn{Text: "Keys turn in May", Replaces: old.ID}); !fault.Is(err, fault.Denied) {
			t.Errorf("at once: %v", err)
		}
		p := must(b, robot, b.room.propose, wire.AddIn{Text: "Keys turn in June", Replaces: old.ID})
		if _, err := change(b, ben, b.room.promote, wire.MoveIn{ID: p.ID}); !fault.Is(err, fault.Denied) {
			t.Errorf("by promoting: %v", err)
		}
		is(t, "still", b.found(other, "keys"), "Keys turn in March")
		must(b, ann, b.room.promote, wire.MoveIn{ID: p.ID})
		is(t, "then", b.found(other, "keys"), "Keys turn in June")
	})
}
