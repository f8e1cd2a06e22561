package gitstore

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"

	"tandem/internal/repo"
)

// Delta is what somebody who has some operations, with all they name, lacks of
// others.
type Delta struct {
	Operations []repo.OperationID // parents first
	Views      []repo.ViewID
	Objects    []string // raw ids of git objects
}

// Delta finds what leads from one set of operations to another. Operations of
// have that this store does not know are taken for nothing.
func (s *Store) Delta(have, want []repo.OperationID) (*Delta, error) {
	known := slices.DeleteFunc(slices.Clone(have), func(id repo.OperationID) bool { return !s.HasOperation(id) })
	ops, err := repo.OperationRange(s, known, want)
	if err != nil {
		return nil, err
	}
	d := &Delta{}
	views := map[repo.ViewID]struct{}{repo.RootViewID: {}}
	for _, id := range known {
		op, err := s.Operation(id)
		if err != nil {
			return nil, err
		}
		views[op.View] = struct{}{}
	}
	names := map[repo.CommitID]struct{}{}
	for _, op := range slices.Backward(ops) {
		if op.ID == repo.RootOperationID {
			continue
		}
		d.Operations = append(d.Operations, op.ID)
		op.AddCommitIDs(names)
		if _, ok := views[op.View]; ok {
			continue
		}
		views[op.View] = struct{}{}
		d.Views = append(d.Views, op.View)
		v, err := s.View(op.View)
		if err != nil {
			return nil, err
		}
		v.AddCommitIDs(names)
	}
	// Whoever has an operation has every commit that it or an earlier one
	// named, and that is what the index at it holds.
	var indexes []*repo.Index
	for _, id := range known {
		op, err := s.Operation(id)
		if err != nil {
			return nil, err
		}
		ix, err := s.Index(op)
		if err != nil {
			return nil, err
		}
		indexes = append(indexes, ix)
	}
	c := collector{store: s, seen: map[string]struct{}{}, has: func(id repo.CommitID) bool {
		return id == repo.RootCommitID || slices.ContainsFunc(indexes, func(ix *repo.Index) bool { return ix.Has(id) })
	}}
	if err := c.commits(slices.Sorted(maps.Keys(names))); err != nil {
		return nil, err
	}
	d.Objects = c.out
	return d, nil
}

// collector gathers the objects of commits that somebody does not have.
type collector struct {
	store *Store
	has   func(repo.CommitID) bool
	seen  map[string]struct{}
	out   []string
}

func (c *collector) add(id string) bool {
	if _, ok := c.seen[id]; ok {
		return false
	}
	c.seen[id] = struct{}{}
	c.out = append(c.out, id)
	return true
}

func (c *collector) commits(ids []repo.CommitID) error {
	stack := slices.Clone(ids)
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if c.has(id) || !c.add(string(id)) {
			continue
		}
		commit, err := c.store.Commit(id)
		if err != nil {
			return err
		}
		root, err := c.store.gitTree(id)
		if err != nil {
			return err
		}
		var bases []repo.TreeID
		for _, p := range commit.Parents {
			stack = append(stack, p)
			if p == repo.RootCommitID {
				continue
			}
			base, err := c.store.gitTree(p)
			if err != nil {
				return err
			}
			bases = append(bases, base)
		}
		if err := c.tree(root, bases); err != nil {
			return err
		}
	}
	return nil
}

// gitTree is the tree git sees of a commit. Of a conflict it holds all terms.
func (s *Store) gitTree(id repo.CommitID) (repo.TreeID, error) {
	data, err := s.typed(string(id), repo.CommitObject)
	if err != nil {
		return "", err
	}
	tree, ok := rootTree(data)
	if !ok {
		return "", fmt.Errorf("commit %s has no tree", id.Hex())
	}
	return tree, nil
}

func rootTree(commit []byte) (repo.TreeID, bool) {
	line, _, _ := bytes.Cut(commit, []byte{'\n'})
	text, _ := bytes.CutPrefix(line, []byte("tree "))
	return repo.ParseTreeID(string(text))
}

// tree adds a tree and what is in it, except what stands at the same place in
// a tree that is there or goes along anyway.
func (c *collector) tree(id repo.TreeID, bases []repo.TreeID) error {
	if slices.Contains(bases, id) || !c.add(string(id)) {
		return nil
	}
	t, err := c.store.Tree(id)
	if err != nil {
		return err
	}
	var old []repo.Tree
	for _, b := range bases {
		bt, err := c.store.Tree(b)
		if err != nil {
			return err
		}
		old = append(old, bt)
	}
	for _, e := range t {
		if e.Value.Kind == repo.Submodule {
			continue
		}
		var below []repo.TreeID
		same := false
		for _, b := range old {
			v := b.Value(e.Name)
			same = same || v.ID == e.Value.ID
			if v.IsTree() {
				below = append(below, v.TreeID())
			}
		}
		switch {
		case same:
		case e.Value.IsTree():
			if err := c.tree(e.Value.TreeID(), below); err != nil {
				return err
			}
		default:
			c.add(e.Value.ID)
		}
	}
	return nil
}

// WritePack writes objects as one pack. How small ones look in a pack is
// remembered: everybody who follows a repository is sent the same.
func (s *Store) WritePack(w io.Writer, ids []string) error {
	p, err := NewPackWriter(w, len(ids))
	if err != nil {
		return err
	}
	for _, id := range ids {
		entry, ok := s.entries.get(id)
		if !ok {
			o := repo.Object{Type: repo.TreeObject}
			if id != string(repo.EmptyTreeID) {
				if o, err = s.objects.read(id); err != nil {
					return err
				}
			}
			entry = p.encode(o)
			if len(entry) < 32<<10 {
				entry = bytes.Clone(entry)
				s.entries.put(id, entry, len(entry)+100)
			}
		}
		if err := p.addEncoded(id, entry); err != nil {
			return err
		}
	}
	return p.Close()
}
