package replica

import (
	"regexp"

	"tandem/internal/fault"
	"tandem/internal/repo"
)

// reverts finds which operation another one took back, by what jj writes as
// its description.
var reverts = regexp.MustCompile(`^revert operation ([0-9a-f]+)$`)

// own lists what was done in this workspace, latest first: snapshots are not
// something anybody did.
func (r *Replica) own() ([]*repo.Operation, error) {
	heads, err := r.Store.Heads()
	if err != nil {
		return nil, err
	}
	var out []*repo.Operation
	err = repo.WalkOperations(r.Store, heads, func(o *repo.Operation) (bool, error) {
		if o.Meta.Workspace == r.Workspace && !o.Meta.Snapshot && len(o.Parents) == 1 {
			out = append(out, o)
		}
		return len(out) < 1000, nil
	})
	return out, err
}

// LastDone is the operation that undo takes back: the last one made in this
// workspace that is still in effect. Others' operations are not ours to undo.
func (r *Replica) LastDone() (repo.OperationID, error) {
	ops, err := r.own()
	if err != nil {
		return "", err
	}
	taken := map[string]bool{} // operations that are not in effect
	for i, o := range ops {
		if taken[o.ID.Hex()] {
			continue
		}
		if m := reverts.FindStringSubmatch(o.Meta.Description); m != nil {
			taken[m[1]] = true
			continue
		}
		if i == len(ops)-1 {
			break // it made the workspace
		}
		return o.ID, nil
	}
	return "", fault.New(fault.NotFound, "undo", "nothing was done in this workspace that could be undone").WithNext("see: tandem op log")
}

// LastUndone is the operation that redo takes back: the last undo that is
// still in effect.
func (r *Replica) LastUndone() (repo.OperationID, error) {
	ops, err := r.own()
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for _, o := range ops {
		m := reverts.FindStringSubmatch(o.Meta.Description)
		if m == nil {
			break // something was done since
		}
		target, ok := repo.ParseOperationID(m[1])
		if taken[o.ID.Hex()] || !ok {
			continue
		}
		was, err := r.Store.Operation(target)
		if err != nil {
			return "", err
		}
		if reverts.MatchString(was.Meta.Description) { // it is a redo
			taken[m[1]] = true
			continue
		}
		return o.ID, nil
	}
	return "", fault.New(fault.NotFound, "redo", "nothing was undone in this workspace that could be done again").WithNext("see: tandem op log")
}
