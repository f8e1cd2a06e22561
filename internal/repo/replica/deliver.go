package replica

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/exchange"
	"tandem/internal/repo/gitstore"
)

// Changed is what a workspace would send of the files that were edited in it.
type Changed struct {
	Folder, Workspace string
	Files             []string
}

// deliver sends what waits in a copy, by its .jj/repo. It moves no head and no
// file: the next command follows the server. may is asked before edited files
// go out.
func deliver(ctx context.Context, dir string, m Remote, may func(context.Context, Changed) error) error {
	r, err := openCopy(dir)
	if err != nil {
		return err
	}
	defer r.Close()
	lock, err := gitstore.LockFile(ctx, r.path("sync.lock"))
	if err != nil {
		return err
	}
	defer lock.Unlock()
	workspaces, err := r.waitingIn(ctx)
	if err != nil || len(workspaces) == 0 && !older(dir) {
		return err
	}
	folders, err := r.folders()
	if err != nil {
		return err
	}
	for _, name := range workspaces {
		r.Workspace = name
		files, err := r.Edited(ctx)
		if err == nil && len(files) > 0 {
			err = may(ctx, Changed{Folder: folders[name], Workspace: name, Files: files})
		}
		if err != nil {
			return err
		}
	}
	_, err = r.bring(ctx, m)
	return err
}

// openCopy opens a copy, whichever of its workspaces is meant.
func openCopy(dir string) (*Replica, error) {
	c, err := ReadConfig(dir)
	if err != nil {
		return nil, err
	}
	s, err := gitstore.Open(dir)
	if err != nil {
		return nil, err
	}
	return &Replica{Config: c, Workspace: c.First, Store: s}, nil
}

// waitingIn names the workspaces whose operations the server has not got yet.
func (r *Replica) waitingIn(ctx context.Context) ([]string, error) {
	ops, err := r.waiting(ctx)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, o := range ops {
		name := o.Meta.Workspace
		if name == "" {
			name = r.First
		}
		names[name] = true
	}
	return slices.Sorted(maps.Keys(names)), nil
}

// folders are the workspaces' folders.
func (r *Replica) folders() (map[string]string, error) {
	list, err := r.Store.Workspaces()
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, w := range list {
		path := filepath.FromSlash(w.Path)
		if !filepath.IsAbs(path) {
			path = filepath.Join(r.Store.Dir(), path)
		}
		out[w.Name] = path
	}
	return out, nil
}

// standing is where a copy and what is known of its server are: while it stays
// the same, nothing new waits. settled is true when nothing can.
func standing(dir string) (at string, settled bool, err error) {
	heads, err := gitstore.HeadsAt(dir)
	if err != nil {
		return "", false, err
	}
	known, err := readHint[Known](stateFile(dir, "known.json"))
	if err != nil {
		return "", false, err
	}
	return strings.Join(exchange.Hex(heads), " ") + " " + known.Head, len(heads) == 1 && heads[0].Hex() == known.Head, nil
}

// Undelivered says whether something waits in a copy. One that is gone has
// nothing.
func Undelivered(ctx context.Context, dir string) bool {
	if _, settled, err := standing(dir); err != nil || settled {
		return false
	}
	r, err := openCopy(dir)
	if err != nil {
		return false
	}
	defer r.Close()
	n, err := r.Waiting(ctx)
	return err == nil && n > 0
}

// deliverAll sends what waits in the copies that are followed, now that the
// server answers. A copy that was refused is left until something changes in it:
// its next command says why.
func (w *Watcher) deliverAll(ctx context.Context) {
	w.mu.Lock()
	dirs := slices.Collect(maps.Keys(w.copies))
	w.mu.Unlock()
	for _, dir := range dirs {
		at, settled, err := standing(dir)
		if err != nil || settled && !older(dir) || w.tried[dir] == at || ctx.Err() != nil {
			continue
		}
		if err := deliver(ctx, dir, w.Remote, w.May); fault.Is(err, fault.Unavailable) || errors.Is(err, context.Canceled) {
			return
		}
		if at, _, err := standing(dir); err == nil {
			w.tried[dir] = at
		}
	}
}

// waiting lists the operations that the server has not got yet, latest first.
func (r *Replica) waiting(ctx context.Context) ([]*repo.Operation, error) {
	known, err := r.Known()
	if err != nil {
		return nil, err
	}
	var roots []repo.OperationID
	if id, ok := repo.ParseOperationID(known.Head); ok && r.Store.HasOperation(id) {
		roots = append(roots, id)
	}
	heads, err := r.Store.Heads()
	if err != nil {
		return nil, err
	}
	return repo.OperationRange(ctx, r.Store, roots, heads)
}
