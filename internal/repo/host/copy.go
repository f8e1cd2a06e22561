package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/workcopy"
)

// Copied is a served repository in a copy of the server.
type Copied struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Path    string `json:"path"`
	Content bool   `json:"content"` // it is in the copy, and not only named
}

// Copied are the served repositories, by reference.
func (h *Host) Copied() (out []Copied) {
	for _, s := range h.served {
		out = append(out, Copied{ID: s.id, Name: s.name, Path: s.root})
	}
	return out
}

// Within says whether everything of a repository lies in its folder, so that it can be
// copied from there. One that is a second workspace, or a worktree, does not.
func (h *Host) Within(id string) bool {
	s := h.lookup(id)
	return s != nil && s.store.Dir() == filepath.Join(s.root, ".jj", "repo") &&
		strings.HasPrefix(s.store.GitDir(), s.root+string(filepath.Separator))
}

// Copy gives the files of a repository while it is used: first what names its state,
// then everything that this can name, which is only ever added to. A collection that
// packs meanwhile moves files; what it moved is looked for again.
func (h *Host) Copy(ctx context.Context, id string, add func(name string, mode fs.FileMode, from io.Reader) error) error {
	s := h.lookup(id)
	if s == nil {
		return fault.New(fault.NotFound, "repo.copy", "the repository %s is not served", id)
	}
	c := &copying{ctx: ctx, root: s.root, add: add, done: map[string]bool{}}
	git, err := filepath.Rel(s.root, s.store.GitDir())
	if err != nil {
		return err
	}
	for _, first := range []string{".jj/repo/op_heads", git + "/HEAD", git + "/packed-refs", git + "/refs"} {
		if err := c.walk(filepath.FromSlash(first)); err != nil {
			return err
		}
	}
	for round := 0; round == 0 || c.moved && round < 5; round++ {
		c.moved = false
		for _, dir := range []string{".jj", git} {
			if err := c.walk(dir); err != nil {
				return err
			}
		}
	}
	if c.moved {
		return fault.New(fault.Unavailable, "repo.copy", "the repository %s is being packed all the time", s.name).
			WithNext("try again in a minute")
	}
	return nil
}

type copying struct {
	ctx   context.Context
	root  string
	add   func(name string, mode fs.FileMode, from io.Reader) error
	done  map[string]bool
	moved bool
}

func (c *copying) walk(dir string) error {
	return filepath.WalkDir(filepath.Join(c.root, dir), func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || c.ctx.Err() != nil {
			return errors.Join(err, c.ctx.Err())
		}
		name, err := filepath.Rel(c.root, path)
		if err != nil || c.done[name] || !e.Type().IsRegular() || passing(e.Name()) {
			return err
		}
		return c.file(path, name)
	})
}

// passing says whether a file is of a moment only: a lock, or one that is being written.
func passing(name string) bool {
	return strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".new") || strings.HasPrefix(name, ".tandem-") ||
		strings.HasPrefix(name, "tmp_")
}

// moves says whether a file that went may be found elsewhere: an object that was packed, a pack that became part of another, an
// operation. Indexes and the names that keep commits come and go with every push, and what they held is in others or made anew.
func moves(name string) bool {
	return strings.Contains(name, "/objects/") || strings.HasPrefix(name, ".jj/repo/op_store/")
}

func (c *copying) file(path, name string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		c.moved = c.moved || moves(filepath.ToSlash(name))
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	c.done[name] = true
	return c.add(filepath.ToSlash(name), st.Mode().Perm(), f)
}

// CheckCopy verifies a repository that was copied into a folder, and puts the files of
// its own workspace there, which no copy holds.
func CheckCopy(ctx context.Context, root string) (CheckOut, error) {
	store, err := gitstore.Open(filepath.Join(root, ".jj", "repo"))
	if err != nil {
		return CheckOut{}, err
	}
	defer store.Close()
	r, _, err := store.Head(ctx, serverIdentity(), repo.MergeOptions{OwnerWins: true})
	if err != nil {
		return CheckOut{}, err
	}
	out, err := Check(ctx, store.Dir())
	if err != nil || len(out.Problems) > 0 {
		return out, err
	}
	return out, putFiles(ctx, root, store, r)
}

func putFiles(ctx context.Context, root string, store *gitstore.Store, r *repo.Repo) error {
	name, _, err := workcopy.Where(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it has no workspace of its own
	}
	if err != nil {
		return err
	}
	id, ok := r.View.Workspaces[name]
	if !ok {
		return nil
	}
	c, err := store.Commit(ctx, id)
	if err != nil {
		return err
	}
	w, err := workcopy.Open(root, store)
	if err != nil {
		return err
	}
	locked, err := w.Lock(ctx)
	if err != nil {
		return err
	}
	if err := locked.Reset(ctx, repo.EmptyTree()); err != nil {
		locked.Discard()
		return err
	}
	if _, err := locked.CheckOut(ctx, c.Tree); err != nil {
		locked.Discard()
		return err
	}
	return locked.Finish(r.Operation.ID)
}
