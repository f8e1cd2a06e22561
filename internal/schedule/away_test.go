package schedule

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/schedule/wire"
)

// doing is a server that does what is scheduled, or fails to.
type doing struct{ err error }

func (d *doing) Invoke(context.Context, string, any) (any, error) { return wire.RunOut{}, d.err }

// A copy that was due while the database was away failed, and nothing of that could be stored: list and inbox said that all was well, and
// it was tried again an hour later. It is tried again within a minute, and what became of it is stored then.
func TestWhatFailsWithTheDatabaseIsTriedAgainSoon(t *testing.T) {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "a.db"), nil)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(err)
	defer d.Close()
	_, err = d.Migrate(t.Context(), Migrations)
	must(err)
	exec := func(text string, args ...any) {
		t.Helper()
		must(d.Write(t.Context(), func(tx *db.Tx) error { _, err := tx.Exec(text, args...); return err }))
	}
	long := d.Now().Add(-time.Hour)
	exec("INSERT INTO schedule ("+columns+") VALUES ('t', 'backup', '{\"when\":\"every 1m\"}', 'g', 'p', ?, ?, 0, 0, '', 0)", long, long)
	work := &doing{errors.New("the database is away")}
	r := New(d, slog.New(slog.DiscardHandler))
	r.Rooms = work
	must(r.reload(t.Context()))
	s := r.all()[0]
	exec("CREATE TRIGGER away BEFORE UPDATE ON schedule BEGIN SELECT RAISE(FAIL, 'away'); END")
	r.one(t.Context(), s)
	if s.Failure == "" {
		t.Error("the failure is not known here")
	}
	if yes, _ := due(s, d.Now().Add(2*time.Minute)); !yes {
		t.Error("it is not tried again soon")
	}
	exec("DROP TRIGGER away")
	r.one(t.Context(), s)
	if yes, next := due(s, d.Now().Add(2*time.Minute)); yes || next.Before(d.Now().Add(50*time.Minute)) {
		t.Errorf("what failed for another reason is tried again at %s", next)
	}
	must(r.reload(t.Context()))
	if r.all()[0].Failure == "" {
		t.Error("the failure is stored nowhere")
	}
	work.err = nil
	r.one(t.Context(), s)
	must(r.reload(t.Context()))
	if got := r.all()[0]; got.Failure != "" || got.DoneAt.IsZero() {
		t.Errorf("after it was done: %+v", got)
	}
}
