package host

import (
	"context"
	"encoding/hex"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/repo"
)

// Files are those of a repository at one commit, as whoever asked may see them.
type Files struct {
	Repo, Name string // id and name of the repository
	At         string // the bookmark that was followed, or the commit that was named
	Commit     string
	served     *served
	tree       repo.MergedTree
}

// File is a file of a commit.
type File struct {
	Path string
	ID   string // of what it holds; two with one id hold the same
	Odd  string // why it holds no document, "" where it may
}

// Files are the files of a repository where a bookmark is, or at a commit by its 40 digits; "" is its only bookmark, or its main one.
func (h *Host) Files(ctx context.Context, ref, at string) (*Files, error) {
	s, err := h.find(ctx, ref)
	if err != nil {
		return nil, err
	}
	if !op.Allowed(ctx, "repo.read", repoAt(s.name)) {
		return nil, op.NoSuch("repository", ref)
	}
	head, _, _ := s.now()
	r, err := s.store.At(ctx, head)
	if err != nil {
		return nil, err
	}
	f := &Files{Repo: s.id, Name: s.name, At: at, served: s}
	if at == "" {
		if f.At, err = mainOf(r.View, s.name); err != nil {
			return nil, err
		}
	}
	id, err := s.commitAt(r, f.At)
	if err != nil {
		return nil, err
	}
	c, err := s.store.Commit(ctx, id)
	if err != nil {
		return nil, err
	}
	f.Commit, f.tree = id.Hex(), c.Tree
	return f, nil
}

// commitAt is where a bookmark is, or the commit of an id. 40 digits are a commit, whatever bookmark is called so: who may push does not
// choose what they mean.
func (s *served) commitAt(r *repo.Repo, at string) (repo.CommitID, error) {
	if id, ok := repo.ParseCommitID(at); ok {
		if r.Index.Has(id) {
			return id, nil
		}
		return "", fault.New(fault.NotFound, "repo.files", "%s has no commit %s", s.name, at).
			WithNext("name a bookmark, or a commit by its 40 digits; see: tandem repo list")
	}
	if t, ok := r.View.Bookmarks[at]; ok && !repo.IsAbsentTarget(t) {
		id, ok := t.AsResolved()
		if !ok {
			return "", fault.New(fault.Conflict, "repo.files", "the bookmark %s of %s is in conflict: it is at several commits", clip(at), s.name).
				WithNext("move it to one of them: tandem bookmark set %s -r COMMIT", clip(at))
		}
		return id, nil
	}
	return "", fault.New(fault.NotFound, "repo.files", "%s has no bookmark and no commit %q", s.name, clip(at)).
		WithNext("name a bookmark, or a commit by its 40 digits; see: tandem repo list")
}

// mainOf is the bookmark that is meant when none is named.
func mainOf(v *repo.View, name string) (string, error) {
	all := slices.Sorted(maps.Keys(v.Bookmarks))
	if len(all) == 1 {
		return all[0], nil
	}
	for _, main := range []string{"main", "master", "trunk"} {
		if slices.Contains(all, main) {
			return main, nil
		}
	}
	return "", fault.New(fault.Invalid, "repo.files", "which of the bookmarks of %s? %s", name, clip(strings.Join(all, ", "))).
		WithNext("name one of them, or a commit by its 40 digits")
}

// Walk visits the files below a folder ("" is all) in order of path. What policy keeps from the caller is not named.
func (f *Files) Walk(ctx context.Context, under string, visit func(File) error) error {
	var m repo.Matcher = repo.Everything{}
	if under != "" {
		m = repo.Prefixes{repo.Path(under)}
	}
	shown := f.served.sight(ctx)
	return repo.WalkTree(ctx, f.served.store, f.tree, m, func(p repo.Path, v repo.Merge[repo.TreeValue]) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !shown(string(p)) {
			return nil
		}
		out := File{Path: string(p)}
		switch one, ok := v.AsResolved(); {
		case !ok:
			out.Odd = "it is in conflict"
		case one.IsFile():
			out.ID = one.FileID().Hex()
		case one.Kind == repo.Symlink:
			out.Odd = "it is a link, and links are not followed"
		default:
			out.Odd = "it is another repository"
		}
		return visit(out)
	})
}

// Open gives the bytes of a file by the id that Walk told, and how many they are.
func (f *Files) Open(ctx context.Context, id string) (io.ReadCloser, int64, error) {
	raw, err := hex.DecodeString(id)
	if err != nil {
		return nil, 0, fault.New(fault.NotFound, "repo.files", "there is no file %q", clip(id))
	}
	return f.served.store.OpenFile(ctx, repo.FileID(raw))
}

// Shown is which paths of a repository the caller of ctx may see: none of one that is not served here, or not the caller's to read.
func (h *Host) Shown(ctx context.Context, ref string) func(path string) bool {
	s, err := h.find(ctx, ref)
	if err != nil || !op.Allowed(ctx, "repo.read", repoAt(s.name)) {
		return func(string) bool { return false }
	}
	return s.sight(ctx)
}

// sight is shows for many paths.
func (s *served) sight(ctx context.Context) func(path string) bool {
	root, at := s.realRoot(), repoAt(s.name)
	return func(p string) bool { return op.SeesTracked(ctx, path.Join(root, p), at) }
}

// Tip is the commit at which a bookmark of a served repository is now, "" where there is none any more: whether something moved. It is not
// known where the repository cannot be read, or the bookmark is at several. 40 digits are a commit, which does not move.
func (h *Host) Tip(ctx context.Context, ref, bookmark string) (commit string, known bool) {
	s := h.lookup(ref)
	if s == nil {
		return "", false
	}
	if _, ok := repo.ParseCommitID(bookmark); ok {
		return bookmark, true
	}
	v, _, _, err := s.view(ctx)
	if err != nil {
		return "", false
	}
	t, there := v.Bookmarks[bookmark]
	if !there || repo.IsAbsentTarget(t) {
		return "", true
	}
	id, ok := t.AsResolved()
	if !ok {
		return "", false
	}
	return id.Hex(), true
}
