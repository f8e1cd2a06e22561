package notify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"tandem/internal/db"
)

// Notices that were on their way when the program was replaced are still told.
func TestNoticesOnTheirWayMoveAlong(t *testing.T) {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	first, err := schema.ReadFile("schema/0001_notice.sql")
	if err != nil {
		t.Fatal(err)
	}
	before := db.Migrations{Room: "notify", FS: fstest.MapFS{"schema/0001_notice.sql": {Data: first}}}
	if _, err := d.Migrate(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	err = d.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec("INSERT INTO notice (tenant, id, body, created_at) VALUES ('local', 'note_1', '{\"id\":\"ask_1\"}', 5)")
		for _, way := range []string{toLog, toWebhook} {
			if err == nil {
				_, err = tx.Exec("INSERT INTO notice_send (tenant, notice, channel, tries, due) VALUES ('local', 'note_1', ?, 2, 7)", way)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	n := &Notifier{db: d}
	for _, way := range []string{toLog, toWebhook} {
		x, ok, err := n.next(t.Context(), way, nil)
		if err != nil || !ok || x.notice.ID != "ask_1" || x.tries != 2 || db.Micros(x.due) != 7 || db.Micros(x.created) != 5 {
			t.Errorf("%s: %+v, %v, %v", way, x, ok, err)
		}
	}
}

// A server that was killed between a line and the note of it does not write the line again when it is back.
func TestALineIsWrittenOnceOverAKill(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.log")
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	told := func(id string) item {
		return item{id: "note_" + id, notice: Notice{Event: Event{TS: at, Type: "session", ID: id}}}
	}
	for _, server := range [][]string{{"a", "b"}, {"a", "b", "c"}} { // the second finds the rows of both again
		n := New(nil, Config{File: file}, nil)
		for _, id := range server {
			if err := n.write(t.Context(), told(id)); err != nil {
				t.Fatal(err)
			}
		}
	}
	data, err := os.ReadFile(file)
	if got := strings.Count(string(data), "\n"); err != nil || got != 3 {
		t.Errorf("%d lines, %v:\n%s", got, err, data)
	}
}
