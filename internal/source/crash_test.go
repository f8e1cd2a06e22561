package source

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/db"
	"tandem/internal/op"
	"tandem/internal/source/wire"
	"tandem/internal/testenv"
	"tandem/internal/tool/box"
)

// garden is how many documents the folder of the child has.
const garden = 12

// A child changes documents and imports them as fast as it can, and now and then revokes the source and binds it anew. It is killed at a
// random instant, again and again, on the same file. After each kill every document is there whole, in one version, or not at all, and
// what was revoked is not found; at the end an import that nobody cuts off brings what lies in the folder, once.
func TestKillLeavesNoDocumentHalfAndNoneTwice(t *testing.T) {
	if dsn := os.Getenv("TANDEM_SOURCE_DB"); dsn != "" {
		crashChild(t, dsn, os.Getenv("TANDEM_SOURCE_FOLDER"))
		return
	}
	dsn := filepath.Join(t.TempDir(), "a.db")
	b := newBench(t, dsn)
	random := testenv.Random(t)
	said := map[string]int{}
	rounds := testenv.Rounds(200)
	for i := 0; i < rounds || said["imported"] == 0 || said["revoked"] == 0; i++ { // a busy machine gets less far before each kill
		cmd := testenv.Again(t, "TANDEM_SOURCE_DB="+dsn, "TANDEM_SOURCE_FOLDER="+b.folder, fmt.Sprint("TANDEM_SOURCE_ROUND=", i))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		if !lines.Scan() || lines.Text() != "ready" {
			t.Fatalf("the child said %q", lines.Text())
		}
		timer := time.AfterFunc(time.Duration(random.IntN(600))*time.Millisecond, func() { cmd.Process.Kill() })
		for lines.Scan() {
			said[lines.Text()]++
		}
		testenv.Killed(t, cmd)
		timer.Stop()
		b.whole()
		if t.Failed() {
			t.Fatalf("after kill %d", i)
		}
	}
	b.room.still = func(context.Context, op.Caller) error { return nil }
	crashBind(t, b.room, b.folder)
	b.imported(ann, "garden")
	b.whole()
	for n := range garden {
		name := fmt.Sprintf("d%02d.md", n)
		data, err := os.ReadFile(filepath.Join(b.folder, name))
		var found int
		if err == nil {
			err = b.room.DB.QueryRow(t.Context(), "SELECT count(*) FROM source_passage p JOIN source_file f ON f.tenant = p.tenant "+
				"AND f.nr = p.file WHERE f.path = ? AND p.text LIKE ?", name, "%"+version(string(data))+"%").Scan(&found)
		}
		if os.IsNotExist(err) {
			err = b.room.DB.QueryRow(t.Context(), "SELECT -count(*) FROM source_file WHERE path = ?", name).Scan(&found)
			found += 3
		}
		if err != nil || found != 3 {
			t.Errorf("%s has %d passages of its version, %v", name, found, err)
		}
	}
	t.Logf("%d kills, %d imports and %d revocations came to their end", rounds, said["imported"], said["revoked"])
}

// version is the word by which a text of a document is known.
func version(text string) string {
	for word := range strings.FieldsSeq(text) {
		if strings.HasPrefix(word, "turnip") {
			return word
		}
	}
	return "none"
}

// whole looks that no document is half, none of two versions, and none without its terms.
func (b *bench) whole() {
	b.Helper()
	for what, query := range map[string]string{
		"documents with another number of passages": `SELECT count(*) FROM source_file f WHERE f.texts <>
			(SELECT count(*) FROM source_passage p WHERE p.tenant = f.tenant AND p.file = f.nr)`,
		"passages without a document": `SELECT count(*) FROM source_passage p WHERE NOT EXISTS
			(SELECT 1 FROM source_file f WHERE f.tenant = p.tenant AND f.nr = p.file)`,
		"terms without a passage": `SELECT count(*) FROM source_posting t WHERE NOT EXISTS
			(SELECT 1 FROM source_passage p WHERE p.tenant = t.tenant AND p.nr = t.nr)`,
		"passages without terms": `SELECT count(*) FROM source_passage p WHERE NOT EXISTS
			(SELECT 1 FROM source_posting t WHERE t.tenant = p.tenant AND t.nr = p.nr)`,
		"documents of a source that is gone": `SELECT count(*) FROM source_file f WHERE NOT EXISTS
			(SELECT 1 FROM source s WHERE s.tenant = f.tenant AND s.nr = f.place)`,
	} {
		var n int
		if err := b.room.DB.QueryRow(b.Context(), query).Scan(&n); err != nil || n != 0 {
			b.Errorf("%d %s, %v", n, what, err)
		}
	}
	rows, err := b.room.DB.Query(b.Context(), "SELECT file, text FROM source_passage ORDER BY file")
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	of := map[int64]string{}
	for rows.Next() {
		var file int64
		var text string
		if err := rows.Scan(&file, &text); err != nil {
			b.Fatal(err)
		}
		if was, known := of[file]; known && was != version(text) {
			b.Errorf("a document is half %s and half %s", was, version(text))
		}
		of[file] = version(text)
	}
	s, err := scan(b.room.DB.QueryRow(b.Context(), "SELECT "+columns+" FROM source WHERE name = 'garden'"))
	if (err != nil || s.State == wire.Revoked) && len(b.finds(ann, "soil")) > 0 {
		b.Errorf("what was revoked is found")
	}
}

// crashBind binds the folder, once what is left of an earlier binding is gone.
func crashBind(t *testing.T, r *Room, folder string) {
	s, err := scan(r.DB.QueryRow(t.Context(), "SELECT "+columns+" FROM source WHERE name = 'garden'"))
	if err == nil && s.State == wire.Revoked {
		if err := r.clear(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		err, s = fmt.Errorf("it was revoked"), nil
	}
	write := func(do func(context.Context, *db.Tx) (wire.Source, error)) {
		if err := r.DB.Write(ann, func(tx *db.Tx) error { _, err := do(ann, tx); return err }); err != nil {
			t.Fatal(err)
		}
	}
	if err != nil {
		write(func(ctx context.Context, tx *db.Tx) (wire.Source, error) {
			return r.add(ctx, tx, wire.AddIn{Name: "garden", From: wire.From{Folder: folder}})
		})
	}
	if s == nil || s.State != wire.Active {
		write(func(ctx context.Context, tx *db.Tx) (wire.Source, error) {
			return r.resume(ctx, tx, wire.NameIn{Name: "garden"})
		})
	}
}

func crashChild(t *testing.T, dsn, folder string) {
	d, err := db.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := New(d, func(context.Context, op.Caller) error { return nil }, slog.New(slog.DiscardHandler))
	if r.Reads.Machine, err = box.Find(t.Context(), box.Any); err != nil {
		t.Fatal(err)
	}
	fmt.Println("ready")
	for i := 0; ; i++ {
		crashBind(t, r, folder)
		for n := range garden {
			name := filepath.Join(folder, fmt.Sprintf("d%02d.md", n))
			word := fmt.Sprintf("turnip%sx%dx%d", os.Getenv("TANDEM_SOURCE_ROUND"), i, n)
			text := fmt.Sprintf("# One\n\n%s soil\n\n# Two\n\n%s soil\n\n# Three\n\n%s soil\n", word, word, word)
			switch (n + i) % 4 {
			case 0:
				beside := folder + ".new" // a kill leaves no empty document
				if err = os.WriteFile(beside, []byte(text), 0o600); err == nil {
					err = os.Rename(beside, name)
				}
			case 1:
				if err = os.Remove(name); os.IsNotExist(err) {
					err = nil
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := r.bring(ann, wire.NameIn{Name: "garden"}); err != nil {
			t.Fatal(err)
		}
		fmt.Println("imported")
		if i%2 == 1 {
			if err := d.Write(ann, func(tx *db.Tx) error { _, err := r.revoke(ann, tx, wire.NameIn{Name: "garden"}); return err }); err != nil {
				t.Fatal(err)
			}
			fmt.Println("revoked")
		}
	}
}
