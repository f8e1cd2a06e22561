package workcopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"tandem/internal/repo"
)

// CheckoutStats counts what a checkout did. Skipped files are counted in the
// others too: something untracked stood in their way, and was left there.
type CheckoutStats struct {
	Updated, Added, Removed, Skipped int
}

// CheckOut makes the files those of a tree.
func (l *Locked) CheckOut(ctx context.Context, tree repo.MergedTree) (CheckoutStats, error) {
	stats, err := l.update(ctx, l.state.tree, tree, repo.Prefixes(l.state.sparse))
	if err != nil {
		return stats, err
	}
	l.state.tree = tree
	return stats, nil
}

// SetSparse changes which paths are checked out.
func (l *Locked) SetSparse(ctx context.Context, prefixes []repo.Path) (CheckoutStats, error) {
	old, now := repo.Prefixes(l.state.sparse), repo.Prefixes(prefixes)
	tree, empty := l.state.tree, repo.EmptyTree()
	added, err := l.update(ctx, empty, tree, repo.Without{Keep: now, Drop: old})
	if err != nil {
		return added, err
	}
	removed, err := l.update(ctx, tree, empty, repo.Without{Keep: old, Drop: now})
	l.state.sparse = slices.Clone(prefixes)
	l.dirty = true
	return CheckoutStats{Added: added.Added, Removed: removed.Removed, Skipped: added.Skipped}, err
}

// Reset says that the files are those of a tree without touching them; the
// next snapshot reads the ones that differ.
func (l *Locked) Reset(ctx context.Context, tree repo.MergedTree) error {
	l.dirty = true
	var changed []FileState
	deleted := map[repo.Path]struct{}{}
	err := repo.DiffTreesForDisk(ctx, l.store, l.state.tree, tree, repo.Prefixes(l.state.sparse),
		func(path repo.Path, _, after repo.Merge[repo.TreeValue]) error {
			if !repo.IsPresent(after) {
				deleted[path] = struct{}{}
				return nil
			}
			f := FileState{Path: path}
			switch v, _ := after.AsResolved(); v.Kind {
			case repo.Executable:
				f.Type = l.diskType(path, true)
			case repo.File:
				f.Type = l.diskType(path, false)
			case repo.Symlink:
				f.Type = Symlink
			case repo.Submodule:
				f.Type = Submodule
			}
			changed = append(changed, f)
			return nil
		})
	if err != nil {
		return err
	}
	for _, f := range changed {
		delete(deleted, f.Path)
	}
	l.state.update(changed, deleted)
	l.state.tree = tree
	return nil
}

// Recover forgets all that is known of the files and takes them for those of a
// tree.
func (l *Locked) Recover(ctx context.Context, tree repo.MergedTree) error {
	l.state.files, l.state.tree = nil, repo.EmptyTree()
	return l.Reset(ctx, tree)
}

// diskType is the type of a file as written from a tree.
func (l *Locked) diskType(path repo.Path, executable bool) FileType {
	if l.IgnoreExec {
		executable = false
		i, ok := slices.BinarySearchFunc(l.state.files, path, func(f FileState, p repo.Path) int { return repo.ComparePaths(f.Path, p) })
		if ok {
			executable = l.state.files[i].Type == Executable
		}
	}
	if executable && !noExecBits {
		return Executable
	}
	return Normal
}

// update turns the files of one tree into those of another.
func (l *Locked) update(ctx context.Context, from, to repo.MergedTree, m repo.Matcher) (CheckoutStats, error) {
	root, err := os.OpenRoot(l.Root)
	if err != nil {
		return CheckoutStats{}, fmt.Errorf("check out: %w", err)
	}
	defer root.Close()
	c := &checkoutRun{Locked: l, root: root, labels: to.Labels, deleted: map[repo.Path]struct{}{}}
	defer c.leaveDir()
	l.dirty = l.dirty || !from.Equal(to)
	again := map[repo.Path]repo.Merge[repo.TreeValue]{}
	if len(from.IDs) == len(to.IDs) && !slices.Equal(from.Labels, to.Labels) {
		// Conflicts that did not change show other labels now.
		err = repo.Conflicts(ctx, l.store, to, m, func(p repo.Path, v repo.Merge[repo.TreeValue]) error {
			again[p] = v
			return nil
		})
		if err != nil {
			return c.stats, err
		}
	}
	err = repo.DiffTreesForDisk(ctx, l.store, from, to, m, func(path repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		delete(again, path)
		return c.path(ctx, path, before, after)
	})
	for path, v := range again {
		if err == nil {
			err = c.path(ctx, path, v, v)
		}
	}
	// What was done is known even when the rest failed.
	for _, f := range c.changed {
		delete(c.deleted, f.Path)
	}
	l.state.update(c.changed, c.deleted)
	return c.stats, err
}

// checkoutRun is one checkout under way. Paths come ordered by directory, so
// the last one is kept open; names are only ever resolved inside it.
type checkoutRun struct {
	*Locked
	root    *os.Root
	dir     repo.Path
	dirRoot *os.Root
	labels  repo.Labels
	stats   CheckoutStats
	changed []FileState
	deleted map[repo.Path]struct{}
}

// path carries out one difference. It is the place where a checkout can stop:
// between two files.
func (c *checkoutRun) path(ctx context.Context, path repo.Path, before, after repo.Merge[repo.TreeValue]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	wasThere, isThere := repo.IsPresent(before), repo.IsPresent(after)
	switch {
	case !isThere:
		c.stats.Removed++
	case !wasThere:
		c.stats.Added++
	default:
		c.stats.Updated++
	}
	was, _ := before.AsResolved()
	is, _ := after.AsResolved()
	if was.Kind == repo.Submodule && is.Kind == repo.Submodule {
		return nil // its folder is its own
	}
	for _, name := range path.Components() {
		if why := repo.CheckName(name); why != "" {
			return fmt.Errorf("%s cannot be checked out: the name %q %s", path, name, why)
		}
	}
	dir, name := path.Split()
	ok, err := c.enterDir(dir)
	if err != nil {
		return fmt.Errorf("check out %s: %w", path, err)
	}
	if !ok {
		return c.skip(path)
	}
	free, err := c.clear(name, wasThere)
	if err != nil {
		return fmt.Errorf("check out %s: %w", path, err)
	}
	if !free && is.Kind != repo.Submodule && !(was.Kind == repo.Submodule && !isThere) {
		return c.skip(path)
	}
	if !isThere {
		c.deleted[path] = struct{}{}
		c.removeEmptyDirs(dir)
		return nil
	}
	f, err := c.write(ctx, path, name, after)
	if err != nil {
		return fmt.Errorf("check out %s: %w", path, err)
	}
	c.changed = append(c.changed, f)
	return nil
}

// skip leaves what is in the way, and has the next snapshot look at it.
func (c *checkoutRun) skip(path repo.Path) error {
	c.stats.Skipped++
	c.changed = append(c.changed, FileState{Path: path})
	return nil
}

func (c *checkoutRun) leaveDir() {
	if c.dirRoot != nil {
		c.dirRoot.Close()
		c.dirRoot = nil
	}
}

// enterDir opens a directory, making it if need be. It is not ok when a file
// or a symlink stands in its place.
func (c *checkoutRun) enterDir(dir repo.Path) (ok bool, err error) {
	if c.dirRoot != nil && c.dir == dir {
		return true, nil
	}
	c.leaveDir()
	at, err := c.root.OpenRoot(".")
	if err != nil {
		return false, err
	}
	for _, name := range dir.Components() {
		info, err := at.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			if err = at.Mkdir(name, 0o777); err == nil {
				info, err = at.Lstat(name)
			}
		}
		if err != nil {
			at.Close()
			return false, err
		}
		if !info.IsDir() {
			at.Close()
			return false, nil
		}
		next, err := at.OpenRoot(name)
		at.Close()
		if err != nil {
			return false, err
		}
		at = next
	}
	c.dir, c.dirRoot = dir, at
	return true, nil
}

// clear makes room for a file: what we wrote before goes, anything else stays
// and is in the way. So does what has become too large to be kept: nobody else has
// it.
func (c *checkoutRun) clear(name string, ours bool) (free bool, err error) {
	info, err := c.dirRoot.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if !ours || info.IsDir() || info.Mode().IsRegular() && info.Size() > repo.LargestFile {
		return false, nil
	}
	return true, c.dirRoot.Remove(name)
}

// removeEmptyDirs takes away directories that the last file has left.
func (c *checkoutRun) removeEmptyDirs(dir repo.Path) {
	c.leaveDir()
	for dir != "" {
		if c.root.Remove(filepath.FromSlash(string(dir))) != nil {
			return
		}
		dir, _ = dir.Split()
	}
}

// write makes the file of a value.
func (c *checkoutRun) write(ctx context.Context, path repo.Path, name string, v repo.Merge[repo.TreeValue]) (FileState, error) {
	value, resolved := v.AsResolved()
	if !resolved {
		return c.writeConflict(ctx, path, name, v)
	}
	switch value.Kind {
	case repo.File, repo.Executable:
		f, _, err := c.store.OpenFile(ctx, value.FileID())
		if err != nil {
			return FileState{}, err
		}
		defer f.Close()
		r, err := c.Ends.writtenFrom(f)
		if err != nil {
			return FileState{}, err
		}
		return c.writeFrom(path, name, r, c.diskType(path, value.Kind == repo.Executable))
	case repo.Symlink:
		target, err := c.store.File(ctx, value.FileID())
		if err != nil {
			return FileState{}, err
		}
		if err := c.dirRoot.Symlink(filepath.FromSlash(string(target)), name); err != nil {
			return FileState{}, err
		}
		info, err := c.dirRoot.Lstat(name)
		if err != nil {
			return FileState{}, err
		}
		f, _ := stateOf(path, info)
		return f, nil
	case repo.Submodule:
		if err := c.dirRoot.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return FileState{}, err
		}
		return FileState{Path: path, Type: Submodule}, nil
	}
	return FileState{}, fmt.Errorf("a directory cannot be checked out as a file")
}

func (c *checkoutRun) writeConflict(ctx context.Context, path repo.Path, name string, v repo.Merge[repo.TreeValue]) (FileState, error) {
	conflict, err := repo.ReadFileConflict(ctx, c.store, v, c.labels)
	if err != nil {
		return FileState{}, err
	}
	if conflict == nil {
		return c.writeFile(path, name, []byte(repo.DescribeConflict(v, c.labels)), Normal)
	}
	n := repo.MarkerLen(conflict.Contents)
	f, err := c.writeFile(path, name, c.Ends.written(conflict.Materialize(c.Style, n)), c.diskType(path, conflict.Executable))
	f.MarkerLen = uint32(n)
	return f, err
}

func (c *checkoutRun) writeFile(path repo.Path, name string, data []byte, typ FileType) (FileState, error) {
	return c.writeFrom(path, name, bytes.NewReader(data), typ)
}

// writeFrom makes a new file; one that has come into being meanwhile is not
// overwritten, and one that did not come whole does not stay.
func (c *checkoutRun) writeFrom(path repo.Path, name string, r io.Reader, typ FileType) (_ FileState, err error) {
	perm := fs.FileMode(0o644)
	if typ == Executable {
		perm = 0o755
	}
	f, err := c.dirRoot.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return FileState{}, err
	}
	defer func() {
		f.Close()
		if err != nil {
			c.dirRoot.Remove(name)
		}
	}()
	size, err := io.Copy(f, r)
	if err != nil {
		return FileState{}, err
	}
	if !noExecBits {
		if err := f.Chmod(perm); err != nil {
			return FileState{}, err
		}
	}
	info, err := f.Stat()
	if err != nil {
		return FileState{}, err
	}
	return FileState{Path: path, Mtime: info.ModTime().UnixMilli(), Size: uint64(size), Type: typ}, f.Close()
}
