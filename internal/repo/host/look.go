package host

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/db"
	"tandem/internal/identity"
	"tandem/internal/journal"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
)

// look takes in what a person did in the folder with stock jj or git.
func (h *Host) look(ctx context.Context, s *served) error {
	if same, err := s.untouched(); err != nil || same {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := h.refresh(ctx, s)
	return err
}

// takeRefs takes in what a git of ours did. A push that exported meanwhile may
// have noted refs that nobody has imported: what was noted counts for nothing.
func (h *Host) takeRefs(ctx context.Context, s *served) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteRefs("")
	_, err := h.refresh(ctx, s)
	return err
}

// untouched says whether nobody but us has written since we last did.
func (s *served) untouched() (bool, error) {
	ids, err := s.store.Heads()
	if err != nil {
		return false, err
	}
	refs, err := gitSignature(s.store.GitDir())
	if err != nil {
		return false, err
	}
	s.state.Lock()
	defer s.state.Unlock()
	return len(ids) == 1 && ids[0] == s.head && refs == s.refs, nil
}

// refresh is the repository as it is now: heads that a person's jj left are
// merged, git's refs imported, and both recorded as local-jj. The caller holds
// mu.
func (h *Host) refresh(ctx context.Context, s *served) (*repo.Repo, error) {
	before, _, _ := s.now()
	r, _, err := s.store.Head(ctx, s.who, repo.MergeOptions{OwnerWins: true})
	if err != nil {
		return nil, err
	}
	var done []string
	if r.Operation.ID != before {
		if done, err = s.since(ctx, before, r.Operation.ID); err != nil {
			return nil, err
		}
	}
	refs, err := gitSignature(s.store.GitDir())
	if err != nil {
		return nil, err
	}
	if refs != s.refs {
		imported, err := s.importGit(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("import git's refs: %w", err)
		}
		if imported != r {
			r = imported
			done = append(done, "import git refs")
		}
		s.noteRefs(refs) // as they were before: what moved meanwhile is seen next time
	}
	if r.Operation.ID == before {
		return r, nil
	}
	if err := h.recordLocal(ctx, s, r, done); err != nil {
		return nil, err
	}
	s.remember(r.Operation.ID)
	return r, nil
}

// since describes the operations between two, oldest first, the last few of
// many.
func (s *served) since(ctx context.Context, from, to repo.OperationID) ([]string, error) {
	var roots []repo.OperationID
	if from != "" && s.store.HasOperation(from) {
		roots = append(roots, from)
	}
	ops, err := repo.OperationRange(ctx, s.store, roots, []repo.OperationID{to})
	if err != nil {
		return nil, err
	}
	var out []string
	for _, o := range ops[:min(len(ops), 20)] {
		out = append(out, o.Meta.Description)
	}
	slices.Reverse(out)
	return out, nil
}

func (h *Host) recordLocal(ctx context.Context, s *served, r *repo.Repo, done []string) error {
	payload, err := json.Marshal(map[string]any{"operation": r.Operation.ID.Hex(), "done": done,
		"user": r.Operation.Meta.Username, "host": r.Operation.Meta.Hostname})
	if err != nil {
		return err
	}
	return h.DB.Write(ctx, func(tx *db.Tx) error {
		_, err := h.Journal.Append(tx, journal.Event{Tenant: identity.LocalTenant, Type: "repo.changed", Actor: "local-jj",
			Resource: repoAt(s.name).String(), Payload: payload})
		return err
	})
}

// importGit takes in git's refs; it gives r itself when nothing is new.
func (s *served) importGit(ctx context.Context, r *repo.Repo) (*repo.Repo, error) {
	unlock, err := s.store.LockGit(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	tx := r.Begin(s.who)
	if _, err := s.store.ImportRefs(ctx, tx, gitstore.ImportOptions{}); err != nil {
		return nil, err
	}
	if _, err := tx.RebaseDescendants(ctx, repo.RebaseOptions{}); err != nil {
		return nil, err
	}
	if !tx.HasChanges() {
		return r, nil
	}
	done, err := tx.Finish(ctx, "import git refs")
	if err != nil {
		return nil, err
	}
	return done, s.store.Publish(ctx, done)
}

// exportGit moves git's refs to where bookmarks and tags are; it gives r itself
// when they are there already. The caller holds mu.
func (s *served) exportGit(ctx context.Context, r *repo.Repo) (*repo.Repo, error) {
	git := r.View.Remotes[repo.GitRemote]
	if exported(r.View.Bookmarks, git.Bookmarks) && exported(r.View.Tags, git.Tags) {
		return r, nil
	}
	unlock, err := s.store.LockGit(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := s.store.Flush(); err != nil {
		return nil, err
	}
	before, err := gitSignature(s.store.GitDir())
	if err != nil {
		return nil, err
	}
	tx := r.Begin(s.who)
	if _, err := s.store.ExportRefs(ctx, tx); err != nil {
		return nil, err
	}
	if !tx.HasChanges() {
		return r, nil
	}
	done, err := tx.Finish(ctx, "export git refs")
	if err != nil {
		return nil, err
	}
	if err := s.store.Publish(ctx, done); err != nil {
		return nil, err
	}
	if before != s.refs {
		return done, nil // somebody moved a ref since the import: the next look takes it in
	}
	refs, err := gitSignature(s.store.GitDir())
	s.noteRefs(refs)
	return done, err
}

// exported says whether git has refs where they should be. Conflicted ones stay
// where they were.
func exported(local map[string]repo.RefTarget, git map[string]repo.RemoteRef) bool {
	for name, t := range local {
		if g, ok := git[name]; t.IsResolved() && (!ok || !g.Target.Equal(t)) {
			return false
		}
	}
	for name, g := range git {
		if _, ok := local[name]; !ok && !repo.IsAbsentTarget(g.Target) {
			return false
		}
	}
	return true
}

// noteRefs takes note of how git's refs look when they are known.
func (s *served) noteRefs(refs string) {
	s.state.Lock()
	defer s.state.Unlock()
	s.refs = refs
}

// gitSignature changes when a branch, tag or remote ref does. jj's own refs are
// not looked at: there are thousands.
func gitSignature(gitDir string) (string, error) {
	var b strings.Builder
	note := func(path string, info fs.FileInfo) {
		fmt.Fprintf(&b, "%s %d %d\n", path, info.ModTime().UnixNano(), info.Size())
	}
	if info, err := os.Stat(filepath.Join(gitDir, "packed-refs")); err == nil {
		note("packed", info)
	}
	for _, kind := range []string{"heads", "tags", "remotes"} {
		err := filepath.WalkDir(filepath.Join(gitDir, "refs", kind), func(path string, e fs.DirEntry, err error) error {
			if err != nil || strings.HasSuffix(path, ".lock") {
				return nil // it went while we looked; the next look sees that
			}
			if info, err := e.Info(); err == nil {
				note(path, info)
			}
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	return b.String(), nil
}
