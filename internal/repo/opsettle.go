package repo

import (
	"context"
	"maps"
	"slices"
)

// settleRebases looks at commits that both sides rewrote. When one of them only
// rebased it, as everybody does to what stands on a commit they change, and the
// other changed it, then the change stands and the rebase is done again on top
// of it: nobody meant two versions.
func (tx *Tx) settleRebases(ctx context.Context, base, own, other []CommitID) error {
	ours, theirs := tx.rewritten(base, own), tx.rewritten(base, other)
	for _, id := range slices.Sorted(maps.Keys(theirs)) {
		a, b := ours[id], theirs[id]
		if a == "" || a == b {
			continue
		}
		onlyA, err := tx.onlyRebased(ctx, id, a)
		if err != nil {
			return err
		}
		onlyB, err := tx.onlyRebased(ctx, id, b)
		if err != nil {
			return err
		}
		switch {
		case onlyA && !onlyB:
			tx.SetRewritten(id, b)
			tx.SetRewritten(a, b)
		case onlyB && !onlyA:
			tx.SetRewritten(id, a)
			tx.SetRewritten(b, a)
		}
	}
	return nil
}

// rewritten finds the commits visible from old heads that became exactly one
// other commit of the same change.
func (tx *Tx) rewritten(old, new []CommitID) map[CommitID]CommitID {
	ix := tx.Index
	became := map[ChangeID][]CommitID{}
	for _, p := range ix.Range(ix.Positions(old), ix.Positions(new)) {
		became[ix.ChangeID(p)] = append(became[ix.ChangeID(p)], ix.ID(p))
	}
	out := map[CommitID]CommitID{}
	for _, p := range ix.Range(ix.Positions(new), ix.Positions(old)) {
		if now := became[ix.ChangeID(p)]; len(now) == 1 {
			out[ix.ID(p)] = now[0]
		}
	}
	return out
}

// onlyRebased says whether a commit is another one with nothing changed but
// where it stands.
func (tx *Tx) onlyRebased(ctx context.Context, old, now CommitID) (bool, error) {
	a, err := tx.Store.Commit(ctx, old)
	if err != nil {
		return false, err
	}
	b, err := tx.Store.Commit(ctx, now)
	if err != nil {
		return false, err
	}
	if a.Description != b.Description || a.Author.Name != b.Author.Name || a.Author.Email != b.Author.Email ||
		slices.Equal(a.Parents, b.Parents) {
		return false, nil
	}
	d, err := tx.NewMove(a, b.Parents).RebaseDraft(ctx, RebaseOptions{})
	if err != nil {
		return false, err
	}
	return d.Tree.SameIDs(b.Tree), nil
}
