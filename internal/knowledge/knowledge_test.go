package knowledge

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/knowledge/wire"
	"tandem/internal/op"
	"tandem/internal/testenv"
)

// bench is a room on a database of its own, with a clock that is set.
type bench struct {
	*testing.T
	db   *db.DB
	room *Room
	now  time.Time
}

// both runs a test on both databases.
func both(t *testing.T, test func(*bench)) {
	for name, dsn := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "a.db") },
		"postgres": func(t *testing.T) string { return testenv.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			b := &bench{T: t, now: time.Date(2026, 11, 18, 9, 0, 0, 0, time.UTC)}
			var err error
			if b.db, err = db.Open(t.Context(), dsn(t), func() time.Time { return b.now }); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { b.db.Close() })
			if _, err := b.db.Migrate(t.Context(), Migrations); err != nil {
				t.Fatal(err)
			}
			b.room = New(b.db)
			test(b)
		})
	}
}

// caller is somebody who may everything but administer, and but what is denied.
func caller(kind op.Kind, name string, denied ...string) context.Context {
	c := op.Caller{Tenant: "t", Actor: "act_" + name, Name: name, Kind: kind}
	if kind == op.Session {
		c.Session = name
	}
	return op.WithMay(op.WithCaller(context.Background(), c), func(right string, r op.Resource) bool {
		return right != "knowledge.admin" && !slices.Contains(denied, r.Path)
	})
}

var (
	ann   = caller(op.Person, "ann")
	ben   = caller(op.Person, "ben")
	robot = caller(op.Session, "ses_robot")
)

// do runs a change of the room in a transaction.
func do[In, Out any](b *bench, ctx context.Context, f func(context.Context, *db.Tx, In) (Out, error), in In) (out Out, err error) {
	err = b.db.Write(ctx, func(tx *db.Tx) (err error) {
		out, err = f(ctx, tx, in)
		return err
	})
	return out, err
}

func must[In, Out any](b *bench, ctx context.Context, f func(context.Context, *db.Tx, In) (Out, error), in In) Out {
	b.Helper()
	out, err := do(b, ctx, f, in)
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func refused(b *bench, kind fault.Kind, err error) {
	b.Helper()
	if !fault.Is(err, kind) {
		b.Errorf("want %v, got %v", kind, err)
	}
}

// asked are the titles that answer a question.
func (b *bench) asked(ctx context.Context, question string) string {
	b.Helper()
	out, err := b.room.ask(ctx, wire.AskIn{Question: question})
	if err != nil {
		b.Fatal(err)
	}
	var titles []string
	for _, i := range out.Items {
		titles = append(titles, i.Title)
	}
	if out.Known != (len(titles) > 0) {
		b.Errorf("known is %v with %d items", out.Known, len(titles))
	}
	return strings.Join(titles, " | ")
}

func (b *bench) add(ctx context.Context, in wire.AddIn) wire.Changed {
	b.Helper()
	return must(b, ctx, b.room.add, in)
}

// read is what promotes an item as it stands now, and first makes it a default one, too.
func (b *bench) read(id string) wire.PromoteIn {
	b.Helper()
	in := wire.PromoteIn{ID: id}
	if err := b.db.QueryRow(b.Context(), "SELECT version FROM knowledge_item WHERE id = ?", id).Scan(&in.Version); err != nil {
		b.Fatal(err)
	}
	return in
}

func (b *bench) first(id string) wire.PromoteIn {
	in := b.read(id)
	in.Default = true
	return in
}

// Who administers the house could not change or delete a knowledge space that has readers, so one whose owner had left was nobody's.
func TestWhoAdministersTheHouseTakesOver(t *testing.T) {
	both(t, func(b *bench) {
		must(b, ann, b.room.create, wire.CreateIn{Name: "board", Purpose: "what was decided", Readers: []string{"person:ann", "agent:clerk"}})
		i := b.add(ann, wire.AddIn{Name: "board", Title: "Offices", Body: "The office moves in May."})
		admin := op.WithMay(ben, func(string, op.Resource) bool { return true })
		if got := b.asked(admin, "when does the office move"); got != "" {
			b.Errorf("who is no reader is answered %q", got)
		}
		_, err := do(b, ben, b.room.remove, wire.ItemIn{ID: i.ID})
		refused(b, fault.NotFound, err)
		for who, want := range map[string]string{"person:ann": "it owns the knowledge space board",
			"agent:clerk": "it reads the knowledge space board", "person:clerk": "", "agent:ann": ""} {
			if got, err := b.room.Waits(b.Context(), nil, "t", who); err != nil || strings.Join(got, "; ") != want {
				b.Errorf("for %s waits %q, %v", who, got, err)
			}
		}
		must(b, admin, b.room.change, wire.ChangeIn{Name: "board", Owners: &[]string{"ben"}})
		must(b, ben, b.room.remove, wire.ItemIn{ID: i.ID})
		must(b, admin, b.room.close, wire.NameIn{Name: "board"})
	})
}

// Promoting a default item again, to say that somebody looked, took its default away; and over HTTP a version could be left out.
func TestLookingAgainTakesNothingAway(t *testing.T) {
	both(t, func(b *bench) {
		must(b, ann, b.room.create, wire.CreateIn{Name: "handbook", Purpose: "how we release"})
		i := b.add(ann, wire.AddIn{Name: "handbook", Title: "Day", Body: "The release day is Tuesday.", Covers: []string{"release/day"}})
		_, err := do(b, ann, b.room.promote, wire.PromoteIn{ID: i.ID})
		refused(b, fault.Invalid, err)
		must(b, ann, b.room.promote, b.first(i.ID))
		if out := must(b, ann, b.room.promote, b.read(i.ID)); out.State != wire.Default {
			b.Errorf("looked at again it is %s", out.State)
		}
		for _, name := range []string{"ask", "item", "kno_x"} {
			_, err := do(b, ann, b.room.create, wire.CreateIn{Name: name, Purpose: "x"})
			refused(b, fault.Invalid, err)
		}
	})
}

func TestWhatAnAgentAddsAnswersNobodyUntilAnOwnerPromotesIt(t *testing.T) {
	both(t, func(b *bench) {
		must(b, ann, b.room.create, wire.CreateIn{Name: "handbook", Purpose: "how we release"})
		i := b.add(robot, wire.AddIn{Name: "handbook", Title: "Release day", Summary: "Releases are cut on Tuesdays."})
		if i.State != wire.Working || b.asked(ann, "when are releases cut") != "" {
			b.Errorf("what nobody read answers: %+v", i)
		}
		if _, err := b.room.item(caller(op.Agent, "other"), wire.ItemIn{ID: i.ID}); !fault.Is(err, fault.NotFound) {
			b.Errorf("another agent reads what waits: %v", err)
		}
		_, err := do(b, ben, b.room.promote, b.read(i.ID))
		refused(b, fault.Denied, err)
		_, err = do(b, ann, b.room.promote, wire.PromoteIn{ID: i.ID, Version: 7})
		refused(b, fault.Conflict, err)
		if out := must(b, ann, b.room.promote, wire.PromoteIn{ID: i.ID, Version: 1}); out.State != wire.Promoted || out.Version != 2 {
			b.Errorf("promoted: %+v", out)
		}
		if got := b.asked(robot, "When are releases cut?"); got != "Release day" {
			b.Errorf("the answer is %q", got)
		}
		if got := b.asked(robot, "Who cuts releases on holidays in Norway?"); got != "" {
			b.Errorf("a word or two in common answers: %q", got)
		}
		must(b, ann, b.room.deprecate, wire.DeprecateIn{ID: i.ID, Reason: "moved"})
		if got := b.asked(ann, "when are releases cut"); got != "" {
			b.Errorf("what was deprecated answers: %q", got)
		}
		must(b, ann, b.room.promote, b.read(i.ID))
		must(b, ann, b.room.remove, wire.ItemIn{ID: i.ID})
		if got := b.asked(ann, "when are releases cut"); got != "" {
			b.Errorf("what was removed answers: %q", got)
		}
	})
}

// Who may not read a knowledge space does not find it, by policy or by its readers, and nothing of it moves what they find.
func TestReaders(t *testing.T) {
	both(t, func(b *bench) {
		for _, in := range []wire.CreateIn{{Name: "open", Purpose: "all"}, {Name: "pay", Purpose: "money", Readers: []string{"agent:clerk"}}} {
			must(b, ann, b.room.create, in)
			i := b.add(ann, wire.AddIn{Name: in.Name, Title: "Salaries of " + in.Name, Body: "Salaries are paid on the last day."})
			must(b, ann, b.room.promote, b.read(i.ID))
		}
		c := op.CallerFrom(caller(op.Agent, "worker"))
		c.For = []string{"person:ann"} // who may read it, and does not lend it
		worker := op.WithCaller(caller(op.Agent, "worker"), c)
		for who, want := range map[context.Context]string{ann: "Salaries of open | Salaries of pay", ben: "Salaries of open",
			caller(op.Agent, "clerk"): "Salaries of open | Salaries of pay", caller(op.Agent, "clerk", "/pay"): "Salaries of open",
			robot: "Salaries of open", worker: "Salaries of open"} {
			if got := b.asked(who, "when are salaries paid"); got != want {
				b.Errorf("%s finds %q, not %q", op.CallerFrom(who).Name, got, want)
			}
		}
		_, err := b.room.show(ben, wire.ShowIn{Name: "pay"})
		refused(b, fault.NotFound, err)
		_, err = do(b, ben, b.room.add, wire.AddIn{Name: "pay", Title: "x", Body: "y"})
		refused(b, fault.NotFound, err)
		_, err = do(b, ben, b.room.change, wire.ChangeIn{Name: "open", Readers: &[]string{"person:ben"}})
		refused(b, fault.Denied, err)
		must(b, ann, b.room.change, wire.ChangeIn{Name: "pay", Readers: &[]string{"person:ben"}})
		if got := b.asked(ben, "when are salaries paid"); got != "Salaries of open | Salaries of pay" {
			b.Errorf("a new reader finds %q", got)
		}
		_, err = do(b, ann, b.room.change, wire.ChangeIn{Name: "pay", Owners: &[]string{}})
		refused(b, fault.Invalid, err)
	})
}

// A newer item with the same key takes the place of the older one and of its state; of the default items of a topic there is one.
func TestOneItemForAKeyAndOneDefaultForATopic(t *testing.T) {
	both(t, func(b *bench) {
		must(b, ann, b.room.create, wire.CreateIn{Name: "handbook", Purpose: "how we release"})
		day := func(title, body string) wire.AddIn {
			return wire.AddIn{Name: "handbook", Title: title, Body: body, Covers: []string{"release/day"}, Key: "release-day"}
		}
		old := b.add(ann, day("Tuesday", "The release day is Tuesday."))
		must(b, ann, b.room.promote, b.first(old.ID))
		if again := b.add(ann, day("Tuesday", "The release day is Tuesday.")); !again.Known || again.ID != old.ID {
			b.Errorf("the same is added twice: %+v", again)
		}
		draft := b.add(robot, day("Wednesday", "The release day is Wednesday."))
		better := b.add(robot, day("Thursday", "The release day is Thursday."))
		if better.ID != draft.ID || better.Version != 2 {
			b.Errorf("a second draft of one author: %+v after %+v", better, draft)
		}
		out := must(b, ann, b.room.promote, b.read(better.ID))
		if out.State != wire.Default || !slices.Equal(out.Replaced, []string{old.ID}) {
			b.Errorf("what takes a default one's place: %+v", out)
		}
		if got := b.asked(ann, "release day"); got != "Thursday" {
			b.Errorf("the answer is %q", got)
		}
		other := b.add(ann, wire.AddIn{Name: "handbook", Title: "Calendar", Body: "The release day stands in the calendar.",
			Covers: []string{"release/day"}})
		must(b, ann, b.room.promote, b.first(other.ID))
		if i, err := b.room.item(ann, wire.ItemIn{ID: better.ID}); err != nil || i.State != wire.Promoted {
			b.Errorf("there are two default items of a topic: %+v %v", i, err)
		}
		_, err := do(b, ann, b.room.promote, b.first(b.add(ann, wire.AddIn{Name: "handbook", Title: "a", Body: "b"}).ID))
		refused(b, fault.Conflict, err)
	})
}

// What nobody looked at for too long says so and stands behind what is fresh; a sourced knowledge space takes nothing without a source.
func TestFreshnessAndTrust(t *testing.T) {
	both(t, func(b *bench) {
		must(b, ann, b.room.create, wire.CreateIn{Name: "ops", Purpose: "where things are", Days: 30, Trust: wire.Sourced})
		bare := b.add(robot, wire.AddIn{Name: "ops", Title: "Staging", Body: "The staging server is blue."})
		_, err := do(b, ann, b.room.promote, b.read(bare.ID))
		refused(b, fault.Conflict, err)
		from := []wire.Source{{Kind: "file", Ref: "docs/ops.md"}}
		i := b.add(robot, wire.AddIn{Name: "ops", Title: "Staging", Body: "The staging server is red.", Sources: from})
		must(b, ann, b.room.promote, b.read(i.ID))
		for days, stale := range map[int]bool{29: false, 31: true} {
			b.now = time.Date(2026, 11, 18, 9, 0, 0, 0, time.UTC).Add(time.Duration(days) * 24 * time.Hour)
			out, err := b.room.ask(ann, wire.AskIn{Question: "staging server"})
			if err != nil || !out.Known || out.Stale != stale || out.Items[0].Stale != stale {
				b.Errorf("after %d days: %+v %v", days, out, err)
			}
		}
		b.now = time.Date(2026, 11, 18, 9, 0, 0, 0, time.UTC).Add(31 * 24 * time.Hour)
		must(b, ann, b.room.promote, b.read(i.ID)) // somebody looked
		if out, _ := b.room.ask(ann, wire.AskIn{Question: "staging server"}); out.Stale {
			b.Error("what was looked at is still stale")
		}
		for _, in := range []wire.AddIn{{Name: "ops"}, {Name: "ops", Title: "x"}, {Name: "ops", Title: "x\ny", Body: "z"},
			{Name: "ops", Title: "x", Body: "y", Covers: []string{"Not A Topic"}}, {Name: "ops", Title: "x", Body: strings.Repeat("y", maxBody+1)},
			{Name: "ops", Title: "x", Body: "y", Sources: []wire.Source{{Kind: "rumour", Ref: "z"}}}} {
			_, err := do(b, ann, b.room.add, in)
			refused(b, fault.Invalid, err)
		}
	})
}
