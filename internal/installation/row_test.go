package installation

import (
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// A move into a database where another program had a table called session dropped that table, with its rows.
func TestADatabaseOfAnotherProgramIsRefused(t *testing.T) {
	for name, dsn := range map[string]string{"sqlite": filepath.Join(t.TempDir(), "theirs.db"), "postgres": testenv.Postgres(t)} {
		t.Run(name, func(t *testing.T) {
			d, err := db.Open(t.Context(), dsn, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			if id, empty, err := In(t.Context(), d); id != "" || !empty || err != nil {
				t.Fatalf("an empty one: %q, %v, %v", id, empty, err)
			}
			if err := d.Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec("CREATE TABLE session (who TEXT)")
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if _, _, err := In(t.Context(), d); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "(session)") {
				t.Errorf("another program's: %v", err)
			}
			if left, err := d.Tables(t.Context(), 9); err != nil || len(left) != 1 {
				t.Errorf("left are %v, %v", left, err)
			}
		})
	}
}
