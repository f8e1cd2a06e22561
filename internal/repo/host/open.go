package host

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/workcopy"
)

// served is one repository.
type served struct {
	id    string // kept in the repository itself
	name  string
	root  string // the folder
	store *gitstore.Store
	who   *repo.Identity

	queue   sync.Mutex // guards waiting
	waiting []*waiting // pushes that came while another was taken in

	mu      sync.Mutex // one writer of ours at a time; guards authors
	authors *authors
	state   sync.Mutex // guards what follows
	head    repo.OperationID
	version int64
	changed chan struct{} // closed when head changes
	refs    string        // how git's refs looked when they were last imported or exported
	era     int64         // how often a person decided to keep an older state
	looks   atomic.Int64  // of Run
}

// open adopts the jj or git repository in a folder, or makes one there.
func (h *Host) open(ctx context.Context, root string) (*served, error) {
	if err := h.missing(root); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, fault.New(fault.Unavailable, "repo.open", "cannot make the folder %s: %w", root, err)
	}
	s := &served{name: nameOf(root), root: root, who: serverIdentity(), changed: make(chan struct{})}
	dir, err := repoDir(root)
	if err != nil {
		return nil, err
	}
	if dir != "" {
		s.store, err = gitstore.Open(dir)
	} else {
		s.store, err = adopt(ctx, root, s.who)
	}
	if err != nil {
		return nil, err
	}
	r, _, err := s.store.Head(ctx, s.who, repo.MergeOptions{OwnerWins: true})
	if err != nil {
		s.store.Close()
		return nil, err
	}
	s.remember(r.Operation.ID)
	return s, nil
}

// missing refuses to make a new repository where one was served: a disk that is not mounted leaves an empty folder, or none.
func (h *Host) missing(root string) error {
	k, ok := h.knownBy(func(k known) bool { return k.path == root })
	if !ok {
		return nil
	}
	for _, name := range []string{".jj", ".git"} {
		if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fault.New(fault.Unavailable, "repo.open", "the repository %s was served from %s, and is not there", k.name, root).
		WithNext("mount its disk, or put the folder back; to begin anew there: git init %s; to do without it: tandem up --repo none", root)
}

// nameOf is how a repository is called in addresses: its folder's name.
func nameOf(root string) string {
	name := strings.TrimSuffix(filepath.Base(root), ".git")
	clean := strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			return c
		}
		return '-'
	}, name)
	if strings.Trim(clean, ".-") == "" {
		return "repo"
	}
	return clean
}

// repoDir is the .jj/repo of a folder; of a secondary workspace it is another
// folder's. It is "" when there is no jj repository.
func repoDir(root string) (string, error) {
	dir := filepath.Join(root, ".jj", "repo")
	st, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil || st.IsDir() {
		return dir, err
	}
	text, err := os.ReadFile(dir)
	if err != nil {
		return "", err
	}
	target := string(text)
	if !filepath.IsAbs(target) {
		target = filepath.Join(root, ".jj", filepath.FromSlash(target))
	}
	return target, nil
}

// adopt makes a folder a jj repository whose git repository people see: the one
// that is there, or a new one. Its own workspace has the server's name, so that
// the first who joins is the default.
func adopt(ctx context.Context, root string, who *repo.Identity) (_ *gitstore.Store, err error) {
	if _, err := os.Stat(filepath.Join(root, "objects")); err == nil {
		if _, err := os.Stat(filepath.Join(root, "HEAD")); err == nil {
			return nil, fault.New(fault.Invalid, "repo.open", "%s is a bare git repository, which has no place for a workspace", root).
				WithNext("clone it (git clone %s FOLDER) and serve the clone", root)
		}
	}
	s, err := gitstore.Init(root, filepath.Join(root, ".git"))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.Close()
			os.RemoveAll(filepath.Join(root, ".jj"))
		}
	}()
	r, err := s.At(ctx, repo.RootOperationID)
	if err != nil {
		return nil, err
	}
	unlock, err := s.LockGit(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	tx := r.Begin(who)
	tx.SetWorkspace(repo.ServerWorkspace)
	if _, err := s.ImportRefs(ctx, tx, gitstore.ImportOptions{}); err != nil {
		return nil, err
	}
	at, err := s.ImportHead(ctx, tx, repo.ServerWorkspace, root)
	if err != nil {
		return nil, err
	}
	parent, tree := repo.RootCommit(), repo.EmptyTree()
	if at != "" {
		if parent, err = s.Commit(ctx, at); err != nil {
			return nil, err
		}
		tree = parent.Tree
	}
	wc, err := tx.CheckOut(ctx, repo.ServerWorkspace, parent)
	if err != nil {
		return nil, err
	}
	if _, err := tx.RebaseDescendants(ctx, repo.RebaseOptions{}); err != nil {
		return nil, err
	}
	if err := s.ResetHead(ctx, tx, repo.ServerWorkspace, root, wc); err != nil {
		return nil, err
	}
	done, err := tx.Finish(ctx, "add workspace '"+repo.ServerWorkspace+"'")
	if err != nil {
		return nil, err
	}
	if err := s.Publish(ctx, done); err != nil {
		return nil, err
	}
	w, err := workcopy.Init(root, s, done.Operation.ID, repo.ServerWorkspace)
	if err != nil {
		return nil, err
	}
	locked, err := w.Lock(ctx)
	if err != nil {
		return nil, err
	}
	if err := locked.Reset(ctx, tree); err != nil { // git has checked the files out already
		locked.Discard()
		return nil, err
	}
	if err := locked.Finish(done.Operation.ID); err != nil {
		return nil, err
	}
	return s, s.SetWorkspaces(ctx, func([]gitstore.Workspace) []gitstore.Workspace {
		return []gitstore.Workspace{{Name: repo.ServerWorkspace, Path: "../.."}}
	})
}

// serverUser is the user's name in the operations that the server makes by itself.
const serverUser = "tandem"

// serverIdentity is in whose name the server merges, imports and exports.
func serverIdentity() *repo.Identity {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	now := func() repo.Timestamp { return repo.Timestamp{Millis: time.Now().UnixMilli()} }
	return &repo.Identity{Name: "tandem", Email: "tandem@" + host, Hostname: host, Username: serverUser,
		Now: now, OpNow: now, NewChangeID: repo.RandomChangeID}
}
