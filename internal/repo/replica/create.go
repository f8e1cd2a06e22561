package replica

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/workcopy"
)

// Signer is in whose name a workspace is made by an actor of the server.
type Signer func(actor string) *repo.Identity

// Create makes a workspace of a name that the server has given us, in a folder
// that has none. What was fetched before a failure stays, and calling it again
// goes on from there.
func Create(ctx context.Context, root string, c Config, m Remote, who Signer, progress func(done, total int)) (_ *Replica,
	err error) {
	r := &Replica{Config: c, Root: root, Workspace: c.First, Progress: progress}
	dir := filepath.Join(root, ".jj", "repo")
	if _, statErr := os.Stat(dir); statErr == nil {
		if r.Store, err = gitstore.Open(dir); err != nil {
			return nil, err
		}
	} else if r.Store, err = gitstore.Init(root, ""); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			r.Store.Close()
		}
	}()
	if err := writeJSON(r.path("replica.json"), c); err != nil {
		return nil, err
	}
	if err := r.keepObjects(); err != nil {
		return nil, err
	}
	begun, err := r.begun(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := r.Sync(ctx, m, nil); err != nil {
		return nil, err
	}
	if err := r.addWorkspace(ctx, who, begun); err != nil {
		return nil, err
	}
	if _, err := r.Sync(ctx, m, nil); err != nil {
		return nil, err
	}
	return r, nil
}

// Unfinished is what a folder was going to be a copy of when its making was
// interrupted; ok is false when there is no such thing.
func Unfinished(ctx context.Context, root string) (c Config, ok bool) {
	dir := filepath.Join(root, ".jj", "repo")
	if ok, err := readJSON(stateFile(dir, "replica.json"), &c); err != nil || !ok {
		return c, false
	}
	if _, err := os.Stat(filepath.Join(root, ".jj", "working_copy", "checkout")); errors.Is(err, os.ErrNotExist) {
		return c, true
	}
	r, err := Open(root)
	if err != nil {
		return c, false
	}
	defer r.Close()
	known, err := r.Known()
	if err != nil {
		return c, false
	}
	head, told := repo.ParseOperationID(known.Head)
	if !told {
		return c, true
	}
	at, err := r.pointerAt(ctx, head)
	return c, err == nil && at == "" && r.Workspace == c.First // the server has not heard of it
}

// begun says whether an earlier call has made the workspace's first commit here.
func (r *Replica) begun(ctx context.Context) (bool, error) {
	head, err := r.Head()
	if err != nil || head == "" {
		return false, err
	}
	at, err := r.pointerAt(ctx, head)
	return at != "", err
}

// keepObjects keeps git from collecting objects that only operations name.
func (r *Replica) keepObjects() error {
	path := filepath.Join(r.Store.GitDir(), "config")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString("[gc]\n\tauto = 0\n")
	return errors.Join(err, f.Close())
}

// addWorkspace starts the workspace where the server's own folder started: on
// the parents of its working copy, or on nothing. One that was begun gets its
// files.
func (r *Replica) addWorkspace(ctx context.Context, who Signer, begun bool) error {
	if begun {
		head, err := r.Head()
		if err != nil {
			return err
		}
		wc, err := r.commitAt(ctx, head)
		if err != nil || wc == nil {
			return errors.Join(err, fmt.Errorf("the workspace %s is not at operation %.12s", r.Workspace, head.Hex()))
		}
		return r.putFiles(ctx, head, wc)
	}
	known, err := r.Known()
	if err != nil {
		return err
	}
	head, ok := repo.ParseOperationID(known.Head)
	if !ok {
		return fmt.Errorf("nothing is known of the server")
	}
	at, err := r.Store.At(ctx, head)
	if err != nil {
		return err
	}
	if _, taken := at.View.Workspaces[r.Workspace]; taken {
		return fault.New(fault.Conflict, "workspace.claim", "there is a workspace %q already", r.Workspace).
			WithNext("choose another name with --workspace")
	}
	parents := []repo.CommitID{repo.RootCommitID}
	own, ok := at.View.Workspaces[repo.ServerWorkspace]
	if !ok { // the repository was there before the server was
		own, ok = at.View.Workspaces[repo.DefaultWorkspace]
	}
	if ok {
		c, err := r.Store.Commit(ctx, own)
		if err != nil {
			return err
		}
		parents = c.Parents
	}
	var list []*repo.Commit
	for _, p := range parents {
		c, err := r.Store.Commit(ctx, p)
		if err != nil {
			return err
		}
		list = append(list, c)
	}
	tree, err := repo.ParentsTree(ctx, r.Store, at.Index, list)
	if err != nil {
		return err
	}
	tx := at.Begin(who(known.Actor))
	tx.SetWorkspace(r.Workspace)
	wc, err := tx.Write(ctx, tx.NewCommit(parents, tree))
	if err != nil {
		return err
	}
	if err := tx.Edit(ctx, r.Workspace, wc); err != nil {
		return err
	}
	done, err := tx.Finish(ctx, fmt.Sprintf("create initial working-copy commit in workspace %s", r.Workspace))
	if err != nil {
		return err
	}
	if err := r.Store.Publish(ctx, done); err != nil {
		return err
	}
	return r.putFiles(ctx, done.Operation.ID, wc)
}

// putFiles checks the workspace's first commit out.
func (r *Replica) putFiles(ctx context.Context, at repo.OperationID, wc *repo.Commit) error {
	w, err := workcopy.Open(r.Root, r.Store)
	if errors.Is(err, os.ErrNotExist) {
		w, err = workcopy.Init(r.Root, r.Store, at, r.Workspace)
	}
	if err != nil {
		return err
	}
	locked, err := w.Lock(ctx)
	if err != nil {
		return err
	}
	if _, err := r.Commanding(ctx, r.Store, r.Workspace, repo.EmptyTree(), wc); err != nil {
		locked.Discard()
		return err
	}
	if _, err := locked.CheckOut(ctx, wc.Tree); err != nil {
		locked.Discard()
		return err
	}
	if err := locked.Finish(at); err != nil {
		return err
	}
	return r.Store.SetWorkspaces(ctx, func([]gitstore.Workspace) []gitstore.Workspace {
		return []gitstore.Workspace{{Name: r.Workspace, Path: "../.."}}
	})
}
