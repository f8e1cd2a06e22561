package gitstore

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/repo"
)

// GC removes operations and views that no head reaches, and the refs that keep
// hidden commits from git's garbage collection where the index has better ones.
// Files newer than keep stay: somebody may be about to name them. Git's own
// collection is the caller's to run afterwards.
func (s *Store) GC(ctx context.Context, r *repo.Repo, keep time.Time) error {
	ops := map[string]bool{}
	views := map[string]bool{}
	err := repo.WalkOperations(ctx, s, []repo.OperationID{r.Operation.ID}, func(o *repo.Operation) (bool, error) {
		ops[o.ID.Hex()], views[o.View.Hex()] = true, true
		return true, nil
	})
	if err != nil {
		return err
	}
	if err := dropOld(filepath.Join(s.dir, "op_store", "operations"), ops, keep); err != nil {
		return err
	}
	if err := dropOld(filepath.Join(s.dir, "op_store", "views"), views, keep); err != nil {
		return err
	}
	s.operations.clear()
	s.views.clear()
	return s.renewKeepRefs(r.Index, keep)
}

// dropOld removes content-addressed files that are not wanted and not new, and
// what somebody who was killed left unfinished.
func dropOld(dir string, wanted map[string]bool, keep time.Time) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		_, named := repo.ParseViewID(e.Name()) // operations have ids of the same form
		unfinished := strings.HasPrefix(e.Name(), tempPrefix) || strings.HasPrefix(e.Name(), oldTemp)
		if !named && !unfinished || wanted[e.Name()] {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if info.ModTime().After(keep) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// renewKeepRefs makes the refs that protect commits those of the index's heads.
func (s *Store) renewKeepRefs(ix *repo.Index, keep time.Time) error {
	all := make([]repo.Pos, ix.Len())
	for i := range all {
		all[i] = repo.Pos(i)
	}
	wanted := map[string]bool{}
	for _, p := range ix.Heads(all) {
		if id := ix.ID(p); id != repo.RootCommitID {
			wanted[id.Hex()] = true
			s.keepCommit(id)
		}
	}
	if err := s.Flush(); err != nil {
		return err
	}
	refs, err := s.Refs(keepPrefix)
	if err != nil {
		return err
	}
	for name, r := range refs {
		if id := name[len(keepPrefix):]; wanted[id] && fmt.Sprintf("%x", r.ID) == id {
			continue
		}
		st, err := os.Stat(filepath.Join(s.gitDir, filepath.FromSlash(name)))
		if err == nil && st.ModTime().After(keep) {
			continue
		}
		if err := s.UpdateRef(name, r.ID, ""); err != nil {
			return err
		}
	}
	return nil
}

const keepPrefix = "refs/jj/keep/"
