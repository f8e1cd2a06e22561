package repo

import (
	"context"
	"slices"
)

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
func (tx *Tx) Rewrite(ctx context.Context, old *Commit) (*Draft, error) {
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
		discardable, err := tx.IsDiscardable(ctx, old)
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
func (tx *Tx) Write(ctx context.Context, d *Draft) (*Commit, error) {
	c, err := tx.put(ctx, d)
	for tries := 0; err == nil && tx.Index.Has(c.ID); tries++ {
		same, err := tx.sameOrigin(ctx, c.ID, d.Predecessors)
		if err != nil {
			return nil, err
		}
		if same || tries == 100 {
			return nil, ExistsError{c.ID}
		}
		d.Committer.When.Millis -= 1000
		if c, err = tx.put(ctx, d); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	if err := tx.AddHead(ctx, c); err != nil {
		return nil, err
	}
	tx.predecessors[c.ID] = slices.Clone(d.Predecessors)
	if d.source != nil {
		tx.SetRewritten(d.source.ID, c.ID)
	}
	return c, nil
}

// put signs a draft, if it is to be signed, and stores it.
func (tx *Tx) put(ctx context.Context, d *Draft) (*Commit, error) {
	d.Signed = nil
	if tx.who.Sign != nil && !d.Signing.Drop {
		data, err := EncodeCommit(ctx, tx.Store, &d.Commit)
		if err != nil {
			return nil, err
		}
		sig, err := tx.who.Sign(ctx, d, data)
		if err != nil {
			return nil, err
		}
		if sig != nil {
			d.Signed = &Signed{Data: data, Sig: sig}
		}
	}
	return tx.Store.PutCommit(ctx, &d.Commit)
}

// sameOrigin says whether a commit that is there came from the same
// predecessors.
func (tx *Tx) sameOrigin(ctx context.Context, id CommitID, predecessors []CommitID) (bool, error) {
	if tx.Anonymous {
		return true, nil
	}
	if have, ok := tx.predecessors[id]; ok {
		return slices.Equal(have, predecessors), nil
	}
	var have []CommitID
	err := WalkOperations(ctx, tx.Store, tx.parents, func(o *Operation) (bool, error) {
		found := false
		have, found = o.Predecessors[id]
		return !found, nil
	})
	return err == nil && slices.Equal(have, predecessors), err
}

// IsDiscardable says whether nothing would be lost without a commit: it has no
// description and the tree of its parents.
func (tx *Tx) IsDiscardable(ctx context.Context, c *Commit) (bool, error) {
	if c.Description != "" || c.IsRoot() {
		return false, nil
	}
	return IsEmpty(ctx, tx.Store, tx.Index, c)
}

// ExistsError says that a commit was made that is there already, with the same origin.
type ExistsError struct{ ID CommitID }

// Error is the sentence for people.
func (e ExistsError) Error() string { return "Newly-created commit " + e.ID.Hex() + " already exists" }
