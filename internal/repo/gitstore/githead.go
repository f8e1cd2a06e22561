package gitstore

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tandem/internal/repo"
)

// worktreeGitDir is the git directory of a colocated workspace: where its HEAD
// and index are. It is "" when the workspace is not colocated with this
// repository.
func (s *Store) worktreeGitDir(root string) (string, error) {
	dir, err := resolveGitDir(filepath.Join(root, ".git"))
	if err != nil {
		return "", nil
	}
	common, err := commonDir(dir)
	if err != nil {
		return "", err
	}
	a, err := os.Stat(common)
	if err != nil {
		return "", err
	}
	b, err := os.Stat(s.gitDir)
	if err != nil {
		return "", err
	}
	if !os.SameFile(a, b) {
		return "", nil
	}
	return dir, nil
}

// IsColocated says whether git and jj share a workspace's folder.
func (s *Store) IsColocated(root string) bool {
	dir, err := s.worktreeGitDir(root)
	return err == nil && dir != ""
}

// ImportHead takes into a transaction where git's HEAD is now in a colocated
// workspace, and gives the commit, or "" when there is none. It does not move
// the working copy.
func (s *Store) ImportHead(ctx context.Context, tx *repo.Tx, workspace, root string) (repo.CommitID, error) {
	dir, err := s.worktreeGitDir(root)
	if err != nil || dir == "" {
		return "", err
	}
	head, err := readLooseRef(filepath.Join(dir, "HEAD"))
	if err != nil {
		return "", fmt.Errorf("read HEAD: %w", err)
	}
	id, err := s.commitOf(ctx, head)
	if err != nil {
		return "", err
	}
	now := repo.NoTarget()
	if id != "" {
		now = repo.Target(id)
	}
	was := tx.View.GitHeads[workspace]
	if len(was) == 0 {
		was = repo.NoTarget()
	}
	if now.Equal(was) {
		return id, nil
	}
	if id != "" {
		if !tx.Index.Has(id) {
			s.keepCommit(id)
		}
		c, err := s.Commit(ctx, id)
		if err != nil {
			return "", err
		}
		if err := tx.AddHead(ctx, c); err != nil {
			return "", err
		}
	}
	tx.View.SetGitHead(workspace, now)
	return id, nil
}

// ResetHead sets git's HEAD in a colocated workspace to the first parent of
// its commit, detached, and git's index to the tree of the parents, so that
// `git diff` shows what jj shows.
func (s *Store) ResetHead(ctx context.Context, tx *repo.Tx, workspace, root string, wc *repo.Commit) error {
	dir, err := s.worktreeGitDir(root)
	if err != nil || dir == "" {
		return err
	}
	if err := s.Flush(); err != nil {
		return err
	}
	parent, target := wc.Parents[0], repo.Target(wc.Parents[0])
	if parent == repo.RootCommitID {
		parent, target = "", repo.NoTarget()
	}
	was := tx.View.GitHeads[workspace]
	if len(was) == 0 {
		was = repo.NoTarget()
	}
	if !target.Equal(was) {
		if err := writeHead(filepath.Join(dir, "HEAD"), parent); err != nil {
			return err
		}
		tx.View.SetGitHead(workspace, target)
	}
	base, err := repo.ParentTree(ctx, s, tx.Index, wc)
	if err != nil {
		return err
	}
	entries, err := s.indexEntries(ctx, base, wc.Tree)
	if err != nil {
		return err
	}
	if err := s.Flush(); err != nil {
		return err
	}
	return writeGitIndex(filepath.Join(dir, "index"), entries)
}

// gitIndexEntry is a path in git's index.
type gitIndexEntry struct {
	path  repo.Path
	value repo.TreeValue
	stage uint16 // 0, or 1 base, 2 ours, 3 theirs
	added bool   // only meant to be added
}

// indexEntries is the index for a tree, in which files that the working copy
// adds are marked as meant to be added.
func (s *Store) indexEntries(ctx context.Context, base, wc repo.MergedTree) ([]gitIndexEntry, error) {
	var out []gitIndexEntry
	add := func(p repo.Path, v repo.TreeValue, stage uint16) {
		if !v.IsAbsent() && !v.IsTree() {
			out = append(out, gitIndexEntry{path: p, value: v, stage: stage})
		}
	}
	err := repo.WalkTree(ctx, s, base, repo.Everything{}, func(p repo.Path, v repo.Merge[repo.TreeValue]) error {
		v = v.Simplify()
		if len(v) == 3 {
			add(p, v[1], 1)
			add(p, v[0], 2)
			add(p, v[2], 3)
			return nil
		}
		// Git has no place for more sides; the first stands for all.
		add(p, v[0], 0)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = repo.DiffTrees(ctx, s, base, wc, repo.Everything{}, func(p repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		v, ok := after.AsResolved()
		if repo.IsPresent(before) || !ok || !v.IsFile() && v.Kind != repo.Symlink {
			return nil
		}
		if v.Kind == repo.Symlink { // jj writes a plain file for it, too
			v.Kind = repo.File
		}
		empty, err := s.PutFile(ctx, nil) // git's fsck looks for it
		if err != nil {
			return err
		}
		v.ID = string(empty)
		out = append(out, gitIndexEntry{path: p, value: v, added: true})
		return nil
	})
	slices.SortFunc(out, func(a, b gitIndexEntry) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.stage, b.stage))
	})
	return out, err
}

// writeGitIndex writes git's index file. Times and sizes are zero: git looks
// at the files when it next wants to know.
func writeGitIndex(path string, entries []gitIndexEntry) error {
	version := uint32(2)
	for _, e := range entries {
		if e.added {
			version = 3
		}
	}
	be := binary.BigEndian
	var b bytes.Buffer
	b.WriteString("DIRC")
	b.Write(be.AppendUint32(nil, version))
	b.Write(be.AppendUint32(nil, uint32(len(entries))))
	for _, e := range entries {
		start := b.Len()
		mode := map[repo.Kind]uint32{repo.File: 0o100644, repo.Executable: 0o100755, repo.Symlink: 0o120000,
			repo.Submodule: 0o160000}[e.value.Kind]
		head := make([]byte, 24, 64) // times, device and inode
		head = be.AppendUint32(head, mode)
		head = append(head, make([]byte, 12)...) // owner and size
		head = append(head, e.value.ID...)
		flags := uint16(min(len(e.path), 0xfff)) | e.stage<<12
		if e.added {
			head = be.AppendUint16(head, flags|0x4000)
			head = be.AppendUint16(head, 0x2000)
		} else {
			head = be.AppendUint16(head, flags)
		}
		b.Write(head)
		b.WriteString(string(e.path))
		b.Write(make([]byte, 8-(b.Len()-start)%8))
	}
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	lock, err := os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("lock git's index: %w", err)
	}
	defer os.Remove(path + ".lock")
	defer lock.Close()
	if _, err := lock.Write(b.Bytes()); err != nil {
		return err
	}
	if err := lock.Close(); err != nil {
		return err
	}
	return os.Rename(path+".lock", path)
}
