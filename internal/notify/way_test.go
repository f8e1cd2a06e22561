package notify

import (
	"path/filepath"
	"testing"
	"testing/fstest"

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
