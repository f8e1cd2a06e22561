package repo

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Tx is a change to a repository in the making: commits are written as it
// goes, and Finish makes one operation of it all. Nothing of it is visible
// before that operation is published. A Tx is not for concurrent use.
type Tx struct {
	Store Store
	View  *View // of this transaction; heads are kept by its methods
	Index *Index
	// Anonymous commits do not carry their predecessors: two that are otherwise
	// the same are then one and the same, and writing it again is an error.
	Anonymous bool

	base         *Repo
	parents      []OperationID
	who          *Identity
	meta         OperationMeta
	predecessors map[CommitID][]CommitID
	rewrites     map[CommitID]rewrite
	headsDirty   bool
}

// rewrite is what has become of a commit.
type rewrite struct {
	kind rewriteKind
	to   []CommitID
}

type rewriteKind uint8

const (
	rewritten rewriteKind = iota // children and refs move to the one commit
	divergent                    // refs become conflicted, children stay
	abandoned                    // children move to these parents
)

// Begin starts a transaction on a repository.
func (r *Repo) Begin(who *Identity) *Tx {
	now := who.OpNow()
	return &Tx{
		Store: r.Store, View: r.View.Clone(), Index: r.Index.Extend(),
		base: r, parents: []OperationID{r.Operation.ID}, who: who,
		meta:         OperationMeta{Start: now, End: now, Hostname: who.Hostname, Username: who.Username},
		predecessors: map[CommitID][]CommitID{},
		rewrites:     map[CommitID]rewrite{},
	}
}

// Base is the repository the transaction started from.
func (tx *Tx) Base() *Repo { return tx.base }

// SetWorkspace records which workspace the operation is made in.
func (tx *Tx) SetWorkspace(name string) { tx.meta.Workspace = name }

// SetSnapshot marks the operation as a snapshot of a working copy.
func (tx *Tx) SetSnapshot() { tx.meta.Snapshot = true }

// SetAttribute records a fact about the operation, such as the command line
// under "args".
func (tx *Tx) SetAttribute(key, value string) {
	if tx.meta.Attributes == nil {
		tx.meta.Attributes = map[string]string{}
	}
	tx.meta.Attributes[key] = value
}

// HasChanges says whether there is anything to make an operation of.
func (tx *Tx) HasChanges() bool {
	return len(tx.predecessors) > 0 || len(tx.rewrites) > 0 || tx.View.ComputeID() != tx.base.View.ComputeID()
}

// AddHead makes a stored commit and its ancestors visible.
func (tx *Tx) AddHead(ctx context.Context, c *Commit) error {
	onHeads := true
	for _, p := range c.Parents {
		_, ok := tx.View.Heads[p]
		onHeads = onHeads && ok
	}
	if err := tx.Index.AddAll(ctx, tx.Store, []CommitID{c.ID}); err != nil {
		return err
	}
	tx.View.Heads[c.ID] = struct{}{}
	if !onHeads {
		tx.headsDirty = true
		return nil
	}
	for _, p := range c.Parents {
		delete(tx.View.Heads, p)
	}
	return nil
}

// AddHeads makes stored commits and their ancestors visible.
func (tx *Tx) AddHeads(ctx context.Context, ids []CommitID) error {
	if err := tx.Index.AddAll(ctx, tx.Store, ids); err != nil {
		return err
	}
	for _, id := range ids {
		tx.View.Heads[id] = struct{}{}
		tx.headsDirty = true
	}
	return nil
}

// RemoveHead hides a head.
func (tx *Tx) RemoveHead(id CommitID) {
	delete(tx.View.Heads, id)
	tx.headsDirty = true
}

// SetView replaces the whole view, as undoing does. All its commits must be
// stored.
func (tx *Tx) SetView(ctx context.Context, v *View) error {
	if err := tx.Index.AddAll(ctx, tx.Store, v.CommitIDs()); err != nil {
		return err
	}
	tx.View = v.Clone()
	tx.headsDirty = true
	return nil
}

func (tx *Tx) normalizeHeads() {
	if !tx.headsDirty {
		return
	}
	tx.headsDirty = false
	heads := tx.View.Heads
	if len(heads) > 1 {
		delete(heads, RootCommitID)
		kept := map[CommitID]struct{}{}
		for _, id := range tx.Index.HeadIDs(slices.Collect(maps.Keys(heads))) {
			kept[id] = struct{}{}
		}
		tx.View.Heads = kept
	}
	if len(tx.View.Heads) == 0 {
		tx.View.Heads = map[CommitID]struct{}{RootCommitID: {}}
	}
}

// Finish stores the view and the operation and gives the repository as it is
// then. Descendants of rewritten commits must have been rebased.
func (tx *Tx) Finish(ctx context.Context, description string) (*Repo, error) {
	if len(tx.rewrites) > 0 {
		return nil, fmt.Errorf("descendants have not been rebased after the last rewrites")
	}
	tx.normalizeHeads()
	view, err := tx.Store.PutView(ctx, tx.View)
	if err != nil {
		return nil, err
	}
	op := &Operation{View: view, Parents: tx.parents, Meta: tx.meta, Predecessors: tx.predecessors}
	op.Meta.Description = description
	op.Meta.End = tx.who.OpNow()
	if err := tx.Store.PutOperation(ctx, op); err != nil {
		return nil, err
	}
	return &Repo{Store: tx.Store, Operation: op, View: tx.View, Index: tx.Index}, nil
}

// SetPredecessors records what a commit that came from outside replaces.
func (tx *Tx) SetPredecessors(id CommitID, olds []CommitID) {
	tx.predecessors[id] = slices.Clone(olds)
}

// Visible is the set of commits that can be seen in the transaction now.
func (tx *Tx) Visible() PosSet { return tx.Index.Ancestors(tx.headPositions()) }
