package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/repo"
)

// ExportRefs moves git's branches and tags to where the transaction's view has
// them, and records in the view that it did. What git has moved meanwhile is
// left alone; failed says why, by full ref name. The caller holds LockGit and
// has flushed what the refs will name.
func (s *Store) ExportRefs(ctx context.Context, tx *repo.Tx) (failed map[string]string, err error) {
	v := tx.View
	wanted := map[string]repo.RefTarget{}
	failed = map[string]string{}
	want := func(sym refSymbol, t repo.RefTarget) {
		if full := sym.fullName(); full != "" {
			wanted[full] = t
		} else if sym.remote == repo.GitRemote {
			failed[sym.name] = "Name is not allowed in Git"
		}
	}
	for name, t := range v.Bookmarks {
		want(refSymbol{bookmarkRef, repo.GitRemote, name}, t)
	}
	for name, t := range v.Tags {
		want(refSymbol{tagRef, repo.GitRemote, name}, t)
	}
	for remote, rv := range v.Remotes {
		if remote == repo.GitRemote {
			continue
		}
		for name, r := range rv.Bookmarks {
			want(refSymbol{bookmarkRef, remote, name}, r.Target)
		}
	}
	for full := range v.GitRefs {
		if _, ok := wanted[full]; !ok {
			wanted[full] = repo.NoTarget()
		}
	}
	if err := s.Flush(); err != nil {
		return nil, err
	}
	// Deletions first: a branch "a" has to go before "a/b" can come.
	for _, deleting := range []bool{true, false} {
		for _, full := range slices.Sorted(maps.Keys(wanted)) {
			t := wanted[full]
			if repo.IsAbsentTarget(t) != deleting {
				continue
			}
			if why := s.exportRef(ctx, v, full, t); why != "" {
				failed[full] = why
			}
		}
	}
	recordExported(v, failed)
	return failed, nil
}

// exportRef moves one ref and says why it could not, or "".
func (s *Store) exportRef(ctx context.Context, v *repo.View, full string, t repo.RefTarget) string {
	old := v.GitRefs[full]
	if len(old) == 0 {
		old = repo.NoTarget()
	}
	if t.Equal(old) || !t.IsResolved() {
		return "" // nothing to do; a conflict stays as git has it
	}
	if !old.IsResolved() {
		return "Ref was in a conflicted state from the last import"
	}
	from, to := old[0], t[0]
	if to == repo.RootCommitID {
		return "Ref cannot point to the root commit in Git"
	}
	if err := checkRefName(full); err != nil {
		return "Name is not allowed in Git"
	}
	if err := s.detachHeads(ctx, full, to); err != nil {
		return err.Error()
	}
	if err := s.moveRef(ctx, full, from, to); err != nil {
		return err.Error()
	}
	v.SetGitRef(full, t)
	return ""
}

// moveRef moves a ref that should stand for one commit to another. A ref that
// is already where it should be is fine.
func (s *Store) moveRef(ctx context.Context, full string, from, to repo.CommitID) error {
	now, _, err := s.ReadRef(full)
	if err != nil {
		return err
	}
	at := repo.CommitID("")
	if now.ID != "" || now.Symbolic != "" {
		if at, err = s.commitOf(ctx, now); err != nil {
			return err
		}
	}
	switch {
	case at == to:
		return nil
	case at != from && to == "":
		return errors.New("Deleted ref had been modified in Git")
	case at != from && from == "":
		return errors.New("Added ref had been added with a different target in Git")
	case at != from && at == "":
		return errors.New("Modified ref had been deleted in Git")
	case at != from:
		return errors.New("Failed to set")
	}
	return s.UpdateRef(full, now.ID, string(to))
}

// detachHeads keeps a working tree whose HEAD is a branch from seeing that
// branch move under it: HEAD stays at the commit.
func (s *Store) detachHeads(ctx context.Context, full string, to repo.CommitID) error {
	heads, _ := filepath.Glob(filepath.Join(s.gitDir, "worktrees", "*", "HEAD"))
	for _, path := range append(heads, filepath.Join(s.gitDir, "HEAD")) {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		name, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "ref: ")
		if !ok || name != full {
			continue
		}
		now, _, err := s.ReadRef(full)
		if err != nil {
			return err
		}
		at := repo.CommitID("")
		if now.ID != "" {
			if at, err = s.commitOf(ctx, now); err != nil {
				return err
			}
		}
		if at == to {
			continue
		}
		if err := writeHead(path, at); err != nil {
			return err
		}
	}
	return nil
}

// unbornRef is where HEAD points when there is no commit to point at.
const unbornRef = "refs/jj/root"

// writeHead makes a HEAD file name a commit, or nothing yet.
func writeHead(path string, id repo.CommitID) error {
	text := "ref: " + unbornRef + "\n"
	if id != "" {
		text = id.Hex() + "\n"
	}
	lock, err := os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("lock HEAD: %w", err)
	}
	_, err = lock.WriteString(text)
	err = errors.Join(err, lock.Sync(), lock.Close())
	if err == nil {
		err = os.Rename(path+".lock", path)
	}
	if err != nil {
		os.Remove(path + ".lock")
	}
	return err
}

// recordExported makes the view's remote "git" what was exported.
func recordExported(v *repo.View, failed map[string]string) {
	git := v.Remotes[repo.GitRemote]
	for _, name := range unionNames(v.Bookmarks, git.Bookmarks) {
		t := v.Bookmark(name)
		if _, bad := failed["refs/heads/"+name]; bad || failed[name] != "" || !t.IsResolved() ||
			t.Equal(v.RemoteBookmark(repo.GitRemote, name).Target) {
			continue
		}
		v.SetRemoteBookmark(repo.GitRemote, name, repo.RemoteRef{Target: t, Tracked: true})
	}
	for _, name := range unionNames(v.Tags, git.Tags) {
		t := v.Tag(name)
		if _, bad := failed["refs/tags/"+name]; bad || failed[name] != "" || !t.IsResolved() ||
			t.Equal(v.RemoteTag(repo.GitRemote, name).Target) {
			continue
		}
		v.SetRemoteTag(repo.GitRemote, name, repo.RemoteRef{Target: t, Tracked: true})
	}
}

func unionNames(a map[string]repo.RefTarget, b map[string]repo.RemoteRef) []string {
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if _, ok := a[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
