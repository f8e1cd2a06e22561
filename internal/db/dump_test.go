package db

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"tandem/internal/fault"
	"tandem/internal/testenv"
)

var copied = Migrations{"copied", fstest.MapFS{"schema/0001_copied.sql": {Data: []byte(
	"CREATE TABLE copied (key TEXT PRIMARY KEY, n BIGINT NOT NULL, body BLOB, note TEXT);\n\nCREATE TABLE copied_more (seq INTEGER PRIMARY " +
		"KEY, x BIGINT NOT NULL);\n")}}}

func openCopied(t *testing.T, dsn string, rooms ...Migrations) *DB {
	t.Helper()
	d, err := Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), rooms...); err != nil {
		t.Fatal(err)
	}
	return d
}

func fillCopied(t *testing.T, d *DB, n int) {
	t.Helper()
	err := d.Write(t.Context(), func(tx *Tx) error {
		for i := range n {
			if _, err := tx.Exec("INSERT INTO copied (key, n, body, note) VALUES (?, ?, ?, ?)", fmt.Sprintf("k%d\n\"é\u2028", i),
				int64(-1)<<62+int64(i), []byte{0, 255, byte(i)}, nil); err != nil {
				return err
			}
			if _, err := tx.Exec("INSERT INTO copied_more (seq, x) VALUES (?, ?)", int64(1)<<40+int64(i), i); err != nil {
				return err
			}
		}
		_, err := tx.Exec("INSERT INTO copied (key, n, body, note) VALUES ('empty', 0, ?, '')", []byte{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func dumpOf(t *testing.T, d *DB) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := d.Dump(t.Context(), &out, copied); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func rowsOf(dump string) []string {
	var rows []string
	for l := range strings.Lines(dump) {
		if l[0] == '[' {
			rows = append(rows, l)
		}
	}
	slices.Sort(rows)
	return rows
}

// A copy goes from either database to either, and back, without a difference.
func TestCopiesTravelBetweenDatabases(t *testing.T) {
	dsns := map[string]func() string{
		"sqlite":   func() string { return filepath.Join(t.TempDir(), "a.db") },
		"postgres": func() string { return testenv.Postgres(t) },
	}
	for from, a := range dsns {
		for to, b := range dsns {
			t.Run(from+" to "+to, func(t *testing.T) {
				source, target := openCopied(t, a(), copied), openCopied(t, b(), copied)
				fillCopied(t, source, 50)
				fillCopied(t, target, 3) // what was there before is gone after
				dump := dumpOf(t, source)
				if n, err := CheckDump(strings.NewReader(dump), copied); err != nil || n != 101 {
					t.Fatalf("check: %d rows, %v", n, err)
				}
				n, err := target.Load(t.Context(), strings.NewReader(dump), copied)
				if err != nil || n != 101 {
					t.Fatalf("load: %d rows, %v", n, err)
				}
				if !slices.Equal(rowsOf(dumpOf(t, target)), rowsOf(dump)) {
					t.Error("the rows differ")
				}
			})
		}
	}
}

// A damaged copy is refused, and nothing is changed.
func TestDamagedCopiesChangeNothing(t *testing.T) {
	source := openCopied(t, filepath.Join(t.TempDir(), "a.db"), copied)
	fillCopied(t, source, 20)
	dump := dumpOf(t, source)
	newer := strings.Replace(dump, `"copied":1`, `"copied":2`, 1)
	stranger := strings.Replace(dump, `"copied":1`, `"copied":1,"other":1`, 1)
	bad := map[string]string{
		"empty": "", "cut": dump[:len(dump)/2], "cut at a line": dump[:strings.LastIndex(strings.TrimSpace(dump), "\n")+1],
		"changed": strings.Replace(dump, "k7", "k8", 1), "row gone": strings.Replace(dump, rowsOf(dump)[5], "", 1), "newer": newer,
		"another room":  stranger,
		"below nothing": strings.Replace(dump, `"copied":1`, `"copied":-1`, 1),
		"another table": strings.ReplaceAll(dump, "copied_more", "sqlite_master"),
		"injection":     strings.Replace(dump, `"columns":["key"`, `"columns":["key) --"`, 1), "garbage": "hello\n",
	}
	for _, dsn := range []string{filepath.Join(t.TempDir(), "b.db"), testenv.Postgres(t)} {
		target := openCopied(t, dsn, copied)
		fillCopied(t, target, 3)
		before := rowsOf(dumpOf(t, target))
		for name, text := range bad {
			if _, err := CheckDump(strings.NewReader(text), copied); err == nil {
				t.Errorf("%s: the check finds nothing", name)
			}
			_, err := target.Load(t.Context(), strings.NewReader(text), copied)
			if k := fault.KindOf(err); k != fault.Invalid && k != fault.Unavailable && name != "changed" {
				t.Errorf("%s on %s: %v", name, target.Name(), err)
			}
			if err == nil || !slices.Equal(rowsOf(dumpOf(t, target)), before) {
				t.Fatalf("%s on %s changed something (%v)", name, target.Name(), err)
			}
		}
	}
}

// An older copy is brought up to date.
func TestOlderCopiesAreMigrated(t *testing.T) {
	newer := Migrations{"copied", fstest.MapFS{}}
	for name, f := range copied.FS.(fstest.MapFS) {
		newer.FS.(fstest.MapFS)[name] = f
	}
	newer.FS.(fstest.MapFS)["schema/0002_more.sql"] = &fstest.MapFile{Data: []byte("ALTER TABLE copied ADD COLUMN extra " +
		"BIGINT NOT NULL DEFAULT 7;\n")}
	source := openCopied(t, filepath.Join(t.TempDir(), "a.db"), copied)
	fillCopied(t, source, 2)
	for _, dsn := range []string{filepath.Join(t.TempDir(), "b.db"), testenv.Postgres(t)} {
		target := openCopied(t, dsn, newer)
		if _, err := target.Load(t.Context(), strings.NewReader(dumpOf(t, source)), newer); err != nil {
			t.Fatal(err)
		}
		var n int
		if err := target.QueryRow(t.Context(), "SELECT sum(extra) FROM copied").Scan(&n); err != nil || n != 21 {
			t.Errorf("%s: %d, %v", target.Name(), n, err)
		}
	}
}

// A copy made while others write is one moment, not a smear.
func TestCopiesOfALiveDatabaseAreConsistent(t *testing.T) {
	exam(t, func(t *testing.T, d *DB) {
		if _, err := d.Migrate(t.Context(), copied); err != nil {
			t.Fatal(err)
		}
		stop, done := make(chan struct{}), make(chan error, 1)
		go func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				err := d.Write(t.Context(), func(tx *Tx) error { // both tables or none
					if _, err := tx.Exec("INSERT INTO copied (key, n) VALUES (?, ?)", fmt.Sprint(i), i); err != nil {
						return err
					}
					_, err := tx.Exec("INSERT INTO copied_more (seq, x) VALUES (?, ?)", i, i)
					return err
				})
				if err != nil {
					done <- err
					return
				}
			}
		}()
		for range 20 {
			r, w := io.Pipe()
			go func() { _, err := d.Dump(t.Context(), w, copied); w.CloseWithError(err) }()
			text, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(rowsOf(string(text))); n%2 != 0 {
				t.Fatalf("%d rows: a change is half in the copy", n)
			}
		}
		close(stop)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

// A copy from before a migration that moved rows to another table and dropped
// the old one is brought up to date, and the next copy has the new table alone.
func TestACopyFromBeforeATableWasDropped(t *testing.T) {
	room := func(steps ...string) Migrations {
		files := fstest.MapFS{}
		for i, text := range steps {
			files[fmt.Sprintf("schema/%04d_moved.sql", i+1)] = &fstest.MapFile{Data: []byte(text)}
		}
		return Migrations{"moved", files}
	}
	const first, second = "CREATE TABLE old_things (key TEXT PRIMARY KEY);\n",
		"CREATE TABLE new_things (key TEXT PRIMARY KEY);\nINSERT INTO new_things SELECT key FROM old_things;\nDROP TABLE old_things;\n"
	old := openCopied(t, filepath.Join(t.TempDir(), "old.db"), room(first))
	if err := old.Write(t.Context(), func(tx *Tx) error {
		_, err := tx.Exec("INSERT INTO old_things VALUES ('kept')")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var dump bytes.Buffer
	if _, err := old.Dump(t.Context(), &dump, room(first)); err != nil {
		t.Fatal(err)
	}
	both := room(first, second)
	if n, err := CheckDump(bytes.NewReader(dump.Bytes()), both); err != nil || n != 1 {
		t.Fatalf("%d, %v", n, err)
	}
	d := openCopied(t, filepath.Join(t.TempDir(), "new.db"), both)
	for range 2 { // the second time from its own copy
		if n, err := d.Load(t.Context(), &dump, both); err != nil || n != 1 {
			t.Fatalf("%d, %v", n, err)
		}
		var key string
		if err := d.QueryRow(t.Context(), "SELECT key FROM new_things").Scan(&key); err != nil || key != "kept" {
			t.Fatalf("%q, %v", key, err)
		}
		dump.Reset()
		if _, err := d.Dump(t.Context(), &dump, both); err != nil || strings.Contains(dump.String(), "old_things") {
			t.Fatalf("%v: %s", err, dump.String())
		}
	}
}

// A migration that makes a table anew under its old name leaves that name, and no other.
func TestRenamedTablesAreKnownByTheirLastName(t *testing.T) {
	room := Migrations{"r", fstest.MapFS{
		"schema/0001_a.sql": {Data: []byte("CREATE TABLE a (x BIGINT);\nCREATE TABLE b (x BIGINT);\n")},
		"schema/0002_b.sql": {Data: []byte("CREATE TABLE a_new (x BIGINT);\nDROP TABLE a;\nALTER TABLE a_new RENAME TO a;\n" +
			"ALTER TABLE b ADD COLUMN y BIGINT;\n")}}}
	if got, err := tables([]Migrations{room}, nil); err != nil || !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("the tables are %v, %v", got, err)
	}
}

// A copy under load left a WAL of 69 MB beside the database, which nobody gave back.
func TestTheWALIsGivenBackAfterACopy(t *testing.T) {
	d := openCopied(t, filepath.Join(t.TempDir(), "a.db"), copied)
	turn := byte(0)
	put := func(n int) {
		t.Helper()
		turn++
		for i := range n {
			err := d.Write(t.Context(), func(tx *Tx) error {
				_, err := tx.Exec("INSERT INTO copied (key, n, body) VALUES (?, 1, ?) ON CONFLICT (key) DO UPDATE SET body = excluded.body",
					fmt.Sprint(i), bytes.Repeat([]byte{turn}, 1<<20))
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	put(1)
	var most int64
	begun := sync.OnceFunc(func() { // the copy holds its state from here on
		put(60)
		var err error
		if most, err = d.Waiting(); err != nil {
			t.Error(err)
		}
	})
	if _, err := d.Dump(t.Context(), writing(begun), copied); err != nil {
		t.Fatal(err)
	}
	put(20) // the next writes find nobody who reads
	after, err := d.Waiting()
	if err != nil || most < 60<<20 || after > 33<<20 {
		t.Errorf("%d MB during the copy, %d MB after it, %v", most>>20, after>>20, err)
	}
}

// writing is called with every write.
type writing func()

func (f writing) Write(p []byte) (int, error) { f(); return len(p), nil }
