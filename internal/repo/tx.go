package repo

import (
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

// Draft is a commit that can still be changed before Write.
type Draft struct {
	Commit
	// Predecessors are the commits this one replaces or derives from.
	Predecessors []CommitID
	// Signing is what Identity.Sign is told about this commit.
	Signing Signing
	source  *Commit
}

// Signing says how to sign a commit.
type Signing struct {
	Had   bool   // an earlier version was signed
	Force bool   // whatever the settings say
	Drop  bool   // not at all
	Key   string // instead of the usual one
}

// NewCommit drafts a commit of a new change.
func (tx *Tx) NewCommit(parents []CommitID, tree MergedTree) *Draft {
	sig := tx.who.Signature()
	return &Draft{Commit: Commit{
		Parents: slices.Clone(parents), Tree: tree, ChangeID: tx.who.NewChangeID(),
		Author: sig, Committer: sig,
	}}
}

// Rewrite drafts a new version of a commit. When it is written, the old one is
// replaced: refs follow at once, descendants with RebaseDescendants.
func (tx *Tx) Rewrite(old *Commit) (*Draft, error) {
	d := &Draft{Commit: *old.Clone(), Predecessors: []CommitID{old.ID}, source: old}
	d.ID, d.Signed, d.Signing.Had = "", nil, old.Signed != nil
	d.Committer = tx.who.Signature()
	if d.Author.Name == "" {
		d.Author.Name = d.Committer.Name
	}
	if d.Author.Email == "" {
		d.Author.Email = d.Committer.Email
	}
	// An empty commit of one's own without description is born when something
	// is first put into it.
	if d.Author.Name == d.Committer.Name && d.Author.Email == d.Committer.Email {
		discardable, err := tx.IsDiscardable(old)
		if err != nil {
			return nil, err
		}
		if discardable {
			d.Author.When = d.Committer.When
		}
	}
	return d, nil
}

// AsNew makes a draft of a rewrite a commit beside the old one, which stays.
func (d *Draft) AsNew() { d.source = nil }

// Renew gives the draft a change id of its own.
func (tx *Tx) Renew(d *Draft) { d.ChangeID = tx.who.NewChangeID() }

// Write stores a draft and makes it visible in the transaction. When a change
// comes back within a second to what it was, its commit exists already; like
// jj, the new one is then dated a second earlier if it has other predecessors,
// so that each rewrite is a commit of its own.
func (tx *Tx) Write(d *Draft) (*Commit, error) {
	c, err := tx.put(d)
	for tries := 0; err == nil && tx.Index.Has(c.ID); tries++ {
		same, err := tx.sameOrigin(c.ID, d.Predecessors)
		if err != nil {
			return nil, err
		}
		if same || tries == 100 {
			return nil, fmt.Errorf("Newly-created commit %s already exists", c.ID.Hex())
		}
		d.Committer.When.Millis -= 1000
		if c, err = tx.put(d); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	if err := tx.AddHead(c); err != nil {
		return nil, err
	}
	tx.predecessors[c.ID] = slices.Clone(d.Predecessors)
	if d.source != nil {
		tx.SetRewritten(d.source.ID, c.ID)
	}
	return c, nil
}

// put signs a draft, if it is to be signed, and stores it.
func (tx *Tx) put(d *Draft) (*Commit, error) {
	d.Signed = nil
	if tx.who.Sign != nil && !d.Signing.Drop {
		data, err := EncodeCommit(tx.Store, &d.Commit)
		if err != nil {
			return nil, err
		}
		sig, err := tx.who.Sign(d, data)
		if err != nil {
			return nil, err
		}
		if sig != nil {
			d.Signed = &Signed{Data: data, Sig: sig}
		}
	}
	return tx.Store.PutCommit(&d.Commit)
}

// sameOrigin says whether a commit that is there came from the same
// predecessors.
func (tx *Tx) sameOrigin(id CommitID, predecessors []CommitID) (bool, error) {
	if tx.Anonymous {
		return true, nil
	}
	if have, ok := tx.predecessors[id]; ok {
		return slices.Equal(have, predecessors), nil
	}
	var have []CommitID
	err := WalkOperations(tx.Store, tx.parents, func(o *Operation) (bool, error) {
		found := false
		have, found = o.Predecessors[id]
		return !found, nil
	})
	return err == nil && slices.Equal(have, predecessors), err
}

// IsDiscardable says whether nothing would be lost without a commit: it has no
// description and the tree of its parents.
func (tx *Tx) IsDiscardable(c *Commit) (bool, error) {
	if c.Description != "" || c.IsRoot() {
		return false, nil
	}
	return IsEmpty(tx.Store, tx.Index, c)
}

// AddHead makes a stored commit and its ancestors visible.
func (tx *Tx) AddHead(c *Commit) error {
	onHeads := true
	for _, p := range c.Parents {
		_, ok := tx.View.Heads[p]
		onHeads = onHeads && ok
	}
	if err := tx.Index.AddAll(tx.Store, []CommitID{c.ID}); err != nil {
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
func (tx *Tx) AddHeads(ids []CommitID) error {
	if err := tx.Index.AddAll(tx.Store, ids); err != nil {
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
func (tx *Tx) SetView(v *View) error {
	if err := tx.Index.AddAll(tx.Store, v.CommitIDs()); err != nil {
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

// SetBookmark points a local bookmark; its commits become visible.
func (tx *Tx) SetBookmark(name string, t RefTarget) error {
	if ids := TargetIDs(t); len(ids) > 0 {
		if err := tx.AddHeads(ids); err != nil {
			return err
		}
	}
	tx.View.SetBookmark(name, t)
	return nil
}

// MergeBookmark applies a move from base to other to a local bookmark.
func (tx *Tx) MergeBookmark(name string, base, other RefTarget) error {
	return tx.SetBookmark(name, MergeTargets(tx.Index, tx.View.Bookmark(name), base, other))
}

// MergeTag applies a move from base to other to a local tag.
func (tx *Tx) MergeTag(name string, base, other RefTarget) {
	tx.View.SetTag(name, MergeTargets(tx.Index, tx.View.Tag(name), base, other))
}

// TrackBookmark follows a remote's bookmark from now on: its target is merged
// into the local one.
func (tx *Tx) TrackBookmark(remote, name string) error {
	ref := tx.View.RemoteBookmark(remote, name)
	base := NoTarget()
	if ref.Tracked {
		base = ref.Target
	}
	if err := tx.MergeBookmark(name, base, ref.Target); err != nil {
		return err
	}
	ref.Tracked = true
	tx.View.SetRemoteBookmark(remote, name, ref)
	return nil
}

// TrackTag follows a remote's tag from now on: its target is merged into the
// local one.
func (tx *Tx) TrackTag(remote, name string) {
	ref := tx.View.RemoteTag(remote, name)
	base := NoTarget()
	if ref.Tracked {
		base = ref.Target
	}
	tx.MergeTag(name, base, ref.Target)
	ref.Tracked = true
	tx.View.SetRemoteTag(remote, name, ref)
}

// CheckOut makes a new empty commit on top of c the working copy of a
// workspace.
func (tx *Tx) CheckOut(workspace string, c *Commit) (*Commit, error) {
	wc, err := tx.Write(tx.NewCommit([]CommitID{c.ID}, c.Tree))
	if err != nil {
		return nil, err
	}
	return wc, tx.Edit(workspace, wc)
}

// Edit makes a commit the working copy of a workspace. The one it leaves is
// abandoned if nothing is lost by that.
func (tx *Tx) Edit(workspace string, c *Commit) error {
	if c.IsRoot() {
		return fmt.Errorf("Cannot rewrite the root commit")
	}
	if err := tx.leaveWorkingCopy(workspace); err != nil {
		return err
	}
	if err := tx.AddHead(c); err != nil {
		return err
	}
	tx.View.Workspaces[workspace] = c.ID
	return nil
}

// RemoveWorkspace forgets a workspace.
func (tx *Tx) RemoveWorkspace(workspace string) error {
	if err := tx.leaveWorkingCopy(workspace); err != nil {
		return err
	}
	tx.View.removeWorkspace(workspace)
	return nil
}

func (v *View) removeWorkspace(name string) {
	delete(v.Workspaces, name)
	delete(v.GitHeads, name)
}

func (tx *Tx) leaveWorkingCopy(workspace string) error {
	id, ok := tx.View.Workspaces[workspace]
	if !ok {
		return nil
	}
	c, err := tx.Store.Commit(id)
	if err != nil {
		return fmt.Errorf("Current working-copy commit not found: %w", err)
	}
	tx.normalizeHeads()
	if _, head := tx.View.Heads[id]; !head || tx.isReferenced(id, workspace) {
		return nil
	}
	discardable, err := tx.IsDiscardable(c)
	if err != nil || !discardable {
		return err
	}
	tx.Abandon(c)
	return nil
}

// isReferenced says whether anything but one workspace points at a commit.
func (tx *Tx) isReferenced(id CommitID, except string) bool {
	for name, wc := range tx.View.Workspaces {
		if name != except && wc == id {
			return true
		}
	}
	for _, refs := range []map[string]RefTarget{tx.View.Bookmarks, tx.View.Tags} {
		for _, t := range refs {
			if slices.Contains(TargetIDs(t), id) {
				return true
			}
		}
	}
	return false
}

// Finish stores the view and the operation and gives the repository as it is
// then. Descendants of rewritten commits must have been rebased.
func (tx *Tx) Finish(description string) (*Repo, error) {
	if len(tx.rewrites) > 0 {
		return nil, fmt.Errorf("descendants have not been rebased after the last rewrites")
	}
	tx.normalizeHeads()
	view, err := tx.Store.PutView(tx.View)
	if err != nil {
		return nil, err
	}
	op := &Operation{View: view, Parents: tx.parents, Meta: tx.meta, Predecessors: tx.predecessors}
	op.Meta.Description = description
	op.Meta.End = tx.who.OpNow()
	if err := tx.Store.PutOperation(op); err != nil {
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
