package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"tandem/internal/repo"
)

func (s *Store) indexPath(kind, name string) string {
	return filepath.Join(s.dir, "index", kind, name)
}

// Index is the commit index at an operation: jj's own files where they are
// there, completed and saved where they are not. A damaged index is rebuilt.
func (s *Store) Index(ctx context.Context, op *repo.Operation) (*repo.Index, error) {
	ix, err := s.loadIndex(op.ID)
	if err == nil {
		return ix, nil
	}
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errBadIndex) {
		return nil, err
	}
	if ix, err = s.buildIndex(ctx, s, op); err != nil {
		return nil, err
	}
	if err := s.SaveIndex(op.ID, ix); err != nil {
		return nil, err
	}
	return s.loadIndex(op.ID) // segments alone, which others share
}

var errBadIndex = errors.New("index is damaged")

// loadIndex reads the index that a file ties to an operation.
func (s *Store) loadIndex(id repo.OperationID) (*repo.Index, error) {
	link, err := os.ReadFile(s.indexPath("op_links", id.Hex()))
	if err != nil {
		return nil, err
	}
	name, err := parseIndexLink(link)
	if err != nil {
		return nil, err
	}
	ix, err := s.loadSegments(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errBadIndex, err)
	}
	return ix, nil
}

func parseIndexLink(b []byte) (string, error) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			break
		}
		m := protowire.ConsumeFieldValue(num, typ, b[n:])
		if m < 0 {
			break
		}
		if num == 1 && typ == protowire.BytesType {
			if v, _ := protowire.ConsumeBytes(b[n:]); len(v) == repo.OperationIDLen {
				return fmt.Sprintf("%x", v), nil
			}
		}
		b = b[n+m:]
	}
	return "", fmt.Errorf("%w: bad link", errBadIndex)
}

// loadSegments reads a segment and its parents. A chain of n segments holds
// at least 2ⁿ commits, so a long one is a ring or a forgery. A segment's name
// is the hash of its content, so one that was read before is the same; but what
// is built on it must find it on disk.
func (s *Store) loadSegments(name string) (*repo.Index, error) {
	type link struct {
		name string
		data []byte             // as read, or
		seg  *repo.IndexSegment // known already
	}
	var chain []link // youngest first
	for name != "" {
		if len(chain) > 64 {
			return nil, fmt.Errorf("index has more than 64 segments")
		}
		if _, ok := repo.ParseViewID(name); !ok { // 128 digits, as views have
			return nil, fmt.Errorf("index segment named %q", name)
		}
		if seg, ok := s.segments.get(name); ok && s.hasSegment(name) {
			chain = append(chain, link{name: name, seg: seg})
			name = seg.Parent
			continue
		}
		data, err := os.ReadFile(s.indexPath("segments", name))
		if err != nil {
			return nil, err
		}
		chain = append(chain, link{name: name, data: data})
		if name, err = repo.IndexSegmentParent(data); err != nil {
			return nil, err
		}
	}
	var segs []*repo.IndexSegment
	before := 0
	for _, l := range slices.Backward(chain) {
		if l.seg == nil {
			var err error
			if l.seg, err = repo.ParseIndexSegment(l.name, l.data, before); err != nil {
				return nil, err
			}
			s.segments.put(l.name, l.seg, len(l.data))
		}
		segs = append(segs, l.seg)
		before += l.seg.Count()
	}
	return repo.IndexOver(segs)
}

// buildIndex extends the index of the nearest indexed ancestor operation by
// every commit that the operations since have named; from gives those.
func (s *Store) buildIndex(ctx context.Context, from repo.Store, op *repo.Operation) (*repo.Index, error) {
	ix := repo.NewIndex()
	var indexed []repo.OperationID
	err := repo.WalkOperations(ctx, from, []repo.OperationID{op.ID}, func(o *repo.Operation) (bool, error) {
		if !s.hasIndexLink(o.ID) {
			return true, nil
		}
		loaded, err := s.loadIndex(o.ID)
		if err != nil {
			return true, nil // damaged like the first: go further back
		}
		ix, indexed = loaded.Extend(), []repo.OperationID{o.ID}
		return false, nil
	})
	if err != nil {
		return nil, err
	}
	since, err := repo.OperationRange(ctx, from, indexed, []repo.OperationID{op.ID})
	if err != nil {
		return nil, err
	}
	named := map[repo.CommitID]struct{}{}
	for _, o := range since {
		view, err := from.View(ctx, o.View)
		if err != nil {
			return nil, err
		}
		view.AddCommitIDs(named)
		o.AddCommitIDs(named)
	}
	return ix, ix.AddAll(ctx, from, slices.Collect(maps.Keys(named)))
}

func (s *Store) hasSegment(name string) bool {
	_, err := os.Lstat(s.indexPath("segments", name))
	return err == nil
}

func (s *Store) hasIndexLink(id repo.OperationID) bool {
	_, err := os.Lstat(s.indexPath("op_links", id.Hex()))
	return err == nil
}

// SaveIndex ties an index to an operation, writing what is new of it as a
// segment in jj's format. It is a cache: losing it costs time alone, so it is
// not synced.
func (s *Store) SaveIndex(id repo.OperationID, ix *repo.Index) error {
	data, name := ix.Freeze()
	if data != nil {
		path := s.indexPath("segments", name)
		if _, err := os.Lstat(path); err != nil {
			if err := writeCache(path, data); err != nil {
				return err
			}
		}
	}
	raw, _ := repo.ParseViewID(name)
	link := protowire.AppendTag(nil, 1, protowire.BytesType)
	link = protowire.AppendString(link, string(raw))
	return writeCache(s.indexPath("op_links", id.Hex()), link)
}

// writeCache replaces a file without waiting for the disk. Readers check what
// they read, and rebuild.
func writeCache(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o666&^umask()), f.Close())
	if err == nil {
		err = rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Reindex builds the commit index at an operation anew from the operations and
// commits, and gives the number of commits in it. All indexes before are gone.
func (s *Store) Reindex(ctx context.Context, op *repo.Operation) (int, error) {
	for _, kind := range []string{"op_links", "segments"} {
		entries, err := os.ReadDir(s.indexPath(kind, ""))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			if err := os.Remove(s.indexPath(kind, e.Name())); err != nil {
				return 0, err
			}
		}
	}
	ix, err := s.Index(ctx, op)
	if err != nil {
		return 0, err
	}
	return ix.Len(), nil
}
