package db

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Text that was forgotten was still in the file, and 138 MB of it stayed 138 MB.
func TestForgottenTextIsGone(t *testing.T) {
	for _, old := range []bool{false, true} {
		t.Run(fmt.Sprintf("of an older program %v", old), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			if old { // it began its files so
				raw, err := sql.Open("sqlite", "file:"+path)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := raw.Exec("CREATE TABLE before (n)"); err != nil {
					t.Fatal(err)
				}
				raw.Close()
			}
			d := open(t, path)
			if changed, err := d.Shrinkable(t.Context()); err != nil || changed != old {
				t.Fatalf("changed %v: %v", changed, err)
			}
			const words = "what-nobody-should-read"
			if err := d.Write(t.Context(), func(tx *Tx) error {
				for i := range 2000 {
					if _, err := tx.Exec("INSERT INTO thing (key, n, body) VALUES (?, ?, ?)", fmt.Sprint(i), i,
						[]byte(strings.Repeat(words, 1+i%400))); err != nil {
						return err
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Shrink(t.Context()); err != nil {
				t.Fatal(err)
			}
			size, found := look(t, path, words)
			if !found {
				t.Fatal("it is not in the file to begin with")
			}
			if err := d.Write(t.Context(), func(tx *Tx) error { _, err := tx.Exec("UPDATE thing SET body = NULL"); return err }); err != nil {
				t.Fatal(err)
			}
			freed, err := d.Shrink(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			after, found := look(t, path, words)
			if found {
				t.Error("the text is still there")
			}
			if after > size/4 || freed < size/2 {
				t.Errorf("the file had %d bytes and has %d; %d were given back", size, after, freed)
			}
			if n := count(t, d); n != 2000 {
				t.Errorf("%d rows of 2000", n)
			}
		})
	}
}

// look says how large a database is on disk, and whether it holds words.
func look(t *testing.T, path, words string) (size int64, found bool) {
	t.Helper()
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		size += int64(len(text))
		found = found || bytes.Contains(text, []byte(words))
	}
	return size, found
}
