package repo

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// AddAll adds commits and all their ancestors that the index does not
// know, older ones first where the graph leaves a choice.
func (ix *Index) AddAll(ctx context.Context, s Store, ids []CommitID) error {
	unknown := map[CommitID]*Commit{}
	children := map[CommitID][]*Commit{}
	missing := map[CommitID]int{} // parents still to be indexed
	stack := slices.Clone(ids)
	for len(stack) > 0 {
		id := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if unknown[id] != nil || ix.Has(id) {
			continue
		}
		c, err := s.Commit(ctx, id)
		if err != nil {
			return fmt.Errorf("index commits: %w", err)
		}
		unknown[id] = c
		for _, p := range slices.Compact(slices.Sorted(slices.Values(c.Parents))) {
			if !ix.Has(p) {
				missing[id]++
				children[p] = append(children[p], c)
				stack = append(stack, p)
			}
		}
	}
	var ready commitQueue
	for id, c := range unknown {
		if missing[id] == 0 {
			ready.push(c)
		}
	}
	for len(ready) > 0 {
		c := ready.pop()
		if err := ix.Add(c); err != nil {
			return err
		}
		for _, child := range children[c.ID] {
			if missing[child.ID]--; missing[child.ID] == 0 {
				ready.push(child)
			}
		}
	}
	return nil
}

// commitQueue gives the oldest commit first.
type commitQueue []*Commit

func olderFirst(a, b *Commit) int {
	return cmp.Or(cmp.Compare(a.Committer.When.Millis, b.Committer.When.Millis), cmp.Compare(a.ID, b.ID))
}

func (q *commitQueue) push(c *Commit) {
	h := append(*q, c)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if olderFirst(h[up], h[i]) <= 0 {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	*q = h
}

func (q *commitQueue) pop() *Commit {
	h := *q
	top := h[0]
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && olderFirst(h[c+1], h[c]) < 0 {
			c++
		}
		if olderFirst(h[i], h[c]) <= 0 {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	*q = h
	return top
}

// AddIndex adds every commit that another index knows.
func (ix *Index) AddIndex(o *Index) error {
	shared := 0
	for shared < len(ix.segs) && shared < len(o.segs) && ix.segs[shared].Name != "" && ix.segs[shared].Name == o.segs[shared].Name {
		shared++
	}
	from := o.segs[:shared].total()
	for p := from; int(p) < o.Len(); p++ {
		e := o.at(p)
		if ix.Has(e.id) {
			continue
		}
		own := indexEntry{id: e.id, change: e.change, generation: e.generation}
		for _, parent := range e.parents {
			at, ok := ix.Pos(o.ID(parent))
			if !ok {
				return fmt.Errorf("index commit %s: parent is not indexed", e.id.Hex())
			}
			own.parents = append(own.parents, at)
		}
		ix.append(own)
	}
	return nil
}
