package schedule

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/schedule/wire"
)

// slow is a server that somebody asks for a copy while it makes one.
type slow func()

func (s slow) Invoke(context.Context, string, any) (any, error) { s(); return wire.RunOut{}, nil }

// Whoever asked for a copy while one was made was told that it is done: it held nothing of what came after its beginning.
func TestACopyThatBeganBeforeIsNotTheOneThatWasAskedFor(t *testing.T) {
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
	later := func() time.Time { // a moment after all that were stored
		for now := d.Now(); ; {
			if next := d.Now(); next.UnixMicro() > now.UnixMicro() {
				return next
			}
		}
	}
	long := d.Now().Add(-time.Hour)
	exec("INSERT INTO schedule ("+columns+") VALUES ('t', 'backup', '{\"when\":\"every 24h\"}', 'g', 'p', ?, ?, 0, 0, '', 0)", long, long)
	r := New(d, slog.New(slog.DiscardHandler))
	var asked time.Time
	r.Rooms = slow(func() {
		asked = later()
		exec("UPDATE schedule SET asked_at = ?", asked)
		later()
	})
	must(r.reload(t.Context()))
	r.one(t.Context(), r.all()[0])
	must(r.reload(t.Context()))
	s := r.all()[0]
	if yes, _ := due(s, d.Now()); !yes || !s.DoneAt.Before(s.AskedAt) {
		t.Errorf("what was asked for at %s counts as done at %s", s.AskedAt, s.DoneAt)
	}
	r.Rooms = slow(func() {})
	later()
	r.one(t.Context(), s)
	must(r.reload(t.Context()))
	s = r.all()[0]
	if yes, _ := due(s, d.Now()); yes || s.DoneAt.Before(asked) {
		t.Errorf("what was done at %s is not what was asked for at %s", s.DoneAt, asked)
	}
}
