package replica

import (
	"context"
	"os"
	"path/filepath"
	"regexp"

	"tandem/internal/fault"
	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/workcopy"
)

// Served looks for the workspace that a folder lies in and whose repository a
// server serves from there: agents elsewhere have written into its operation log.
// It gives nil for a repository of one's own.
func Served(ctx context.Context, dir string) (_ *Replica, err error) {
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, ".jj")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return nil, nil
		}
	}
	at, err := repoDir(dir)
	if err != nil {
		return nil, err
	}
	r := &Replica{Root: dir}
	if r.Store, err = gitstore.Open(at); err != nil {
		return nil, err
	}
	shared := false
	defer func() {
		if err != nil || !shared {
			r.Store.Close()
		}
	}()
	if r.Workspace, r.seen, err = workcopy.Where(dir); err != nil {
		return nil, err
	}
	heads, err := r.Store.Heads()
	if err != nil {
		return nil, err
	}
	err = repo.WalkOperations(ctx, r.Store, heads, func(o *repo.Operation) (more bool, err error) {
		shared = o.Meta.Attributes["tandem.actor"] != ""
		return !shared, nil
	})
	if err != nil || !shared {
		return nil, err
	}
	return r, nil
}

// reverts finds which operation another one took back, by what jj writes as
// its description.
var reverts = regexp.MustCompile(`^revert operation ([0-9a-f]+)$`)

// eachOwn visits what was done in this workspace, latest first, until visit has
// seen enough or the operation that made the workspace is reached, which is nothing
// to take back. Snapshots are not something anybody did.
func (r *Replica) eachOwn(ctx context.Context, visit func(*repo.Operation) (enough bool, err error)) error {
	heads, err := r.Store.Heads()
	if err != nil {
		return err
	}
	return repo.WalkOperations(ctx, r.Store, heads, func(o *repo.Operation) (more bool, err error) {
		if o.Meta.Workspace != r.Workspace || o.Meta.Snapshot || len(o.Parents) != 1 {
			return true, nil
		}
		if before, err := r.pointerAt(ctx, o.Parents[0]); err != nil || before == "" {
			return false, err
		}
		enough, err := visit(o)
		return !enough, err
	})
}

// LastDone is the operation that undo takes back: the last one made in this
// workspace that is still in effect. Others' operations are not ours to undo.
func (r *Replica) LastDone(ctx context.Context) (last repo.OperationID, err error) {
	taken := map[string]bool{} // operations that are not in effect
	err = r.eachOwn(ctx, func(o *repo.Operation) (enough bool, err error) {
		if taken[o.ID.Hex()] {
			return false, nil
		}
		if m := reverts.FindStringSubmatch(o.Meta.Description); m != nil {
			taken[m[1]] = true
			return false, nil
		}
		last = o.ID
		return true, nil
	})
	if err == nil && last == "" {
		err = fault.New(fault.NotFound, "undo", "nothing was done in this workspace that could be undone").WithNext("see: tandem op log")
	}
	return last, err
}

// LastUndone is the operation that redo takes back: the last undo that is
// still in effect.
func (r *Replica) LastUndone(ctx context.Context) (last repo.OperationID, err error) {
	taken := map[string]bool{}
	err = r.eachOwn(ctx, func(o *repo.Operation) (enough bool, err error) {
		m := reverts.FindStringSubmatch(o.Meta.Description)
		if m == nil {
			return true, nil // something was done since
		}
		target, ok := repo.ParseOperationID(m[1])
		if taken[o.ID.Hex()] || !ok {
			return false, nil
		}
		was, err := r.Store.Operation(ctx, target)
		if err != nil {
			return false, err
		}
		if reverts.MatchString(was.Meta.Description) { // it is a redo
			taken[m[1]] = true
			return false, nil
		}
		last = o.ID
		return true, nil
	})
	if err == nil && last == "" {
		err = fault.New(fault.NotFound, "redo", "nothing was undone in this workspace that could be done again").WithNext("see: tandem op log")
	}
	return last, err
}
