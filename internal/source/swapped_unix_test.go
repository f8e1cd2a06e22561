//go:build unix

package source

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tandem/internal/source/wire"
)

func (b *bench) do(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// Whoever may write beside a bound folder puts a link in its place: nothing is read where it leads, and a person looks first.
func TestASwappedFolderIsQuarantined(t *testing.T) {
	for name, link := range map[string]string{"itself": "proj/docs", "above it": "proj"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
			b.write("proj/docs/a.md", "The owl sleeps.\n")
			b.write("else/credentials.md", "The safe opens.\n")
			b.write("else/docs/credentials.md", "The safe opens.\n")
			all := b.folder
			b.folder = filepath.Join(all, "proj", "docs")
			b.bound(ann, "birds")
			b.do(os.Rename(filepath.Join(all, link), filepath.Join(all, "aside")))
			b.do(os.Symlink(filepath.Join(all, "else"), filepath.Join(all, link)))
			b.room.Rooms = invoker(func(context.Context) (any, error) { return b.room.bring(ann, wire.NameIn{Name: "birds"}) })
			if _, err := b.room.pass(t.Context()); err != nil {
				t.Fatal(err)
			}
			b.do(os.Remove(filepath.Join(all, link)))
			b.do(os.Rename(filepath.Join(all, "aside"), filepath.Join(all, link)))
			shown, err := b.room.show(ann, wire.NameIn{Name: "birds"})
			if err != nil || shown.State != wire.Quarantined || !strings.Contains(shown.Reason, "leads somewhere else now") {
				t.Errorf("%+v, %v", shown, err)
			}
			change(b, ann, b.room.resume, wire.NameIn{Name: "birds"})
			if got := b.finds(ann, "safe"); len(got) != 0 {
				t.Errorf("what the link led to was imported: %+v", got)
			}
			if out := b.imported(ann, "birds"); out.Changed != 1 {
				t.Errorf("the folder is back: %+v", out)
			}
		})
	}
}

// What is swapped after the folder was listed is listed with a reason: no link is followed, and no pipe waited for.
func TestASwappedFileIsNotRead(t *testing.T) {
	b := newBench(t, filepath.Join(t.TempDir(), "a.db"))
	for _, path := range []string{"link.md", "deep/a.md", "pipe.md"} {
		b.write(path, "The owl sleeps.\n")
	}
	b.write("secret/a.md", "The safe opens.\n")
	owner := as("t", "ann", "secret")
	b.bound(owner, "birds")
	i := importer(b, owner)
	from, err := b.room.open(owner, resolved{From: wire.From{Folder: b.folder}})
	b.do(err)
	defer from.close()
	listed, err := from.list(owner)
	b.do(err)
	at := func(path string) string { return filepath.Join(b.folder, path) }
	b.do(os.Remove(at("link.md")))
	b.do(os.Symlink("secret/a.md", at("link.md")))
	b.do(os.Rename(at("deep"), at("aside")))
	b.do(os.Symlink("secret", at("deep")))
	b.do(os.Remove(at("pipe.md")))
	b.do(syscall.Mkfifo(at("pipe.md"), 0o600))
	for _, f := range listed.files {
		b.do(i.one(owner, from, f))
	}
	if i.out.Bad != 3 || i.out.Changed != 0 {
		t.Errorf("%+v", i.out)
	}
	shown, err := b.room.show(ann, wire.NameIn{Name: "birds"})
	b.do(err)
	if len(shown.BadFiles) != 3 || !strings.Contains(shown.BadFiles[0].Reason, "it was replaced while it was opened") {
		t.Errorf("%+v", shown.BadFiles)
	}
	if got := b.finds(ann, "safe"); len(got) != 0 {
		t.Errorf("what a link led to was imported: %+v", got)
	}
}
