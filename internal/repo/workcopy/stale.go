package workcopy

import (
	"context"
	"errors"
	"slices"

	"tandem/internal/repo"
)

// Freshness is how a working copy stands to the repository.
type Freshness uint8

// The states of a working copy.
const (
	// Fresh: the files are those of the workspace's commit, or were before
	// somebody edited them.
	Fresh Freshness = iota
	// Ahead: the working copy is at a later operation than the repository that
	// was loaded; load the repository at the working copy's operation.
	Ahead
	// Stale: the repository has moved the workspace's commit and the files have
	// not followed.
	Stale
	// Sibling: the working copy's operation and the repository's know nothing
	// of each other.
	Sibling
	// Lost: the working copy's operation is not in the repository.
	Lost
)

// Check says how a working copy stands to a repository whose commit for this
// workspace is wanted.
func (w *WorkingCopy) Check(ctx context.Context, r *repo.Repo, wanted *repo.Commit) (Freshness, error) {
	// With the right files on disk it does not matter how they came there, and
	// nobody need read the operations between.
	if w.at.op == r.Operation.ID || wanted.Tree.Equal(w.state.tree) {
		return Fresh, nil
	}
	if _, err := r.Store.Operation(ctx, w.at.op); err != nil {
		var missing *repo.MissingError
		if errors.As(err, &missing) {
			return Lost, nil
		}
		return Lost, err
	}
	bases, err := repo.ClosestCommonOperations(ctx, r.Store, []repo.OperationID{w.at.op}, []repo.OperationID{r.Operation.ID})
	if err != nil {
		return Lost, err
	}
	at := func(id repo.OperationID) bool {
		return slices.ContainsFunc(bases, func(o *repo.Operation) bool { return o.ID == id })
	}
	switch {
	case at(r.Operation.ID):
		return Ahead, nil
	case at(w.at.op):
		return Stale, nil
	}
	return Sibling, nil
}
