package workcopy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"tandem/internal/repo"
)

// SnapshotOptions are the choices of a snapshot.
type SnapshotOptions struct {
	// Ignores are the rules from outside the workspace; those of .gitignore
	// files in it are added on the way.
	Ignores *Ignores
	// Track chooses the new files that are tracked; nil is all.
	Track repo.Matcher
	// Force chooses files that are tracked although ignored or large; nil is
	// none.
	Force repo.Matcher
	// MaxNewFileSize is the size above which a new file is left alone; 0 is no
	// limit.
	MaxNewFileSize int64
}

// Untracked is a file that was left alone.
type Untracked struct {
	Path repo.Path
	// Size and MaxSize are set when it was left for its size.
	Size, MaxSize int64
}

// SnapshotStats says what a snapshot left alone.
type SnapshotStats struct {
	Untracked []Untracked
	// Outgrown are tracked files that have become too large to be kept: what was
	// last kept of them stays.
	Outgrown []Untracked
	// InvalidNames are files whose names are not UTF-8.
	InvalidNames []string
}

// Snapshot makes the tree of what is on disk now.
func (l *Locked) Snapshot(ctx context.Context, o SnapshotOptions) (repo.MergedTree, SnapshotStats, error) {
	if o.Track == nil {
		o.Track = repo.Everything{}
	}
	if o.Force == nil {
		o.Force = repo.Nothing{}
	}
	root, err := os.OpenRoot(l.Root)
	if err != nil {
		return repo.MergedTree{}, SnapshotStats{}, fmt.Errorf("snapshot: %w", err)
	}
	defer root.Close()
	s := &snapshot{
		Locked: l, o: o, root: root, sparse: repo.Prefixes(l.state.sparse),
		slots: make(chan struct{}, 4*runtime.GOMAXPROCS(0)),
		edit:  repo.EditTree(l.store, l.state.tree),
	}
	s.visit(ctx, "", o.Ignores, l.state.files)
	s.wg.Wait()
	if s.err != nil {
		return repo.MergedTree{}, SnapshotStats{}, s.err
	}
	tree, err := s.edit.Write(ctx)
	if err != nil {
		return repo.MergedTree{}, SnapshotStats{}, err
	}
	l.dirty = l.dirty || len(s.changed) > 0 || len(s.deleted) > 0 || !tree.Equal(l.state.tree)
	l.state.tree = tree
	l.state.update(s.changed, s.deleted)
	slices.SortFunc(s.stats.Untracked, func(a, b Untracked) int { return repo.ComparePaths(a.Path, b.Path) })
	slices.SortFunc(s.stats.Outgrown, func(a, b Untracked) int { return repo.ComparePaths(a.Path, b.Path) })
	slices.Sort(s.stats.InvalidNames)
	return tree, s.stats, nil
}

// update takes in changed and deleted files.
func (t *treeState) update(changed []FileState, deleted map[repo.Path]struct{}) {
	if len(changed) == 0 && len(deleted) == 0 {
		return
	}
	replaced := make(map[repo.Path]struct{}, len(changed))
	for _, f := range changed {
		replaced[f.Path] = struct{}{}
	}
	files := make([]FileState, 0, len(t.files)+len(changed))
	for _, f := range t.files {
		_, gone := deleted[f.Path]
		_, other := replaced[f.Path]
		if !gone && !other {
			files = append(files, f)
		}
	}
	t.files = append(files, changed...)
	slices.SortFunc(t.files, func(a, b FileState) int { return repo.ComparePaths(a.Path, b.Path) })
}

// snapshot is one walk over the files.
type snapshot struct {
	*Locked
	o      SnapshotOptions
	root   *os.Root
	sparse repo.Prefixes
	slots  chan struct{}
	wg     sync.WaitGroup

	mu      sync.Mutex
	err     error
	edit    *repo.TreeEdit
	changed []FileState
	deleted map[repo.Path]struct{}
	stats   SnapshotStats
}

func (s *snapshot) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

// failed says whether to stop; that ctx has ended is a failure, too.
func (s *snapshot) failed(ctx context.Context) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = ctx.Err()
	}
	return s.err != nil
}

// spawn runs a job beside the others when there is room, and at once if not.
func (s *snapshot) spawn(job func()) {
	select {
	case s.slots <- struct{}{}:
		s.wg.Go(func() {
			defer func() { <-s.slots }()
			job()
		})
	default:
		job()
	}
}

func (s *snapshot) disk(p repo.Path) string {
	return filepath.Join(s.Root, filepath.FromSlash(string(p)))
}

// visit looks at a directory; known are the tracked files in it and below.
func (s *snapshot) visit(ctx context.Context, dir repo.Path, ignores *Ignores, known []FileState) {
	if s.failed(ctx) {
		return
	}
	disk := s.disk(dir)
	entries, err := os.ReadDir(disk)
	if errors.Is(err, fs.ErrNotExist) && dir != "" {
		s.gone(known) // since its parent was read
		return
	}
	if err != nil {
		s.fail(fmt.Errorf("read directory: %w", err))
		return
	}
	for _, e := range entries {
		if e.Name() == ".gitignore" && e.Type().IsRegular() {
			if ignores, err = ignores.WithFile(dir, filepath.Join(disk, ".gitignore")); err != nil {
				s.fail(err)
				return
			}
		}
	}
	// Names come in order, and so do the tracked files: walk them in step.
	rest := known
	for _, e := range entries {
		if s.failed(ctx) {
			return
		}
		name := e.Name()
		if !utf8.ValidString(name) {
			s.mu.Lock()
			s.stats.InvalidNames = append(s.stats.InvalidNames, filepath.Join(string(dir), name))
			s.mu.Unlock()
			continue
		}
		var own []FileState
		own, rest = s.takeKnown(dir, name, rest)
		if name == ".git" || name == ".jj" {
			continue
		}
		s.entry(ctx, dir.Join(name), e, ignores, own)
	}
	s.gone(rest)
}

// takeKnown cuts the tracked files at or below a name off the front. Those in
// front of them are gone.
func (s *snapshot) takeKnown(dir repo.Path, name string, known []FileState) (own, rest []FileState) {
	skip := len(dir)
	if dir != "" {
		skip++
	}
	first := func(f FileState) string {
		tail := string(f.Path)[min(skip, len(f.Path)):]
		head, _, _ := strings.Cut(tail, "/")
		return head
	}
	i := 0
	for i < len(known) && first(known[i]) < name {
		i++
	}
	s.gone(known[:i])
	j := i
	for j < len(known) && first(known[j]) == name {
		j++
	}
	return known[i:j], known[j:]
}

// gone records tracked files that are not on disk any more.
func (s *snapshot) gone(files []FileState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range files {
		if f.Type == Submodule || !s.sparse.Match(f.Path) {
			continue
		}
		if s.deleted == nil {
			s.deleted = map[repo.Path]struct{}{}
		}
		s.deleted[f.Path] = struct{}{}
		s.edit.Set(f.Path, repo.Resolved(repo.TreeValue{}))
	}
}

// entry looks at one name of a directory.
func (s *snapshot) entry(ctx context.Context, path repo.Path, e fs.DirEntry, ignores *Ignores, own []FileState) {
	var tracked *FileState
	below := own
	if len(own) > 0 && own[0].Path == path {
		tracked, below = &own[0], own[1:]
		if tracked.Type == Submodule {
			return
		}
	}
	if e.IsDir() {
		if tracked != nil {
			s.gone(own[:1])
		}
		s.directory(ctx, path, ignores, below)
		return
	}
	s.gone(below)
	if !s.sparse.Match(path) {
		return
	}
	if tracked == nil {
		forced := s.o.Force.Match(path)
		if !forced && ignores.Match(path, false) {
			return
		}
		if !forced && !s.o.Track.Match(path) {
			s.leave(Untracked{Path: path})
			return
		}
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) { // since its directory was read
		s.gone(own[:len(own)-len(below)])
		return
	}
	if err != nil {
		s.fail(fmt.Errorf("stat: %w", err))
		return
	}
	if tracked == nil && s.o.MaxNewFileSize > 0 && info.Size() > s.o.MaxNewFileSize && !s.o.Force.Match(path) {
		s.leave(Untracked{path, info.Size(), s.o.MaxNewFileSize})
		return
	}
	s.file(ctx, path, info, tracked)
}

// tooLarge leaves alone a file that cannot be kept.
func (s *snapshot) tooLarge(path repo.Path, size int64, tracked bool) {
	u := Untracked{path, size, repo.LargestFile}
	if !tracked {
		s.leave(u)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Outgrown = append(s.stats.Outgrown, u)
}

func (s *snapshot) leave(u Untracked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Untracked = append(s.stats.Untracked, u)
}

// directory decides how to go into a directory: not at all when it is another
// repository, to the tracked files alone when it is ignored.
func (s *snapshot) directory(ctx context.Context, path repo.Path, ignores *Ignores, below []FileState) {
	for _, name := range []string{".git", ".jj"} {
		if _, err := os.Lstat(filepath.Join(s.disk(path), name)); err == nil {
			s.gone(below)
			return
		}
	}
	if ignores.Match(path, true) && !s.o.Force.Visit(path) {
		s.spawn(func() { s.trackedOnly(ctx, below) })
		return
	}
	if s.sparse.Visit(path) {
		s.spawn(func() { s.visit(ctx, path, ignores, below) })
	}
}

// trackedOnly looks at tracked files without reading their directories.
func (s *snapshot) trackedOnly(ctx context.Context, files []FileState) {
	for i := range files {
		if s.failed(ctx) {
			return
		}
		f := &files[i]
		if f.Type == Submodule || !s.sparse.Match(f.Path) {
			continue
		}
		info, err := s.root.Lstat(filepath.FromSlash(string(f.Path)))
		if err != nil || info.IsDir() {
			s.gone(files[i : i+1])
			continue
		}
		s.file(ctx, f.Path, info, f)
	}
}
