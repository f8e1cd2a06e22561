package workcopy

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/stocktest"
	"tandem/internal/testenv"
)

// both is one repository twice: stock jj works in one, ours in the other.
type both struct {
	t            *testing.T
	jj           *stocktest.JJ
	theirs, ours string
	store        *gitstore.Store
}

func newBoth(t *testing.T, jj *stocktest.JJ, dir string) *both {
	b := &both{t: t, jj: jj, theirs: stocktest.CopyDir(t, dir), ours: stocktest.CopyDir(t, dir)}
	s, err := gitstore.Open(filepath.Join(b.ours, ".jj", "repo"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	b.store = s
	return b
}

// each does the same to both folders.
func (b *both) each(f func(dir string)) { f(b.theirs); f(b.ours) }

func (b *both) head(ctx context.Context) *repo.Repo {
	b.t.Helper()
	heads, err := b.store.Heads()
	if err != nil || len(heads) != 1 {
		b.t.Fatalf("heads %v, %v", heads, err)
	}
	r, err := b.store.At(ctx, heads[0])
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// snapshot records the files of our folder as stock jj's `status` does.
func (b *both) snapshot(ctx context.Context, who *repo.Identity) {
	b.t.Helper()
	r := b.head(ctx)
	w, err := Open(b.ours, b.store)
	if err != nil {
		b.t.Fatal(err)
	}
	l, err := w.Lock(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	tree, _, err := l.Snapshot(ctx, SnapshotOptions{MaxNewFileSize: 1 << 20})
	if err != nil {
		b.t.Fatal(err)
	}
	wc, err := r.Workspace(ctx, "default")
	if err != nil {
		b.t.Fatal(err)
	}
	op := r.Operation.ID
	if !tree.Equal(wc.Tree) {
		tx := r.Begin(who)
		tx.SetSnapshot()
		tx.SetWorkspace("default")
		tx.SetAttribute("args", "jj status")
		d, err := tx.Rewrite(ctx, wc)
		if err != nil {
			b.t.Fatal(err)
		}
		d.Tree = tree
		if _, err := tx.Write(ctx, d); err != nil {
			b.t.Fatal(err)
		}
		b.publish(ctx, tx, "snapshot working copy")
		op = b.head(ctx).Operation.ID
	}
	if err := l.Finish(op); err != nil {
		b.t.Fatal(err)
	}
}

func (b *both) publish(ctx context.Context, tx *repo.Tx, description string) {
	b.t.Helper()
	if _, err := tx.RebaseDescendants(ctx, repo.RebaseOptions{}); err != nil {
		b.t.Fatal(err)
	}
	r, err := tx.Finish(ctx, description)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.store.Publish(ctx, r); err != nil {
		b.t.Fatal(err)
	}
}

// edit moves our working copy to a commit as stock jj's `edit` does.
func (b *both) edit(ctx context.Context, who *repo.Identity, id repo.CommitID) {
	b.t.Helper()
	r := b.head(ctx)
	c, err := b.store.Commit(ctx, id)
	if err != nil {
		b.t.Fatal(err)
	}
	tx := r.Begin(who)
	tx.SetWorkspace("default")
	tx.SetAttribute("args", "jj edit "+id.Hex())
	if err := tx.Edit(ctx, "default", c); err != nil {
		b.t.Fatal(err)
	}
	b.publish(ctx, tx, "edit commit "+id.Hex())
	w, err := Open(b.ours, b.store)
	if err != nil {
		b.t.Fatal(err)
	}
	l, err := w.Lock(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := l.CheckOut(ctx, c.Tree); err != nil {
		b.t.Fatal(err)
	}
	if err := l.Finish(b.head(ctx).Operation.ID); err != nil {
		b.t.Fatal(err)
	}
}

// equal compares heads and files.
func (b *both) equal(ctx context.Context, what string) {
	b.t.Helper()
	s, err := gitstore.Open(filepath.Join(b.theirs, ".jj", "repo"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer s.Close()
	heads, err := s.Heads()
	if err != nil {
		b.t.Fatal(err)
	}
	if got := b.head(ctx).Operation; got.ID != heads[0] {
		their, _ := s.Operation(ctx, heads[0])
		b.t.Fatalf("%s: our operation is %s, theirs %s\n%+v\n%+v\n%s\n%s", what, got.ID.Hex()[:12], heads[0].Hex()[:12], got, their,
			files(b.t, b.ours), files(b.t, b.theirs))
	}
	if a, c := files(b.t, b.ours), files(b.t, b.theirs); a != c {
		b.t.Fatalf("%s: our files\n%s\ntheirs\n%s", what, a, c)
	}
}

// files lists a folder's files with mode and content.
func files(t *testing.T, dir string) string {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".jj" || d.Name() == ".git" {
			return filepath.SkipDir
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s", rel, info.Mode())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", data)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			target, _ := os.Readlink(path)
			fmt.Fprintf(&b, " -> %s", target)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// meddle changes files at random, both folders alike.
func (b *both) meddle(r *rand.Rand) {
	for range 1 + r.IntN(4) {
		name := []string{"f0", "f1", "f2", "d/g0", "d/g1", "d", "new", "d/deep/er", "\xff\xfe"}[r.IntN(9)]
		text, kind := stocktest.Text(r), r.IntN(9)
		b.each(func(dir string) {
			path := filepath.Join(dir, name)
			switch kind {
			case 0, 1:
				os.RemoveAll(path)
			case 2:
				os.RemoveAll(path)
				if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
					os.Symlink(strings.TrimSpace(text[:1]), path)
				}
			case 3:
				os.Chmod(path, 0o755)
			case 4:
				if data, err := os.ReadFile(path); err == nil { // settle half of a conflict, perhaps
					os.WriteFile(path, []byte(strings.Replace(string(data), "+++++++", "", 1)), 0o644)
				}
			case 5:
				os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("new\nd/g1\n"), 0o644)
			default:
				if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
					os.WriteFile(path, []byte(text), 0o644)
				}
			}
		})
	}
}

// Snapshots and checkouts make the operations, commits and files that stock jj
// makes, and stock jj goes on in our working copy.
func TestWorkingCopyIsJJs(t *testing.T) {
	r := testenv.Random(t)
	conflicted := 0
	for range testenv.Rounds(40) {
		jj := stocktest.New(t)
		dir := jj.Wander(r)
		for range 4 {
			jj.Stray(r, dir)
		}
		jj.Run(dir, "workspace", "update-stale")
		b := newBoth(t, jj, dir)
		for range 5 {
			b.meddle(r)
			n := jj.N
			jj.Run(b.theirs, "status")
			jj.N = n
			b.snapshot(t.Context(), jj.Identity())
			b.equal(t.Context(), "snapshot")

			ids := strings.Fields(jj.Run(b.theirs, "--ignore-working-copy", "log", "--no-graph", "-r", "all() ~ root()", "-T", `commit_id ++ "\n"`))
			id, _ := repo.ParseCommitID(ids[r.IntN(len(ids))])
			if b.head(t.Context()).View.Workspaces["default"] == id {
				continue
			}
			c, err := b.store.Commit(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			if c.Tree.HasConflict() {
				conflicted++
			}
			n = jj.N
			jj.Run(b.theirs, "edit", id.Hex())
			jj.N = n
			b.edit(t.Context(), jj.Identity(), id)
			b.equal(t.Context(), "edit")
		}
		// Stock jj finds in our working copy exactly what it finds in its own: nothing, or the file it could not write
		// because something untracked was in its place.
		n := jj.N
		jj.Run(b.theirs, "status")
		jj.N = n
		jj.Run(b.ours, "status")
		b.equal(t.Context(), "status by stock jj")
		jj.Run(b.ours, "debug", "reindex", "--ignore-working-copy")
		jj.Git(b.store.GitDir(), "fsck", "--strict", "--no-dangling")
	}
	t.Logf("%d conflicted commits checked out", conflicted)
}
