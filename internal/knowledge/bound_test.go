package knowledge

import (
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/knowledge/wire"
	"tandem/internal/op"
)

// bind says which knowledge spaces sessions are bound to.
func (b *bench) bind(to map[string][]string) {
	b.room.Bound = func(_ *db.Tx, _, session string) ([]string, error) { return to[session], nil }
}

// grounded says why an answer of a session does not stand.
func (b *bench) grounded(session, answer string) (why string) {
	b.Helper()
	if err := b.db.Read(b.Context(), func(tx *db.Tx) (err error) {
		why, err = b.room.Grounded(tx, "t", session, answer)
		return err
	}); err != nil {
		b.Fatal(err)
	}
	return why
}

// fill makes two knowledge spaces that each answer something about releases, and names their items.
func (b *bench) fill() (handbook, ledger string) {
	b.Helper()
	for _, name := range []string{"handbook", "ledger"} {
		must(b, ann, b.room.create, wire.CreateIn{Name: name, Purpose: "releases"})
		i := b.add(ann, wire.AddIn{Name: name, Title: "Day of " + name, Body: "Releases are cut on Tuesdays."})
		must(b, ann, b.room.promote, b.read(i.ID))
		handbook, ledger = ledger, i.ID
	}
	return handbook, ledger
}

func TestABoundSessionReadsWhatItIsBoundToAndNothingElse(t *testing.T) {
	both(t, func(b *bench) {
		handbook, ledger := b.fill()
		b.bind(map[string][]string{"ses_robot": {"handbook", "nowhere"}, "ses_other": {"ledger"}})
		if got := b.asked(robot, "when are releases cut"); got != "Day of handbook" {
			b.Errorf("it is answered with %q", got)
		}
		if got := b.asked(ann, "when are releases cut"); !strings.Contains(got, "Day of ledger") {
			b.Errorf("a person is answered with %q", got)
		}
		if _, err := b.room.ask(robot, wire.AskIn{Question: "when are releases cut", Name: "ledger"}); !fault.Is(err, fault.NotFound) {
			b.Errorf("asked by name: %v", err)
		}
		if out, err := b.room.list(robot, wire.ListIn{Items: true}); err != nil || len(out.Spaces) != 1 || len(out.Items) != 1 {
			b.Errorf("it lists %+v, %v", out, err)
		}
		if _, err := b.room.show(robot, wire.ShowIn{Name: "ledger"}); !fault.Is(err, fault.NotFound) {
			b.Errorf("shown: %v", err)
		}
		if _, err := b.room.item(robot, wire.ItemIn{ID: ledger}); !fault.Is(err, fault.NotFound) {
			b.Errorf("an item: %v", err)
		}
		if _, err := b.room.item(robot, wire.ItemIn{ID: handbook}); err != nil {
			b.Errorf("its own item: %v", err)
		}
		_, err := do(b, robot, b.room.add, wire.AddIn{Name: "ledger", Title: "Day of ledger", Body: "Releases are cut on Tuesdays."})
		refused(b, fault.NotFound, err) // whether it is there already is not told either

		child := op.CallerFrom(caller(op.Session, "ses_child")) // whoever acts for it is kept as it is
		child.For = []string{"session:ses_robot", "person:ann"}
		ctx := op.WithMay(op.WithCaller(b.Context(), child), func(string, op.Resource) bool { return true })
		if got := b.asked(ctx, "when are releases cut"); got != "Day of handbook" {
			b.Errorf("its child is answered with %q", got)
		}
		child.For = append(child.For, "session:ses_other") // two that have nothing in common
		ctx = op.WithMay(op.WithCaller(b.Context(), child), func(string, op.Resource) bool { return true })
		if got := b.asked(ctx, "when are releases cut"); got != "" {
			b.Errorf("between two it is answered with %q", got)
		}
		if err := b.db.Read(robot, func(tx *db.Tx) error { return b.room.Bindable(robot, tx, []string{"ledger"}) }); !fault.Is(err,
			fault.NotFound) {
			b.Errorf("it binds another to what it does not read: %v", err)
		}
	})
}

func TestAnAnswerStandsOnWhatItsSessionRead(t *testing.T) {
	both(t, func(b *bench) {
		handbook, ledger := b.fill()
		say := func(session, answer, want string) {
			b.Helper()
			if got := b.grounded(session, answer); got != want {
				b.Errorf("%s saying %q: %q, not %q", session, answer, got, want)
			}
		}
		unread := func(id string) string { return "it cites " + id + ", which was not read" }
		say("ses_robot", "On Tuesdays.", "it cites nothing")
		say("ses_robot", "On Tuesdays ["+handbook+"].", unread(handbook))
		say("ses_robot", "Not known here.", "it says that it is not known here, and no knowledge space was asked")
		if b.asked(robot, "who paints the fence in norway") != "" {
			b.Fatal("it is known")
		}
		say("ses_robot", "**not known here**", "")
		say("ses_robot", "Not known here, but surely on Fridays.", "it cites nothing")
		if _, err := b.room.item(robot, wire.ItemIn{ID: handbook}); err != nil {
			b.Fatal(err)
		}
		say("ses_robot", "On Tuesdays ["+handbook+"].", "")
		say("ses_robot", "On Tuesdays, see "+handbook, "it cites nothing") // a citation stands in brackets
		say("ses_robot", "On Tuesdays ["+handbook+", "+ledger+"].", unread(ledger))
		say("ses_robot", "On Tuesdays ["+handbook+"] [kno_madeup].", unread("kno_madeup"))
		say("ses_other", "On Tuesdays ["+handbook+"].", unread(handbook)) // what another one read

		b.bind(map[string][]string{"ses_robot": {"ledger"}})
		say("ses_robot", "On Tuesdays ["+handbook+"].", unread(handbook))
		b.bind(nil)
		must(b, ann, b.room.deprecate, wire.DeprecateIn{ID: handbook})
		say("ses_robot", "On Tuesdays ["+handbook+"].", "it cites "+handbook+", which does not answer any more")
		must(b, ann, b.room.remove, wire.ItemIn{ID: handbook})
		say("ses_robot", "On Tuesdays ["+handbook+"].", unread(handbook))
		var left int
		err := b.db.QueryRow(b.Context(), "SELECT count(*) FROM knowledge_read WHERE item = ?", handbook).Scan(&left)
		if err != nil || left != 0 {
			b.Errorf("%d rows of it are left, %v", left, err)
		}
	})
}

// What acted for a session read every knowledge space again once the session was deleted.
func TestABindingDoesNotEndWithItsSession(t *testing.T) {
	both(t, func(b *bench) {
		b.fill()
		b.room.Bound = func(_ *db.Tx, _, session string) ([]string, error) {
			if session == "ses_gone" {
				return nil, op.NoSuch("session", session)
			}
			return []string{"handbook"}, nil
		}
		as := func(kind op.Kind, name string) string {
			c := op.CallerFrom(caller(kind, name))
			c.For = []string{"session:ses_gone", "person:ann"}
			return b.asked(op.WithMay(op.WithCaller(b.Context(), c), func(string, op.Resource) bool { return true }), "when are releases cut")
		}
		if got := as(op.Service, "automation.x"); got != "" {
			b.Errorf("what acts for it is answered with %q", got)
		}
		if got := as(op.Session, "ses_child"); got != "Day of handbook" {
			b.Errorf("a session that it opened is answered with %q", got)
		}
	})
}
