package source

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/source/boxed"
	"tandem/internal/source/wire"
	"tandem/internal/testenv"
	"tandem/internal/tool/box"
	"tandem/internal/tool/confine"
)

// Documents are read by this very program.
func TestMain(m *testing.M) {
	switch {
	case confine.Called(os.Args):
		os.Exit(confine.Main(os.Args, os.Stderr))
	case boxed.Called(os.Args):
		os.Exit(boxed.Main(context.Background(), os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// bench is a room on a database of its own, with a folder.
type bench struct {
	*testing.T
	room   *Room
	folder string
}

func both(t *testing.T, test func(*bench)) {
	for name, dsn := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "a.db") },
		"postgres": func(t *testing.T) string { return testenv.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) { test(newBench(t, dsn(t))) })
	}
}

func newBench(t *testing.T, dsn string) *bench {
	d, err := db.Open(t.Context(), dsn, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	if _, err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	r := New(d, func(context.Context, op.Caller) error { return nil }, slog.New(slog.DiscardHandler))
	if r.Reads.Machine, err = box.Find(t.Context(), box.Any); err != nil {
		t.Fatal(err)
	}
	if !r.Reads.Machine.Works() {
		t.Skip("no sandbox here: " + r.Reads.Machine.Why)
	}
	t.Cleanup(r.Reads.Close)
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t, r, folder}
}

func (b *bench) write(path, text string) {
	b.Helper()
	full := filepath.Join(b.folder, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

// as is somebody of a tenant who may everything but sources of some names and files whose path holds some word.
func as(tenant, name string, denied ...string) context.Context {
	no := func(path string) bool {
		return slices.ContainsFunc(denied, func(d string) bool { return strings.Contains(path, d) })
	}
	ctx := op.WithCaller(context.Background(), op.Caller{Tenant: tenant, Actor: "act_" + name, Name: name, Kind: op.Person,
		Door: op.DoorInside})
	ctx = op.WithMay(ctx, func(_ string, r op.Resource) bool { return !no(r.Path) })
	ctx = op.WithAllowed(ctx, func(_ string, r op.Resource) bool { return !no(r.Path) })
	return op.WithSight(ctx, op.Sight{File: func(path string) bool { return !no(path) }})
}

var ann = as("t", "ann")

func change[In any](b *bench, ctx context.Context, do func(context.Context, *db.Tx, In) (wire.Source, error), in In) (out wire.Source) {
	b.Helper()
	if err := b.room.DB.Write(ctx, func(tx *db.Tx) (err error) { out, err = do(ctx, tx, in); return err }); err != nil {
		b.Fatal(err)
	}
	return out
}

// bound is a source that may be imported.
func (b *bench) bound(ctx context.Context, name string) {
	b.Helper()
	change(b, ctx, b.room.add, wire.AddIn{Name: name, From: wire.From{Folder: b.folder}})
	change(b, ctx, b.room.resume, wire.NameIn{Name: name})
}

func (b *bench) imported(ctx context.Context, name string) wire.ImportOut {
	b.Helper()
	out, err := b.room.bring(ctx, wire.NameIn{Name: name})
	if err != nil {
		b.Fatal(err)
	}
	return out
}

func (b *bench) finds(ctx context.Context, query string) []wire.Passage {
	b.Helper()
	out, err := b.room.search(ctx, wire.SearchIn{Query: query})
	if err != nil {
		b.Fatal(err)
	}
	return out.Passages
}

func TestAFolderIsImportedAndFollowed(t *testing.T) {
	both(t, func(b *bench) {
		b.write("guide.md", "# Setup\n\nInstall the turnip.\n\n## Linux\n\nRun apt.\n")
		b.write("src/a.go", "package a\n\n// Peel peels a turnip.\nfunc Peel() {}\n")
		b.write("bad.csv", "a\x00b")
		b.write(".git/config", "turnip")
		b.write("id_rsa", "turnip")
		change(b, ann, b.room.add, wire.AddIn{Name: "garden", From: wire.From{Folder: b.folder}})
		if _, err := b.room.bring(ann, wire.NameIn{Name: "garden"}); !fault.Is(err, fault.NotFound) {
			b.Fatalf("before anybody resumed it: %v", err)
		}
		change(b, ann, b.room.resume, wire.NameIn{Name: "garden"})
		if out := b.imported(ann, "garden"); out.Files != 3 || out.Changed != 2 || out.Bad != 1 {
			b.Fatalf("%+v", out)
		}
		got := b.finds(ann, "turnip")
		var where []string
		for _, p := range got {
			where = append(where, p.Source+"/"+p.File+" "+p.Place)
		}
		slices.Sort(where)
		if want := []string{"garden/guide.md Setup, line 1", "garden/src/a.go Peel, lines 3-5"}; !slices.Equal(where, want) {
			b.Fatalf("found %q", where)
		}
		if out := b.imported(ann, "garden"); out.Changed != 0 || out.Bad != 0 {
			b.Fatalf("nothing changed: %+v", out)
		}
		b.write("guide.md", "# Setup\n\nInstall the radish.\n")
		if err := os.Remove(filepath.Join(b.folder, "src/a.go")); err != nil {
			b.Fatal(err)
		}
		if out := b.imported(ann, "garden"); out.Changed != 1 || out.Gone != 1 {
			b.Fatalf("one changed, one is gone: %+v", out)
		}
		if len(b.finds(ann, "turnip")) != 0 || len(b.finds(ann, "radish")) != 1 {
			b.Fatal("what was there before is still found")
		}
		change(b, ann, b.room.revoke, wire.NameIn{Name: "garden"})
		if len(b.finds(ann, "radish")) != 0 {
			b.Fatal("what was revoked is found")
		}
		if _, err := b.room.clearAll(ann); err != nil {
			b.Fatal(err)
		}
		for _, table := range []string{"source", "source_file", "source_passage", "source_posting", "source_words"} {
			var n int
			if err := b.room.DB.QueryRow(ann, "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != 0 {
				b.Errorf("%s has %d rows of what was revoked, %v", table, n, err)
			}
		}
	})
}

// What policy keeps from the owner is never imported, and what it keeps from who asks is not found and moves nothing.
func TestWhatIsDeniedOfAFolder(t *testing.T) {
	both(t, func(b *bench) {
		b.write("a.md", "The owl sleeps.\n")
		b.write("b.md", "The owl and the owl hunt in the wood at night.\n")
		owner := as("t", "ann", "secret")
		b.write("secret/c.md", "The owl owns a safe.\n")
		b.bound(owner, "birds")
		b.imported(owner, "birds")
		if got := b.finds(ann, "safe"); len(got) != 0 {
			b.Fatalf("it was imported: %+v", got)
		}
		alone := b.finds(ann, "owl")
		for i := range 30 {
			b.write(fmt.Sprintf("private/%d.md", i), "An owl, an owl, an owl sleeps.\n")
		}
		change(b, owner, b.room.sync, wire.NameIn{Name: "birds"})
		b.imported(owner, "birds")
		bob := as("t", "bob", "private")
		got := b.finds(bob, "owl")
		if len(got) != 2 {
			b.Fatalf("bob finds %+v", got)
		}
		for i := range got {
			if got[i].Score != alone[i].Score || got[i].File != alone[i].File {
				b.Errorf("what bob may not read moved %+v, which was %+v", got[i], alone[i])
			}
		}
		if n := len(b.finds(as("t", "eve", "/birds"), "owl")); n != 0 {
			b.Errorf("who may not read the source finds %d passages", n)
		}
		if n := len(b.finds(as("u", "ann"), "owl")); n != 0 {
			b.Errorf("another tenant finds %d passages", n)
		}
	})
}

// An import that is cut off after any file goes on there: nothing is half, and nothing twice.
func TestAnImportThatIsCutOffGoesOn(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	const files = 6
	for i := range files {
		b.write(fmt.Sprintf("%d.md", i), "One fox.\n")
	}
	b.bound(ann, "foxes")
	for n := range files - 1 {
		ctx, cut := context.WithCancel(ann)
		seen := 0
		_, err := b.room.bring(op.WithSight(ctx, op.Sight{File: func(path string) bool {
			if seen++; seen > n+1 { // while the folder is listed
				cut()
			}
			return true
		}}), wire.NameIn{Name: "foxes"})
		if err == nil {
			t.Fatalf("cut off after %d, it ended well", n)
		}
	}
	for n := range files {
		ctx, cut := context.WithCancel(ann)
		i := importer(b, ctx)
		from, err := b.room.open(ctx, resolved{From: wire.From{Folder: b.folder}})
		if err != nil {
			t.Fatal(err)
		}
		listed, err := from.list(ann)
		if err != nil {
			t.Fatal(err)
		}
		if err := i.one(ctx, from, listed.files[n]); err != nil {
			t.Fatal(err)
		}
		from.close()
		cut()
		if got := len(b.finds(ann, "fox")); got != n+1 {
			t.Fatalf("after %d files %d are found", n+1, got)
		}
	}
	if out := b.imported(ann, "foxes"); out.Files != files || out.Changed != 0 {
		t.Fatalf("what was read before is read again: %+v", out)
	}
	if got := len(b.finds(ann, "fox")); got != files {
		t.Fatalf("%d are found", got)
	}
}

// importer is an import that knows what is stored.
func importer(b *bench, ctx context.Context) *importing {
	b.Helper()
	src, err := scan(b.room.DB.QueryRow(ctx, "SELECT "+columns+" FROM source WHERE tenant = 't'"))
	if err != nil {
		b.Fatal(err)
	}
	return &importing{Room: b.room, src: src, known: map[string]file{}}
}

// A folder that lost most of its files at once is looked at by a person first.
func TestMostFilesGoneIsForAPerson(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	for i := range 20 {
		b.write(fmt.Sprintf("%d.md", i), "One fox.\n")
	}
	b.bound(ann, "foxes")
	b.imported(ann, "foxes")
	for i := range 15 {
		if err := os.Remove(filepath.Join(b.folder, fmt.Sprintf("%d.md", i))); err != nil {
			t.Fatal(err)
		}
	}
	b.room.Rooms = invoker(func(ctx context.Context) (any, error) { return b.room.bring(ann, wire.NameIn{Name: "foxes"}) })
	change(b, ann, b.room.sync, wire.NameIn{Name: "foxes"})
	if _, err := b.room.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown, err := b.room.show(ann, wire.NameIn{Name: "foxes"})
	if err != nil || shown.State != wire.Quarantined || !strings.Contains(shown.Reason, "15 of 20 files are gone at once") {
		t.Fatalf("%+v, %v", shown, err)
	}
	if n := len(b.finds(ann, "fox")); n != 0 {
		t.Fatalf("in quarantine %d are found", n)
	}
	change(b, ann, b.room.resume, wire.NameIn{Name: "foxes"})
	if _, err := b.room.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(b.finds(ann, "fox")); n != 5 {
		t.Fatalf("a person let it go on: %d are found", n)
	}
}

type invoker func(context.Context) (any, error)

func (i invoker) Invoke(ctx context.Context, _ string, _ any) (any, error) { return i(ctx) }

func TestCut(t *testing.T) {
	long := strings.Repeat("word ", 300) + "\n\n" + strings.Repeat("ü", 3000)
	got := cut(long)
	if len(got) < 3 || strings.TrimSpace(strings.Repeat("word ", 300)) != got[0] {
		t.Errorf("it is cut into %d, the first %.40q", len(got), got[0])
	}
	for _, p := range got {
		if len(p) > most || !strings.Contains(long, p) {
			t.Errorf("a passage of %d bytes", len(p))
		}
	}
}

// Who bound a folder and was disabled does not go on reading it, and nobody but the server asks for an import.
func TestASourceEndsWithItsOwner(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	b.write("a.md", "One fox.\n")
	b.bound(ann, "foxes")
	c := op.CallerFrom(ann)
	c.Door = op.DoorSocket
	if _, err := b.room.bring(op.WithCaller(ann, c), wire.NameIn{Name: "foxes"}); !fault.Is(err, fault.Denied) {
		t.Errorf("a person at the socket: %v", err)
	}
	b.room.Rooms = invoker(func(ctx context.Context) (any, error) { return b.room.bring(ann, wire.NameIn{Name: "foxes"}) })
	b.room.still = func(_ context.Context, c op.Caller) error {
		return fault.New(fault.Unauthenticated, "identity", "what let %s in has ended", c.Name)
	}
	if _, err := b.room.pass(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown, err := b.room.show(ann, wire.NameIn{Name: "foxes"})
	if err != nil || shown.State != wire.Quarantined || shown.Files != 0 || shown.Reason != "ann, who bound it, is not let in any more" {
		t.Fatalf("%+v, %v", shown, err)
	}
}
