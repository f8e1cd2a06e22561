package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"tandem/internal/repo"
)

// Delta is what somebody who has some operations, with all they name, lacks of
// others.
type Delta struct {
	Operations []repo.OperationID // parents first
	Views      []repo.ViewID

	store   *Store
	commits []repo.CommitID                   // that the operations and views name
	olds    map[repo.CommitID][]repo.CommitID // what they replace
	indexes []*repo.Index                     // of commits that are there
}

// Delta finds what leads from one set of operations to another. Operations of
// have that this store does not know are taken for nothing.
func (s *Store) Delta(ctx context.Context, have, want []repo.OperationID) (*Delta, error) {
	known := slices.DeleteFunc(slices.Clone(have), func(id repo.OperationID) bool { return !s.HasOperation(id) })
	ops, err := repo.OperationRange(ctx, s, known, want)
	if err != nil {
		return nil, err
	}
	d := &Delta{store: s, olds: map[repo.CommitID][]repo.CommitID{}}
	views := map[repo.ViewID]struct{}{repo.RootViewID: {}}
	for _, id := range known {
		op, err := s.Operation(ctx, id)
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
		maps.Copy(d.olds, op.Predecessors)
		if _, ok := views[op.View]; ok {
			continue
		}
		views[op.View] = struct{}{}
		d.Views = append(d.Views, op.View)
		v, err := s.View(ctx, op.View)
		if err != nil {
			return nil, err
		}
		v.AddCommitIDs(names)
	}
	d.commits = slices.Sorted(maps.Keys(names))
	// Whoever has an operation has every commit that it or an earlier one
	// named, and that is what the index at it holds.
	for _, id := range known {
		op, err := s.Operation(ctx, id)
		if err != nil {
			return nil, err
		}
		ix, err := s.Index(ctx, op)
		if err != nil {
			return nil, err
		}
		d.indexes = append(d.indexes, ix)
	}
	return d, nil
}

// Objects are the raw ids of the git objects, in an order that is always the same
// for the same operations. They are looked for as they are asked for; an error
// ends them.
func (d *Delta) Objects(ctx context.Context) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		c := collector{store: d.store, has: d.has, olds: d.olds, seen: map[objectID]struct{}{}, ahead: map[repo.CommitID]commitLinks{},
			emit: func(id string) bool { return yield(id, nil) }}
		if err := c.commits(ctx, d.commits); err != nil && err != errEnough {
			yield("", err)
		}
	}
}

// has says whether a commit is there already.
func (d *Delta) has(id repo.CommitID) bool {
	return id == repo.RootCommitID || slices.ContainsFunc(d.indexes, func(ix *repo.Index) bool { return ix.Has(id) })
}

// errEnough ends a search whose results nobody wants any more.
var errEnough = errors.New("enough")

// collector gathers the objects of commits that somebody does not have.
type collector struct {
	store *Store
	has   func(repo.CommitID) bool
	olds  map[repo.CommitID][]repo.CommitID // what commits replace
	seen  map[objectID]struct{}
	emit  func(id string) bool // false when there is enough
	// ahead are commits that were read as parents and come later themselves.
	ahead map[repo.CommitID]commitLinks
}

// commitLinks are what a commit leads to.
type commitLinks struct {
	tree    repo.TreeID // as git sees it; of a conflict it holds all terms
	parents []repo.CommitID
}

// add tells of an object that was not told of before.
func (c *collector) add(id string) (fresh bool, err error) {
	key := objectID([]byte(id))
	if _, ok := c.seen[key]; ok {
		return false, nil
	}
	c.seen[key] = struct{}{}
	if !c.emit(string(key[:])) { // a copy: id may be a part of a tree's text
		return false, errEnough
	}
	return true, nil
}

func (c *collector) commits(ctx context.Context, ids []repo.CommitID) error {
	stack := slices.Clone(ids)
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if c.has(id) {
			continue
		}
		fresh, err := c.add(string(id))
		if err != nil {
			return err
		}
		if !fresh {
			continue
		}
		commit, err := c.links(ctx, id)
		if err != nil {
			return err
		}
		delete(c.ahead, id)
		var bases []repo.TreeID
		for _, p := range commit.parents {
			if p == repo.RootCommitID {
				continue // it is nowhere; a line that names it may stand in an odd commit
			}
			stack = append(stack, p)
			parent, err := c.links(ctx, p)
			if err != nil {
				return err
			}
			bases = append(bases, parent.tree)
			if _, done := c.seen[objectID([]byte(p))]; !done {
				c.ahead[p] = parent
			}
		}
		known, err := c.replaced(ctx, id)
		if err != nil {
			return err
		}
		if err := c.tree(ctx, commit.tree, append(bases, known...)); err != nil {
			return err
		}
	}
	return nil
}

// replaced are the trees of what a commit replaces and the other side has: a file
// that went with one snapshot need not go again with the next.
func (c *collector) replaced(ctx context.Context, id repo.CommitID) (trees []repo.TreeID, err error) {
	for _, old := range c.olds[id] {
		if old == repo.RootCommitID || !c.has(old) {
			continue
		}
		l, err := c.links(ctx, old)
		if err != nil {
			return nil, err
		}
		trees = append(trees, l.tree)
	}
	return trees, nil
}

func (c *collector) links(ctx context.Context, id repo.CommitID) (commitLinks, error) {
	if l, ok := c.ahead[id]; ok {
		return l, nil
	}
	data, err := c.store.typed(ctx, string(id), repo.CommitObject)
	if err != nil {
		return commitLinks{}, err
	}
	l, ok := parseLinks(data)
	if !ok {
		return l, fmt.Errorf("commit %s has no tree", id.Hex())
	}
	if _, cut := c.store.shallow[id]; cut {
		l.parents = nil
	}
	return l, nil
}

// parseLinks reads the first lines of a commit.
func parseLinks(data []byte) (l commitLinks, ok bool) {
	if l.tree, ok = rootTree(data); !ok {
		return l, false
	}
	for {
		_, data, _ = bytes.Cut(data, []byte{'\n'})
		text, is := bytes.CutPrefix(data, []byte("parent "))
		if !is {
			return l, true
		}
		p, ok := repo.ParseCommitID(string(text[:min(len(text), 2*repo.CommitIDLen)]))
		if !ok {
			return l, false
		}
		l.parents = append(l.parents, p)
	}
}

// rootTree is the tree that git sees of a commit.
func rootTree(commit []byte) (repo.TreeID, bool) {
	line, _, _ := bytes.Cut(commit, []byte{'\n'})
	text, _ := bytes.CutPrefix(line, []byte("tree "))
	return repo.ParseTreeID(string(text))
}

// tree adds a tree and what is in it, except what stands at the same place in
// a tree that is there or goes along anyway.
func (c *collector) tree(ctx context.Context, id repo.TreeID, bases []repo.TreeID) error {
	if slices.Contains(bases, id) {
		return nil
	}
	if fresh, err := c.add(string(id)); err != nil || !fresh {
		return err
	}
	t, err := c.store.Tree(ctx, id)
	if err != nil {
		return err
	}
	var old []repo.Tree
	for _, b := range bases {
		bt, err := c.store.Tree(ctx, b)
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
			if err := c.tree(ctx, e.Value.TreeID(), below); err != nil {
				return err
			}
		default:
			if _, err := c.add(e.Value.ID); err != nil {
				return err
			}
		}
	}
	return nil
}
