package workcopy

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
)

// WorkingCopy is the files of a workspace and what is known of them.
type WorkingCopy struct {
	Root string // the workspace's folder
	// Ends is how ends of lines are treated, and KeepExec leaves executable
	// bits in the repository alone.
	Ends     LineEnds
	KeepExec bool

	dir   string // .jj/working_copy
	store repo.Store
	at    checkout
	state *treeState
	seen  os.FileInfo // of tree_state when it was read
}

// Open reads the state of the working copy in a workspace's folder.
func Open(root string, s repo.Store) (*WorkingCopy, error) {
	w := &WorkingCopy{Root: root, dir: filepath.Join(root, ".jj", "working_copy"), store: s}
	return w, w.read()
}

// Where says which workspace a folder is, and the operation its files were last
// brought up to. What is known of the files themselves is not read.
func Where(root string) (workspace string, at repo.OperationID, err error) {
	c, err := readCheckout(filepath.Join(root, ".jj", "working_copy", "checkout"))
	return c.workspace, c.op, err
}

func (w *WorkingCopy) read() (err error) {
	typ, err := os.ReadFile(filepath.Join(w.dir, "type"))
	if err != nil {
		return fmt.Errorf("open working copy: %w", err)
	}
	if string(typ) != "local" {
		return fmt.Errorf("the working copy is of type %q; only \"local\" can be opened here", typ)
	}
	if w.at, err = readCheckout(filepath.Join(w.dir, "checkout")); err != nil {
		return err
	}
	// The state of many files takes time to read; an untouched one need not be
	// read twice.
	path := filepath.Join(w.dir, "tree_state")
	now, statErr := os.Lstat(path)
	if statErr == nil && w.seen != nil && os.SameFile(now, w.seen) && now.ModTime().Equal(w.seen.ModTime()) {
		return nil
	}
	w.state, err = readTreeState(path)
	w.seen = now
	return err
}

// Init makes the state of a working copy that has no files yet, at an
// operation that knows the workspace.
func Init(root string, s repo.Store, op repo.OperationID, workspace string) (*WorkingCopy, error) {
	w := &WorkingCopy{
		Root: root, dir: filepath.Join(root, ".jj", "working_copy"), store: s,
		at: checkout{op, workspace}, state: newTreeState(),
	}
	if err := os.MkdirAll(w.dir, 0o777); err != nil {
		return nil, err
	}
	if err := w.save(true); err != nil {
		return nil, err
	}
	return w, os.WriteFile(filepath.Join(w.dir, "type"), []byte("local"), 0o666)
}

// save writes where the files are and, when that has changed, what is known of
// them: of many files that is long.
func (w *WorkingCopy) save(files bool) error {
	if files {
		path := filepath.Join(w.dir, "tree_state")
		if err := replaceFile(path, w.state.encode()); err != nil {
			return fmt.Errorf("write working-copy state: %w", err)
		}
		if st, err := os.Lstat(path); err == nil {
			w.state.mtime, w.seen = st.ModTime().UnixMilli(), st
		}
	}
	if err := replaceFile(filepath.Join(w.dir, "checkout"), w.at.encode()); err != nil {
		return fmt.Errorf("write checkout state: %w", err)
	}
	return nil
}

// Operation is the operation the files were last brought up to.
func (w *WorkingCopy) Operation() repo.OperationID { return w.at.op }

// Workspace is the workspace's name.
func (w *WorkingCopy) Workspace() string { return w.at.workspace }

// Tree is the tree the files were last made equal to.
func (w *WorkingCopy) Tree() repo.MergedTree { return w.state.tree }

// Sparse are the prefixes of the paths that are checked out; "" is all.
func (w *WorkingCopy) Sparse() []repo.Path { return w.state.sparse }

// Files is what is known of the tracked files, in order of path.
func (w *WorkingCopy) Files() []FileState { return w.state.files }

// Locked is a working copy that nobody else changes meanwhile. Finish keeps
// what was done to it, Discard does not; one of them must be called.
type Locked struct {
	*WorkingCopy
	lock  *gitstore.Lock
	dirty bool
	// Style is how conflicts are written into files.
	Style repo.MarkerStyle
	// IgnoreExec leaves executable bits as they are, for disks that have none.
	IgnoreExec bool
}

// Lock waits until nobody else changes the working copy, and reads its state
// again.
func (w *WorkingCopy) Lock(ctx context.Context) (*Locked, error) {
	lock, err := gitstore.LockFile(ctx, filepath.Join(w.dir, "working_copy.lock"))
	if err != nil {
		return nil, err
	}
	l := &Locked{WorkingCopy: w, lock: lock, IgnoreExec: noExecBits || w.KeepExec}
	if err := w.read(); err != nil {
		lock.Unlock()
		return nil, err
	}
	return l, nil
}

// Finish saves the state as of an operation and unlocks.
func (l *Locked) Finish(op repo.OperationID) error {
	defer l.lock.Unlock()
	if !l.dirty && l.at.op == op {
		return nil
	}
	l.at.op = op
	return l.save(l.dirty)
}

// Discard unlocks without saving. Files already changed stay changed, and the
// next snapshot sees them.
func (l *Locked) Discard() {
	l.seen = nil
	l.lock.Unlock()
}

// Rename gives the workspace another name.
func (l *Locked) Rename(name string) {
	l.at.workspace = name
	l.dirty = true
}
