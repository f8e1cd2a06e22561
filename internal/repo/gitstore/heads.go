package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tandem/internal/repo"
)

func (s *Store) headsDir() string { return headsDir(s.dir) }

func headsDir(dir string) string { return filepath.Join(dir, "op_heads", "heads") }

// Heads lists the operations that no other follows, in order of id. More than
// one means that writers raced, and the next reader merges.
func (s *Store) Heads() ([]repo.OperationID, error) { return HeadsAt(s.dir) }

// HeadsAt lists the heads of the repository whose directory is dir, without
// opening it.
func HeadsAt(dir string) ([]repo.OperationID, error) {
	names, err := os.ReadDir(headsDir(dir))
	if err != nil {
		return nil, fmt.Errorf("read operation heads: %w", err)
	}
	var heads []repo.OperationID
	for _, n := range names {
		if id, ok := repo.ParseOperationID(n.Name()); ok {
			heads = append(heads, id)
		}
	}
	if len(heads) == 0 {
		return nil, fmt.Errorf("Corrupt repository: no head operation")
	}
	slices.Sort(heads)
	return heads, nil
}

// LockHeads takes jj's lock on the heads, which keeps two readers from merging
// the same ones. The heads are consistent without it.
func (s *Store) LockHeads(ctx context.Context) (unlock func(), err error) {
	l, err := lockFile(ctx, filepath.Join(s.headsDir(), "lock"))
	if err != nil {
		return nil, err
	}
	return l.unlock, nil
}

// PublishHead makes a stored operation a head in place of others, which must
// be its ancestors. One of them gives its file to the new name, in one step, so
// that at no moment a head is missing and no file is made only to be removed;
// the rest go afterwards.
func (s *Store) PublishHead(id repo.OperationID, replaces ...repo.OperationID) error {
	dir := s.headsDir()
	name := filepath.Join(dir, id.Hex())
	renamed := false
	for _, old := range replaces {
		if old != id && os.Rename(filepath.Join(dir, old.Hex()), name) == nil {
			renamed = true
			break
		}
	}
	if !renamed {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			return fmt.Errorf("record operation head: %w", err)
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	if err := syncDir(dir); err != nil {
		return err
	}
	for _, old := range replaces {
		if old == id {
			continue
		}
		if err := os.Remove(filepath.Join(dir, old.Hex())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove operation head: %w", err)
		}
	}
	return nil
}
