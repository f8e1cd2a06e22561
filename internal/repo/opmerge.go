package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Loader gives the repository at an operation.
type Loader func(OperationID) (*Repo, error)

// MergeOptions are the choices of a merge of operations; the zero value does
// what jj does.
type MergeOptions struct {
	// Description is the merged operation's.
	Description string
	// Workspace and Attributes are recorded in it.
	Workspace  string
	Attributes map[string]string
	// OwnerWins lets the operation that was made in a workspace decide where
	// that workspace's commit is, when both sides moved it. Without it the
	// earlier operation does. With it a commit that one side only rebased and
	// the other changed is one commit afterwards, not two.
	OwnerWins bool
	// Rebased is told how many commits had to follow rewritten ones; it may be
	// nil.
	Rebased func(n int)
}

// MergeOperations makes one operation of several that know nothing of each
// other, none an ancestor of another, and gives the repository as it is then
// and how many commits were rebased. The order matters where two sides moved
// the same workspace; by custom it is that of end times.
func MergeOperations(ctx context.Context, load Loader, who *Identity, ops []*Operation, o MergeOptions) (*Repo, int, error) {
	if len(ops) == 0 {
		return nil, 0, fmt.Errorf("no operations to merge")
	}
	first, err := load(ops[0].ID)
	if err != nil || len(ops) == 1 {
		return first, 0, err
	}
	tx := first.Begin(who)
	tx.meta.Workspace = o.Workspace
	tx.meta.Attributes = maps.Clone(o.Attributes)
	rebased := 0
	for _, other := range ops[1:] {
		base, err := commonBase(ctx, load, who, first.Store, tx.parents, other.ID)
		if err != nil {
			return nil, 0, err
		}
		otherRepo, err := load(other.ID)
		if err != nil {
			return nil, 0, err
		}
		var owned map[string]bool
		if o.OwnerWins {
			if owned, err = ownedWorkspaces(ctx, first.Store, base.Operation.ID, tx.parents, other.ID); err != nil {
				return nil, 0, err
			}
		}
		tx.parents = append(tx.parents, other.ID)
		if err := tx.merge(ctx, base, otherRepo, owned); err != nil {
			return nil, 0, err
		}
		n, err := tx.RebaseDescendants(ctx, RebaseOptions{})
		if err != nil {
			return nil, 0, err
		}
		rebased += n
	}
	description := o.Description
	if description == "" {
		description = fmt.Sprintf("merge %d operations", len(ops))
	}
	merged, err := tx.Finish(ctx, description)
	return merged, rebased, err
}

// ownedWorkspaces names the workspaces in which the other side made operations
// since the base and ours did not.
func ownedWorkspaces(ctx context.Context, s Store, base OperationID, ours []OperationID, theirs OperationID) (map[string]bool, error) {
	owned := map[string]bool{}
	for _, side := range []struct {
		heads []OperationID
		owns  bool
	}{{[]OperationID{theirs}, true}, {ours, false}} {
		ops, err := OperationRange(ctx, s, []OperationID{base}, side.heads)
		if err != nil {
			return nil, err
		}
		for _, op := range ops {
			if op.Meta.Workspace != "" {
				owned[op.Meta.Workspace] = side.owns
			}
		}
	}
	return owned, nil
}

// commonBase is the repository at the closest common ancestor; several are
// merged first. Such an operation is stored but never published.
func commonBase(ctx context.Context, load Loader, who *Identity, s Store, ours []OperationID, theirs OperationID) (*Repo, error) {
	bases, err := ClosestCommonOperations(ctx, s, ours, []OperationID{theirs})
	if err != nil {
		return nil, err
	}
	if len(bases) == 0 {
		return nil, fmt.Errorf("operations have no common ancestor")
	}
	if len(bases) == 1 {
		return load(bases[0].ID)
	}
	merged, _, err := MergeOperations(ctx, load, who, bases, MergeOptions{})
	return merged, err
}

// ClosestCommonOperations lists the latest operations that both sets descend
// from.
func ClosestCommonOperations(ctx context.Context, s Store, a, b []OperationID) ([]*Operation, error) {
	const first, second, both, covered = 1, 2, 3, 4
	marks, ops := map[OperationID]uint8{}, map[OperationID]*Operation{}
	var queue opQueue
	queued := map[OperationID]bool{}
	mark := func(id OperationID, m uint8) error {
		if marks[id]|m == marks[id] {
			return nil
		}
		marks[id] |= m
		if ops[id] == nil {
			o, err := s.Operation(ctx, id)
			if err != nil {
				return err
			}
			ops[id] = o
		}
		if !queued[id] {
			queued[id] = true
			queue.push(ops[id])
		}
		return nil
	}
	for _, id := range a {
		if err := mark(id, first); err != nil {
			return nil, err
		}
	}
	for _, id := range b {
		if err := mark(id, second); err != nil {
			return nil, err
		}
	}
	live := func() bool {
		for _, o := range queue {
			if marks[o.ID]&covered == 0 {
				return true
			}
		}
		return false
	}
	common := map[OperationID]struct{}{}
	for live() {
		o := queue.pop()
		queued[o.ID] = false
		m := marks[o.ID]
		if m&both == both {
			common[o.ID] = struct{}{}
			m = both | covered
		}
		for _, p := range o.Parents {
			if err := mark(p, m); err != nil {
				return nil, err
			}
		}
	}
	var out []*Operation
	for id := range common {
		if marks[id]&covered == 0 {
			out = append(out, ops[id])
		}
	}
	slices.SortFunc(out, func(a, b *Operation) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return out, nil
}

// Merge applies to the transaction what changed between two repositories:
// undoing merges from an operation to its parent.
func (tx *Tx) Merge(ctx context.Context, base, other *Repo) error {
	return tx.merge(ctx, base, other, nil)
}

func (tx *Tx) merge(ctx context.Context, base, other *Repo, owned map[string]bool) error {
	for _, r := range []*Repo{base, other} {
		if err := tx.Index.AddIndex(r.Index); err != nil {
			return err
		}
	}
	tx.normalizeHeads()
	own, from, to := tx.View, base.View, other.View
	for _, name := range changedKeys(from.Workspaces, to.Workspaces, func(a, b CommitID) bool { return a == b }) {
		mergeWorkspace(own, name, from.Workspaces[name], to.Workspaces[name], owned[name])
	}
	baseHeads, ownHeads, otherHeads := from.HeadIDs(), own.HeadIDs(), to.HeadIDs()
	if err := tx.recordRewrites(ctx, baseHeads, ownHeads); err != nil {
		return err
	}
	if err := tx.recordRewrites(ctx, baseHeads, otherHeads); err != nil {
		return err
	}
	if owned != nil {
		if err := tx.settleRebases(ctx, baseHeads, ownHeads, otherHeads); err != nil {
			return err
		}
	}
	for _, id := range otherHeads {
		if _, ok := from.Heads[id]; !ok {
			own.Heads[id] = struct{}{}
			tx.headsDirty = true
		}
	}
	for _, name := range changedKeys(from.Bookmarks, to.Bookmarks, sameTarget) {
		if err := tx.MergeBookmark(ctx, name, from.Bookmark(name), to.Bookmark(name)); err != nil {
			return err
		}
	}
	for _, name := range changedKeys(from.Tags, to.Tags, sameTarget) {
		tx.MergeTag(name, from.Tag(name), to.Tag(name))
	}
	for _, name := range changedKeys(from.GitRefs, to.GitRefs, sameTarget) {
		own.SetGitRef(name, MergeTargets(tx.Index, own.GitRefs[name], from.GitRefs[name], to.GitRefs[name]))
	}
	tx.mergeRemotes(from, to)
	for _, ws := range changedKeys(from.GitHeads, to.GitHeads, sameTarget) {
		own.SetGitHead(ws, MergeTargets(tx.Index, own.GitHeads[ws], from.GitHeads[ws], to.GitHeads[ws]))
	}
	return nil
}

func (tx *Tx) mergeRemotes(from, to *View) {
	names := keysOf(from.Remotes)
	maps.Copy(names, keysOf(to.Remotes))
	same := func(a, b RemoteRef) bool { return a.Tracked == b.Tracked && sameTarget(a.Target, b.Target) }
	for _, remote := range slices.Sorted(maps.Keys(names)) {
		for _, name := range changedKeys(from.Remotes[remote].Bookmarks, to.Remotes[remote].Bookmarks, same) {
			merged := MergeRemoteRefs(tx.Index, tx.View.RemoteBookmark(remote, name), from.RemoteBookmark(remote, name),
				to.RemoteBookmark(remote, name))
			tx.View.SetRemoteBookmark(remote, name, merged)
		}
		for _, name := range changedKeys(from.Remotes[remote].Tags, to.Remotes[remote].Tags, same) {
			merged := MergeRemoteRefs(tx.Index, tx.View.RemoteTag(remote, name), from.RemoteTag(remote, name), to.RemoteTag(remote, name))
			tx.View.SetRemoteTag(remote, name, merged)
		}
	}
}

// mergeWorkspace merges two moves of a workspace's commit. The pointer goes
// any way it likes, so ancestry says nothing: a removal wins, and else one
// side has to.
func mergeWorkspace(own *View, name string, base, other CommitID, otherWins bool) {
	self := own.Workspaces[name]
	id, ok := Merge[CommitID]{self, base, other}.Trivial()
	switch {
	case ok:
	case self == "" || other == "":
		id = ""
	case otherWins:
		id = other
	default:
		id = self
	}
	if id == "" {
		own.removeWorkspace(name)
		return
	}
	own.Workspaces[name] = id
}

func sameTarget(a, b RefTarget) bool { return orNone(a).Equal(orNone(b)) }

// changedKeys lists in order the names that stand for different things.
func changedKeys[V any](a, b map[string]V, same func(a, b V) bool) []string {
	names := keysOf(a)
	maps.Copy(names, keysOf(b))
	var out []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		x, inA := a[name]
		y, inB := b[name]
		if inA != inB || !same(x, y) {
			out = append(out, name)
		}
	}
	return out
}

// recordRewrites finds by change id what became of the commits that are
// visible from old heads and not from new ones.
func (tx *Tx) recordRewrites(ctx context.Context, old, new []CommitID) error {
	ix := tx.Index
	removed := map[ChangeID][]CommitID{}
	for _, p := range ix.Range(ix.Positions(new), ix.Positions(old)) {
		change := ix.ChangeID(p)
		removed[change] = append(removed[change], ix.ID(p))
	}
	if len(removed) == 0 {
		return nil
	}
	became := map[ChangeID][]CommitID{}
	for _, p := range ix.Range(ix.Positions(old), ix.Positions(new)) {
		change := ix.ChangeID(p)
		became[change] = append(became[change], ix.ID(p))
	}
	for change, olds := range removed {
		for _, id := range olds {
			switch now := became[change]; len(now) {
			case 0:
				c, err := tx.Store.Commit(ctx, id)
				if err != nil {
					return err
				}
				tx.Abandon(c)
			case 1:
				tx.SetRewritten(id, now[0])
			default:
				tx.SetDivergent(id, now)
			}
		}
	}
	return nil
}
