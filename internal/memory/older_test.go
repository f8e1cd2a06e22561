package memory

import (
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"tandem/internal/db"
	"tandem/internal/memory/wire"
	"tandem/internal/testenv"
)

// What an older program made findable is found, changed and forgotten by this one, and leaves no term behind. That program took some words
// apart in another way.
func TestWhatAnOlderProgramIndexedIsTakenOut(t *testing.T) {
	for name, dsn := range map[string]func(testing.TB) string{"postgres": testenv.Postgres,
		"sqlite": func(t testing.TB) string { return filepath.Join(t.TempDir(), "a.db") }} {
		t.Run(name, func(t *testing.T) {
			d, err := db.Open(t.Context(), dsn(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			before := fstest.MapFS{}
			for _, f := range []string{"0001_memory", "0002_told", "0003_vector", "0004_place_seq", "0005_model"} {
				raw, err := fs.ReadFile(schema, "schema/"+f+".sql")
				if err != nil {
					t.Fatal(err)
				}
				before["schema/"+f+".sql"] = &fstest.MapFile{Data: raw}
			}
			if _, err := d.Migrate(t.Context(), db.Migrations{Room: "memory", FS: before}); err != nil {
				t.Fatal(err)
			}
			err = d.Write(t.Context(), func(tx *db.Tx) error {
				for _, q := range []string{
					"INSERT INTO memory_number VALUES ('t', 3)",
					"INSERT INTO memory_place VALUES ('t', 1, 'team', '', 2, 5, 0)",
					`INSERT INTO memory_record SELECT 't', 'mem_' || nr, nr, 1, 'note', 'live', 'stated', said, '', '', 'ann', 'act_ann', 1, 0, '',
						'', 0, 0, 0 FROM (SELECT 2 AS nr, 'Owls hunt' AS said UNION ALL SELECT 3, 'Barn owls dozing') AS was`,
				} {
					if _, err := tx.Exec(q); err != nil {
						return err
					}
				}
				for _, p := range []struct {
					term       string
					nr, length int64
				}{{"owl", 2, 2}, {"hunt", 2, 2}, {"barn", 3, 3}, {"owl", 3, 3}, {"dozinges", 3, 3}} {
					if _, err := tx.Exec("INSERT INTO memory_posting VALUES ('t', ?, 1, ?, 1, ?, '0 ')", []byte(p.term), p.nr, p.length); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := d.Migrate(t.Context(), Migrations); err != nil {
				t.Fatal(err)
			}
			b := &bench{t, d, New(d)}
			is(t, "owls", b.found(ann, "owl"), "Owls hunt", "Barn owls dozing")
			text := "A tern dives"
			must(b, ann, b.room.edit, wire.EditIn{ID: "mem_2", Text: &text})
			must(b, ann, b.room.forget, wire.IDIn{ID: "mem_3"})
			is(t, "terns", b.found(ann, "tern"), text)
			is(t, "owls afterwards", b.found(ann, "owl"))
			b.none("terms of what is gone", "SELECT count(*) FROM memory_posting WHERE nr = 3 OR term = ?", []byte("hunt"))
			b.none("places that count wrong", "SELECT count(*) FROM memory_place WHERE texts <> 1 OR length <> 2")
		})
	}
}
