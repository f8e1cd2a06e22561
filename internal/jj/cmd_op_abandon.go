// `jj operation abandon`, as jj 0.45.1 has it: operations after the gap are written anew; the current one cannot go.

package jj

import (
	"context"
	"slices"
	"strings"

	"tandem/internal/repo"
)

// runOpAbandon takes operations out of the log: those that follow are written
// anew on top of what came before.
func runOpAbandon(ctx context.Context, e *env, p *parsed) error {
	if e.global.atOp != "" {
		return clif("--at-op is not respected")
	}
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return err
	}
	head := w.repo.Operation
	dest, last, err := w.ops.abandonRange(ctx, p.str("op"))
	if err != nil {
		return err
	}
	if last.ID == head.ID {
		return userf("Cannot abandon the current operation %s", shortOp(head.ID)).
			hinted("Run `jj undo` to revert the current operation, then use `jj op abandon`")
	}
	move, err := repo.OperationRange(ctx, w.store, []repo.OperationID{last.ID}, []repo.OperationID{head.ID})
	if err != nil {
		return err
	}
	gone, err := repo.OperationRange(ctx, w.store, []repo.OperationID{dest.ID}, []repo.OperationID{last.ID})
	if err != nil {
		return err
	}
	now, err := w.ops.reparentOps(ctx, move, dest)
	if err != nil {
		return err
	}
	if now == head.ID {
		w.ui.statusf("Nothing changed.\n")
		return nil
	}
	w.ui.statusf("Abandoned %d operations and reparented %d descendant operations.\n", len(gone), len(move))
	if err := w.store.PublishHead(now, head.ID); err != nil {
		return err
	}
	if w.global.ignoreWorkingCopy {
		return nil
	}
	locked, err := w.wc.Lock(ctx)
	if err != nil {
		return internalf(err, "Failed to access working copy state")
	}
	if at := w.wc.Operation(); at != head.ID {
		locked.Discard()
		w.ui.warnf("The working copy operation %s is not updated because it differs from the repo %s.", shortOp(at), shortOp(head.ID))
		return nil
	}
	return locked.Finish(now)
}

// abandonRange reads "a..b", or one operation: what stays last before the gap,
// and what goes last.
func (l *opLog) abandonRange(ctx context.Context, arg string) (dest, last *repo.Operation, err error) {
	from, to, ranged := strings.Cut(arg, "..")
	if !ranged {
		if last, err = l.resolve(ctx, arg, l.repo); err != nil {
			return nil, nil, err
		}
		switch len(last.Parents) {
		case 0:
			return nil, nil, userf("Cannot abandon the root operation")
		case 1:
			dest, err = l.store.Operation(ctx, last.Parents[0])
			return dest, last, err
		}
		return nil, nil, userf("Cannot abandon a merge operation")
	}
	if from == "" {
		dest, err = l.store.Operation(ctx, repo.RootOperationID)
	} else {
		dest, err = l.resolve(ctx, from, l.repo)
	}
	if err != nil {
		return nil, nil, err
	}
	last = l.repo.Operation
	if to != "" {
		last, err = l.resolve(ctx, to, l.repo)
	}
	return dest, last, err
}

// reparentOps writes operations, latest first, on top of another, and gives
// the new head.
func (l *opLog) reparentOps(ctx context.Context, ops []*repo.Operation, dest *repo.Operation) (repo.OperationID, error) {
	at := dest.ID
	written := map[repo.OperationID]repo.OperationID{}
	for _, old := range slices.Backward(ops) {
		o := *old
		o.Parents = nil
		used := false
		for _, id := range old.Parents {
			if n, ok := written[id]; ok {
				o.Parents = append(o.Parents, n)
			} else if !used {
				used = true
				o.Parents = append(o.Parents, dest.ID)
			}
		}
		if err := l.store.PutOperation(ctx, &o); err != nil {
			return "", err
		}
		written[old.ID], at = o.ID, o.ID
	}
	return at, nil
}
