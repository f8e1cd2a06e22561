package gitstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tandem/internal/repo"
)

// At is the repository as it is at an operation.
func (s *Store) At(ctx context.Context, id repo.OperationID) (*repo.Repo, error) {
	op, err := s.Operation(ctx, id)
	if err != nil {
		return nil, err
	}
	view, err := s.View(ctx, op.View)
	if err != nil {
		return nil, err
	}
	ix, err := s.Index(ctx, op)
	if err != nil {
		return nil, err
	}
	return &repo.Repo{Store: s, Operation: op, View: view, Index: ix}, nil
}

// Head is the repository as it is now. When writers raced and left several
// heads, they are merged into one operation first, in the given name; merged
// is then the number of heads that were.
func (s *Store) Head(ctx context.Context, who *repo.Identity, o repo.MergeOptions) (r *repo.Repo, merged int, err error) {
	heads, err := s.Heads()
	if err != nil {
		return nil, 0, err
	}
	if len(heads) == 1 {
		r, err = s.At(ctx, heads[0])
		return r, 0, err
	}
	unlock, err := s.LockHeads(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer unlock()
	return s.mergeHeads(ctx, func(id repo.OperationID) (*repo.Repo, error) { return s.At(ctx, id) }, who, nil, o)
}

// mergeHeads makes one head of all and of operations that are to become heads;
// the caller holds the lock.
func (s *Store) mergeHeads(ctx context.Context, load repo.Loader, who *repo.Identity, add []repo.OperationID,
	o repo.MergeOptions) (*repo.Repo, int, error) {
	heads, err := s.Heads()
	if err != nil {
		return nil, 0, err
	}
	all := slices.Concat(heads, add)
	slices.Sort(all)
	tops, stale, err := s.topOperations(ctx, slices.Compact(all))
	if err != nil {
		return nil, 0, err
	}
	if len(tops) == 1 {
		r, err := load(tops[0].ID)
		if err != nil {
			return nil, 0, err
		}
		if len(stale) > 0 {
			err = s.PublishHead(tops[0].ID, stale...)
		}
		return r, 0, err
	}
	if o.Description == "" {
		o.Description = "reconcile divergent operations"
	}
	r, n, err := repo.MergeOperations(ctx, load, who, tops, o)
	if err != nil {
		return nil, 0, fmt.Errorf("merge operations: %w", err)
	}
	if o.Rebased != nil {
		o.Rebased(n)
	}
	if err := s.SaveIndex(r.Operation.ID, r.Index); err != nil {
		return nil, 0, err
	}
	return r, len(tops), s.PublishHead(r.Operation.ID, append(stale, r.Operation.Parents...)...)
}

// topOperations separates heads from those that are ancestors of others, and
// orders the former by end time.
func (s *Store) topOperations(ctx context.Context, heads []repo.OperationID) (tops []*repo.Operation, stale []repo.OperationID, err error) {
	for i, id := range heads {
		others := slices.Concat(heads[:i:i], heads[i+1:])
		above, err := repo.OperationRange(ctx, s, others, []repo.OperationID{id})
		if err != nil {
			return nil, nil, err
		}
		if len(above) == 0 {
			stale = append(stale, id)
			continue
		}
		op, err := s.Operation(ctx, id)
		if err != nil {
			return nil, nil, err
		}
		tops = append(tops, op)
	}
	slices.SortStableFunc(tops, func(a, b *repo.Operation) int {
		return cmp.Compare(a.Meta.End.Millis, b.Meta.End.Millis)
	})
	return tops, stale, nil
}

// Publish makes a finished transaction's operation the head in place of its
// parents. Everything it names is durable when this returns.
func (s *Store) Publish(ctx context.Context, r *repo.Repo) error {
	if err := s.SaveIndex(r.Operation.ID, r.Index); err != nil {
		return err
	}
	unlock, err := s.LockHeads(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return s.PublishHead(r.Operation.ID, r.Operation.Parents...)
}
