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
	"strings"
	"sync"

	"tandem/internal/repo"
)

// Store is a jj repository on disk: the directory `.jj/repo` and the git
// repository behind it. It is safe for concurrent use; several processes may
// have the same repository open.
type Store struct {
	dir     string // .jj/repo
	gitDir  string // the git repository's directory
	objects *objects
	extras  *extras
	shallow map[repo.CommitID]struct{}
	commits *cache[repo.CommitID, *repo.Commit]
	trees   *cache[repo.TreeID, repo.Tree]

	operations *cache[repo.OperationID, named[*repo.Operation]]
	views      *cache[repo.ViewID, named[*repo.View]]
	entries    *cache[string, []byte] // objects as they stand in a pack
	segments   *cache[string, *repo.IndexSegment]

	mu   sync.Mutex
	keep map[repo.CommitID]struct{}        // commits put since the last flush that no other such commit descends from
	held map[repo.ViewID]named[*repo.View] // views put since the last flush
}

var _ repo.Store = (*Store)(nil)

// Open opens the repository whose directory is dir: a workspace's `.jj/repo`.
func Open(dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for path, want := range map[string]string{
		"store/type":    "git",
		"op_store/type": "simple_op_store",
		"op_heads/type": "simple_op_heads_store",
		"index/type":    "default",
	} {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(path)))
		if err != nil {
			return nil, fmt.Errorf("open repository: %w", err)
		}
		if string(got) != want {
			return nil, fmt.Errorf("%s says %q; only %q can be opened here", path, got, want)
		}
	}
	target, err := os.ReadFile(filepath.Join(dir, "store", "git_target"))
	if err != nil {
		return nil, fmt.Errorf("open repository: %w", err)
	}
	gitDir := string(target)
	if !filepath.IsAbs(gitDir) {
		gitDir = filepath.Join(dir, "store", filepath.FromSlash(gitDir))
	}
	return open(dir, gitDir)
}

func open(dir, gitDir string) (*Store, error) {
	gitDir, err := resolveGitDir(gitDir)
	if err != nil {
		return nil, err
	}
	common, err := commonDir(gitDir)
	if err != nil {
		return nil, err
	}
	if err := refuseOtherHash(common); err != nil {
		return nil, err
	}
	objs, err := openObjects(filepath.Join(common, "objects"))
	if err != nil {
		return nil, err
	}
	s := &Store{
		dir: dir, gitDir: common, objects: objs,
		extras:  newExtras(filepath.Join(dir, "store", "extra")),
		commits: newCache[repo.CommitID, *repo.Commit](32 << 20),
		trees:   newCache[repo.TreeID, repo.Tree](32 << 20),

		operations: newCache[repo.OperationID, named[*repo.Operation]](16 << 20),
		views:      newCache[repo.ViewID, named[*repo.View]](32 << 20),
		entries:    newCache[string, []byte](32 << 20),
		segments:   newCache[string, *repo.IndexSegment](256 << 20),
		keep:       map[repo.CommitID]struct{}{},
		held:       map[repo.ViewID]named[*repo.View]{},
	}
	if s.shallow, err = readShallow(common); err != nil {
		return nil, err
	}
	return s, nil
}

// resolveGitDir follows a `.git` file (of a git worktree or submodule) to the
// directory it names.
func resolveGitDir(path string) (string, error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("open git repository: %w", err)
	}
	if st.IsDir() {
		return path, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("%s is not a git repository", path)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	return target, nil
}

// commonDir is where a git worktree's repository keeps objects and refs.
func commonDir(gitDir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	target := strings.TrimSpace(string(text))
	if !filepath.IsAbs(target) {
		target = filepath.Join(gitDir, target)
	}
	return filepath.Clean(target), nil
}

// ErrObjectFormat says that a git repository is of a kind that is not read here.
var ErrObjectFormat = errors.New("the git repository names objects")

// refuseOtherHash fails on a repository whose objects are not named by SHA-1.
func refuseOtherHash(gitDir string) error {
	text, err := os.ReadFile(filepath.Join(gitDir, "config"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, line := range strings.Split(string(text), "\n") {
		key, value, _ := strings.Cut(line, "=")
		if strings.EqualFold(strings.TrimSpace(key), "objectformat") && !strings.EqualFold(strings.TrimSpace(value), "sha1") {
			return fmt.Errorf("%w by %s; only sha1 can be opened here", ErrObjectFormat, strings.TrimSpace(value))
		}
	}
	return nil
}

func readShallow(gitDir string) (map[repo.CommitID]struct{}, error) {
	text, err := os.ReadFile(filepath.Join(gitDir, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[repo.CommitID]struct{}{}
	for _, line := range strings.Fields(string(text)) {
		if id, ok := repo.ParseCommitID(line); ok {
			out[id] = struct{}{}
		}
	}
	return out, nil
}

// Shallow says whether older commits were left out when the repository was cloned, so that no copy of it would be whole.
func (s *Store) Shallow() bool { return len(s.shallow) > 0 }

// Dir is the repository's directory, `.jj/repo`.
func (s *Store) Dir() string { return s.dir }

// GitDir is the directory of the git repository that holds objects and refs.
func (s *Store) GitDir() string { return s.gitDir }

// Close lets the mapped files go. What was put and not flushed is dropped.
func (s *Store) Close() { s.objects.close() }

// Reload looks at the packs again after somebody repacked.
func (s *Store) Reload() error { return s.objects.reload() }

// Has says whether a git object of any kind is there, by raw id.
func (s *Store) Has(id string) bool {
	return id == string(repo.RootCommitID) || id == string(repo.EmptyTreeID) || s.objects.has(id)
}

// Object reads a git object of any kind, by raw id.
func (s *Store) Object(ctx context.Context, id string) (repo.Object, error) {
	return s.objects.read(ctx, id)
}

// Commit reads a commit.
func (s *Store) Commit(ctx context.Context, id repo.CommitID) (*repo.Commit, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if id == repo.RootCommitID {
		return repo.RootCommit(), nil
	}
	if c, ok := s.commits.get(id); ok {
		return c, nil
	}
	data, err := s.typed(ctx, string(id), repo.CommitObject)
	if err != nil {
		return nil, err
	}
	c, err := repo.DecodeCommit(id, data)
	if err != nil {
		return nil, err
	}
	if _, ok := s.shallow[id]; ok {
		c.Parents = []repo.CommitID{repo.RootCommitID}
	}
	if err := s.extras.apply(c); err != nil {
		return nil, err
	}
	s.commits.put(id, c, 300+len(data))
	return c, nil
}

// Tree reads a directory.
func (s *Store) Tree(ctx context.Context, id repo.TreeID) (repo.Tree, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if id == repo.EmptyTreeID {
		return nil, nil
	}
	if t, ok := s.trees.get(id); ok {
		return t, nil
	}
	data, err := s.typed(ctx, string(id), repo.TreeObject)
	if err != nil {
		return nil, err
	}
	t, err := repo.DecodeTree(data)
	if err != nil {
		return nil, fmt.Errorf("tree %s: %w", id.Hex(), err)
	}
	// The id may be a part of the text of the tree above it, which is not to stay
	// for that.
	s.trees.put(repo.TreeID(strings.Clone(string(id))), t, 100+3*len(data))
	return t, nil
}

// File reads a file's bytes or a symlink's target.
func (s *Store) File(ctx context.Context, id repo.FileID) ([]byte, error) {
	return s.typed(ctx, string(id), repo.BlobObject)
}

func (s *Store) typed(ctx context.Context, id string, want repo.ObjectType) ([]byte, error) {
	o, err := s.objects.read(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		name := want.String()
		if want == repo.BlobObject {
			name = "file"
		}
		return nil, &repo.MissingError{Type: name, ID: fmt.Sprintf("%x", id)}
	}
	if err != nil {
		return nil, err
	}
	if o.Type != want {
		return nil, fmt.Errorf("object %x is a %s, not a %s", id, o.Type, want)
	}
	return o.Data, nil
}

// PutCommit stores a commit; it is durable after Flush.
func (s *Store) PutCommit(ctx context.Context, c *repo.Commit) (*repo.Commit, error) {
	data, err := repo.EncodeCommit(ctx, s, c)
	if err != nil {
		return nil, err
	}
	raw, err := s.objects.put(repo.CommitObject, data)
	if err != nil {
		return nil, err
	}
	stored, err := repo.DecodeCommit(repo.CommitID(raw), data)
	if err != nil {
		return nil, err
	}
	s.commits.put(stored.ID, stored, 300+len(data))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep[stored.ID] = struct{}{}
	for _, p := range stored.Parents {
		delete(s.keep, p)
	}
	return stored, nil
}

// PutTree stores a directory; it is durable after Flush.
func (s *Store) PutTree(ctx context.Context, t repo.Tree) (repo.TreeID, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	raw, err := s.objects.put(repo.TreeObject, repo.EncodeTree(t))
	return repo.TreeID(raw), err
}

// PutFile stores a file's bytes or a symlink's target; it is durable after
// Flush. The store keeps data.
func (s *Store) PutFile(ctx context.Context, data []byte) (repo.FileID, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := repo.CheckFileSize(int64(len(data))); err != nil {
		return "", err
	}
	raw, err := s.objects.put(repo.BlobObject, data)
	return repo.FileID(raw), err
}

// PutObject stores a git object of any kind by its bytes and gives its raw id;
// it is durable after Flush.
func (s *Store) PutObject(o repo.Object) (string, error) { return s.objects.put(o.Type, o.Data) }

// Flush makes everything put so far durable, and protects new commits from
// git's garbage collection.
func (s *Store) Flush() error {
	var b batch
	defer b.drop()
	settle, err := s.stage(&b)
	if err != nil {
		return err
	}
	if err := b.commit(); err != nil {
		return fmt.Errorf("write objects: %w", err)
	}
	return settle()
}

// stage adds to a batch what was put so far. After the batch is committed,
// settle lets it go from memory.
func (s *Store) stage(b *batch) (settle func() error, err error) {
	s.mu.Lock()
	keep := slices.Collect(maps.Keys(s.keep))
	views := maps.Clone(s.held)
	s.mu.Unlock()
	objects, err := s.objects.stage(b)
	if err != nil {
		return nil, err
	}
	for _, id := range keep {
		if err := s.stageKeep(b, id); err != nil {
			return nil, err
		}
	}
	for id, v := range views {
		if err := b.add(s.viewPath(id), v.data, 0o666); err != nil {
			return nil, err
		}
	}
	return func() error {
		s.mu.Lock()
		for _, id := range keep {
			delete(s.keep, id)
		}
		for id, v := range views {
			delete(s.held, id)
			s.keepView(id, v.value, v.data)
		}
		s.mu.Unlock()
		return objects()
	}, nil
}
