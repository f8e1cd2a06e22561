package session

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"tandem/internal/db"
)

// A turn that waited before a server was renewed waits for the same after it.
func TestWhatATurnWaitedForIsKnownAfterAnUpgrade(t *testing.T) {
	d, err := db.Open(t.Context(), filepath.Join(t.TempDir(), "db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	before := fstest.MapFS{}
	names, err := fs.Glob(schema, "schema/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name < "schema/0015" {
			data, err := schema.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			before[name] = &fstest.MapFile{Data: data}
		}
	}
	if _, err := d.Migrate(t.Context(), db.Migrations{Room: "session", FS: before}); err != nil {
		t.Fatal(err)
	}
	want := map[string]Awaited{"que_1": AwaitsAnswer, "turn_1": AwaitsTask, "ask_1": AwaitsApproval, "": ""}
	if err := d.Write(t.Context(), func(tx *db.Tx) error {
		for ask := range want {
			if _, err := tx.Exec(`INSERT INTO session_turn (tenant, id, session, state, reason, ask, cancel, prompt, options, asker, steps, calls,
				attempts, usage, cost, created_at, started_at, ended_at)
				VALUES ('t', ?, 's', 'waiting', '', ?, 0, '', '', '', 0, 0, 0, '', 0, 1, 1, 0)`,
				"turn of "+ask, ask); err != nil {
				return err
			}
			if _, err := tx.Exec(`INSERT INTO session_call (tenant, session, turn, id, position, ref, tool, args, title, state, ask, result,
				created_at, ended_at) VALUES ('t', 's', 'x', ?, 1, '', '', '', '', 'asking', ?, '', 1, 0)`, "call of "+ask, ask); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`INSERT INTO session_turn (tenant, id, session, state, reason, ask, cancel, prompt, options, asker, steps, calls,
			attempts, usage, cost, created_at, started_at, ended_at) VALUES ('t', 'round', 's', 'failed', ?, '', 0, '', '', '', 0, 0, 0, '', 0, 1,
			1, 1)`, "the agent called read 3 times with the same arguments and the same result")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	from := outside{t.Context(), d}
	if turn, err := loadTurn(outside{t.Context(), d}, "t", "round"); err != nil || turn.Cause != Circling {
		t.Errorf("what ended a turn is not known any more: %+v %v", turn, err)
	}
	for ask, awaits := range want {
		turn, err := loadTurn(from, "t", "turn of "+ask)
		if err != nil || turn.Awaits != awaits {
			t.Errorf("a turn with %q: %+v, %v", ask, turn, err)
		}
		call, err := loadCall(from, "t", "call of "+ask)
		if err != nil || call.Awaits != awaits {
			t.Errorf("a call with %q: %+v, %v", ask, call, err)
		}
	}
}
