package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/memory/vector"
	"tandem/internal/memory/wire"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

func needsVectors(t *testing.T) {
	t.Helper()
	if vector.Builtin() == nil {
		t.Skip("built without vectors")
	}
}

const (
	doctor   = "The physician treated the patient in the clinic"
	ill      = "who helps somebody that is ill, a doctor or a nurse in hospital"
	invoices = "Invoices are paid on Fridays"
)

// A question that shares no word with a record found nothing.
func TestWhatMeansTheSameIsFound(t *testing.T) {
	needsVectors(t)
	both(t, func(t *testing.T, b *bench) {
		id := must(b, ann, b.room.add, wire.AddIn{Text: doctor}).ID
		must(b, ann, b.room.add, wire.AddIn{Text: invoices})
		out, err := b.room.search(other, wire.SearchIn{Query: ill})
		if err != nil || len(out.Hits) != 1 || out.Hits[0].ID != id || out.Hits[0].By != wire.ByMeaning ||
			!strings.Contains(out.How, "meaning") {
			t.Fatalf("%+v, %v", out, err)
		}
		out, err = b.room.search(other, wire.SearchIn{Query: "physician"})
		if err != nil || len(out.Hits) == 0 || out.Hits[0].By != wire.ByBoth {
			t.Errorf("by its word: %+v, %v", out, err)
		}
		is(t, "a phrase must stand there", b.found(other, `"doctor or nurse" `+ill))
		is(t, "nothing that means it", b.found(other, "volcanic basalt eruption"))
		brief, err := b.room.brief(other, wire.BriefIn{About: ill, Look: true})
		if err != nil || !slices.Equal(brief.IDs, []string{id}) {
			t.Errorf("a brief tells %v, %v", brief.IDs, err)
		}
		text := "Bananas ripen in the sun"
		must(b, ann, b.room.edit, wire.EditIn{ID: id, Text: &text})
		is(t, "when it says something else", b.found(other, ill))
		is(t, "that is found", b.found(other, "tropical fruit"), text)
		must(b, ann, b.room.demote, wire.MoveIn{ID: id})
		is(t, "taken back", b.found(other, "tropical fruit"))
		must(b, ann, b.room.promote, wire.MoveIn{ID: id})
		is(t, "live again", b.found(other, "tropical fruit"), text)
		must(b, ann, b.room.forget, wire.IDIn{ID: id})
		is(t, "forgotten", b.found(ann, "tropical fruit"))
		var left int
		if err := b.db.QueryRow(t.Context(), "SELECT count(*) FROM memory_vector WHERE length(vec) > 0").Scan(&left); err != nil || left != 1 {
			t.Errorf("%d vectors are left: %v", left, err)
		}
	})
}

// What somebody may not read is near to no question of theirs, and moves nothing.
func TestMeaningCrossesNoWall(t *testing.T) {
	needsVectors(t)
	both(t, func(t *testing.T, b *bench) {
		barred := caller(op.Agent, "barred", "/project/secret")
		for i, text := range []string{doctor, "A nurse looks after the ward", invoices} {
			must(b, ann, b.room.add, wire.AddIn{Text: text, Days: i})
		}
		before, err := b.room.search(barred, wire.SearchIn{Query: ill})
		if err != nil || len(before.Hits) == 0 {
			t.Fatal(before, err)
		}
		for i := range 30 {
			must(b, ann, b.room.add, wire.AddIn{Text: fmt.Sprintf("The doctor helps who is ill, number %d", i), Tier: wire.OfProject, Of: "secret"})
		}
		must(b, ann, b.room.add, wire.AddIn{Text: "a doctor of another session", Tier: wire.OfSession, Of: "ses_robot"})
		foreign := op.WithMay(op.WithCaller(t.Context(), op.Caller{Tenant: "u", Actor: "a", Name: "a", Kind: op.Person}),
			func(string, op.Resource) bool { return true })
		must(b, foreign, b.room.add, wire.AddIn{Text: "a doctor of another tenant"})
		must(b, robot, b.room.propose, wire.AddIn{Text: "a doctor whom somebody proposed"})
		b.found(ann, ill) // what ann reads is in memory now
		after, err := b.room.search(barred, wire.SearchIn{Query: ill})
		if err != nil || fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("%v\n%+v\n%+v", err, before, after)
		}
	})
}

// Records of a server that had no vectors, or others, get them behind the first search. What another server writes is followed.
func TestVectorsAreMadeAndFollowed(t *testing.T) {
	needsVectors(t)
	both(t, func(t *testing.T, b *bench) {
		for i := range 450 {
			must(b, ann, b.room.add, wire.AddIn{Text: fmt.Sprintf("%s, ward %d", doctor, i)})
		}
		for _, old := range []string{"DELETE FROM memory_vector WHERE nr % 2 = 0", "UPDATE memory_vector SET model = 'older'"} {
			if err := b.db.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(old); return err }); err != nil {
				t.Fatal(err)
			}
		}
		is(t, "without vectors", b.found(other, ill))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() { defer close(done); b.room.Run(ctx) }()
		t.Cleanup(func() { stop(); <-done })
		if !testenv.Within(time.Minute, func() bool { return len(b.found(other, ill)) == 10 }) {
			t.Fatal("the vectors were not made")
		}
		second := New(b.db)
		elsewhere := &bench{t, b.db, second}
		if got := elsewhere.found(other, ill); len(got) != 10 {
			t.Errorf("another server finds %q", got)
		}
		must(b, ann, b.room.add, wire.AddIn{Text: "Bananas ripen in the sun"})
		is(t, "what was written since", elsewhere.found(other, "tropical fruit"), "Bananas ripen in the sun")
	})
}

// What a session wrote before and behind a record helps to find it.
func TestWhatStandsBesideIsFoundInASession(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		for _, text := range []string{"Nothing of note", "Shall we paint the fence?", "Yes, in green", "Later"} {
			must(b, ann, b.room.add, wire.AddIn{Text: text, Tier: wire.OfSession, Of: "ses_robot"})
		}
		out, err := b.room.search(robot, wire.SearchIn{Query: "fence", Limit: 3})
		if err != nil || len(out.Hits) != 3 || out.Hits[0].Text != "Shall we paint the fence?" || out.Hits[1].By != wire.ByNeighbour {
			t.Errorf("%+v, %v", out, err)
		}
		must(b, ann, b.room.add, wire.AddIn{Text: "The fence is old"})
		must(b, ann, b.room.add, wire.AddIn{Text: "Cows eat grass"})
		is(t, "elsewhere nothing stands beside anything", b.found(other, "fence"), "The fence is old")
	})
}
