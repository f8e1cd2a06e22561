package gate

import (
	"errors"
	"path/filepath"
	"testing"

	"tandem/internal/db"
	"tandem/internal/journal"
	"tandem/internal/op"
)

// What a caller writes with the intent is there when the call runs, and a call whose first word fails does not run. What a call leaves
// to be written with its outcome is written with it.
func TestWhatIsWrittenWithIntentAndOutcome(t *testing.T) {
	w := open(t, filepath.Join(t.TempDir(), "a.db"))
	add := func(text string) func(*db.Tx) error {
		return func(tx *db.Tx) error {
			_, err := tx.Exec("INSERT INTO note (text) VALUES (?)", text)
			return err
		}
	}
	w.act = func() error {
		if n := w.notes(t); n != 1 {
			t.Errorf("%d notes while it runs", n)
		}
		return nil
	}
	w.along = add("last")
	if _, err := w.Invoke(op.WithFirst(as(op.Agent, "builder", ""), add("first")), "note.send", noteIn{Text: "a"}); err != nil {
		t.Fatal(err)
	}
	if n := w.notes(t); n != 2 {
		t.Errorf("%d notes", n)
	}
	no := errors.New("no")
	bad := op.WithFirst(as(op.Agent, "builder", ""), func(*db.Tx) error { return no })
	if _, err := w.Invoke(bad, "note.send", noteIn{Text: "a"}); !errors.Is(err, no) || w.acted.Load() != 1 {
		t.Errorf("%v, acted %d times", err, w.acted.Load())
	}
	if n := len(w.events(t, journal.Intent)); n != 1 {
		t.Errorf("%d intents", n)
	}
	if op.Along(t.Context(), add("x")) {
		t.Error("there is no outcome without a gate")
	}
}
