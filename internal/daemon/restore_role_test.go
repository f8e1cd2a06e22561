package daemon

import (
	"errors"
	"path/filepath"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// A role that may not make tables could not restore: a restore made all tables anew. It empties and fills those there are; a copy from
// before a change of the tables is brought to the present before that.
func TestARoleWithoutCreateRestores(t *testing.T) {
	owner := testenv.Postgres(t)
	role, dsn := testenv.AsRole(t, owner, "")
	made, err := db.Open(t.Context(), owner, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if _, err := made.Migrate(t.Context(), migrations...); err != nil {
		t.Fatal(err)
	}
	if err := made.Allow(t.Context(), role, migrations...); err != nil {
		t.Fatal(err)
	}
	if err := made.Write(t.Context(), func(tx *db.Tx) error {
		_, err := tx.Exec("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	k := keptAt(t, dsn)
	k.must("resource.put", obj{"key": "before", "value": 1})
	path := filepath.Join(testenv.Dir(t), "copy")
	k.must("server.backup", BackupIn{Path: path})
	k.must("resource.put", obj{"key": "after", "value": 1})
	older, err := filepath.Abs(filepath.Join("testdata", "v0.2.0.backup"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ path, there, gone string }{{path, "before", "after"}, {older, "kept/value", "before"}} {
		k.must("server.restore", RestoreIn{Path: c.path})
		if err := <-k.ended; !errors.Is(err, ErrRestart) {
			t.Fatalf("the daemon ended with %v", err)
		}
		k.start()
		k.must("resource.get", obj{"key": c.there})
		if _, err := k.do("resource.get", obj{"key": c.gone}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("what was there before: %v", err)
		}
		if rep, err := k.d.journal.Verify(t.Context(), nil); err != nil || !rep.OK {
			t.Errorf("the journal: %+v, %v", rep, err)
		}
		k.must("resource.put", obj{"key": c.there, "value": 2})
	}
}
