package repo

import "slices"

// PosSet is a set of positions of one index, as bits.
type PosSet []uint64

// NewPosSet is an empty set for an index of n commits.
func NewPosSet(n int) PosSet { return make(PosSet, (n+63)/64) }

// Add puts a position in and says whether it is new.
func (s PosSet) Add(p Pos) bool {
	w, b := p/64, uint64(1)<<(p%64)
	if s[w]&b != 0 {
		return false
	}
	s[w] |= b
	return true
}

// Has says whether a position is in the set.
func (s PosSet) Has(p Pos) bool {
	w := int(p / 64)
	return w < len(s) && s[w]>>(p%64)&1 != 0
}

// posQueue gives the highest position first: a binary heap.
type posQueue []Pos

func (q *posQueue) push(p Pos) {
	h := append(*q, p)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up] >= h[i] {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	*q = h
}

func (q *posQueue) pop() Pos {
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
		if c+1 < len(h) && h[c+1] > h[c] {
			c++
		}
		if h[i] >= h[c] {
			break
		}
		h[i], h[c] = h[c], h[i]
		i = c
	}
	*q = h
	return top
}

// popAll takes the highest position and all its equals.
func (q *posQueue) popAll() Pos {
	p := q.pop()
	for len(*q) > 0 && (*q)[0] == p {
		q.pop()
	}
	return p
}

// IsAncestor says whether a is b or one of its ancestors. Unknown commits are
// nobody's ancestors.
func (ix *Index) IsAncestor(a, b CommitID) bool {
	pa, ok := ix.Pos(a)
	pb, ok2 := ix.Pos(b)
	return ok && ok2 && ix.IsAncestorPos(pa, pb)
}

// IsAncestorPos says whether a is b or one of its ancestors.
func (ix *Index) IsAncestorPos(a, b Pos) bool {
	generation := ix.Generation(a)
	queue := posQueue{b}
	seen := map[Pos]struct{}{}
	for len(queue) > 0 {
		p := queue.pop()
		if p == a {
			return true
		}
		if p < a || ix.Generation(p) <= generation {
			continue
		}
		if _, ok := seen[p]; ok {
			continue
		}
		seen[p] = struct{}{}
		for _, parent := range ix.Parents(p) {
			queue.push(parent)
		}
	}
	return false
}

// Ancestors is the set of all commits reachable from heads, heads included.
func (ix *Index) Ancestors(heads []Pos) PosSet {
	set := NewPosSet(ix.Len())
	stack := slices.Clone(heads)
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if set.Add(p) {
			stack = append(stack, ix.Parents(p)...)
		}
	}
	return set
}

// AncestorsAbove is the set of commits reachable from heads that do not stand
// before a position; it costs no more than the commits after it.
func (ix *Index) AncestorsAbove(heads []Pos, lowest Pos) PosSet {
	set := NewPosSet(ix.Len())
	stack := slices.Clone(heads)
	for len(stack) > 0 {
		p := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if p >= lowest && set.Add(p) {
			stack = append(stack, ix.Parents(p)...)
		}
	}
	return set
}

// Descendants lists roots and what descends from them among the ancestors of
// heads, children before parents.
func (ix *Index) Descendants(roots, heads []Pos) []Pos {
	if len(roots) == 0 {
		return nil
	}
	lowest := slices.Min(roots)
	visible := ix.AncestorsAbove(heads, lowest)
	below := NewPosSet(ix.Len())
	for _, p := range roots {
		if visible.Has(p) {
			below.Add(p)
		}
	}
	// A hidden root still has its visible children.
	isRoot := make(map[Pos]struct{}, len(roots))
	for _, p := range roots {
		isRoot[p] = struct{}{}
	}
	var out []Pos
	for p := lowest; int(p) < ix.Len(); p++ {
		if !visible.Has(p) {
			continue
		}
		in := below.Has(p)
		for _, parent := range ix.Parents(p) {
			_, root := isRoot[parent]
			in = in || root || below.Has(parent)
		}
		if in {
			below.Add(p)
			out = append(out, p)
		}
	}
	slices.Reverse(out)
	return out
}

// Range lists what is reachable from heads and not from roots, children
// before parents.
func (ix *Index) Range(roots, heads []Pos) []Pos {
	const wanted, unwanted = 1, 2
	marks := map[Pos]uint8{}
	var queue posQueue
	pending := 0 // positions in the queue that may still be listed
	mark := func(p Pos, m uint8) {
		old := marks[p]
		if old == 0 {
			queue.push(p)
		}
		if old|m == old {
			return
		}
		if old == 0 && m == wanted {
			pending++
		}
		if old == wanted {
			pending--
		}
		marks[p] = old | m
	}
	for _, p := range roots {
		mark(p, unwanted)
	}
	for _, p := range heads {
		mark(p, wanted)
	}
	var out []Pos
	for pending > 0 {
		p := queue.pop()
		m := marks[p]
		delete(marks, p)
		pass := m
		if m == wanted {
			pending--
			out = append(out, p)
		} else {
			pass = unwanted
		}
		for _, parent := range ix.Parents(p) {
			mark(parent, pass)
		}
	}
	return out
}

// Heads drops the positions that are ancestors of others, and repetitions.
// The rest comes in descending order.
func (ix *Index) Heads(candidates []Pos) []Pos {
	sorted := slices.Clone(candidates)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	if len(sorted) < 2 {
		return sorted
	}
	lowest := sorted[0]
	shallowest := ix.Generation(lowest)
	isCandidate := make(map[Pos]struct{}, len(sorted))
	for _, p := range sorted {
		isCandidate[p] = struct{}{}
		shallowest = min(shallowest, ix.Generation(p))
	}
	var queue posQueue
	pushParents := func(p Pos) {
		for _, parent := range ix.Parents(p) {
			if parent >= lowest && ix.Generation(parent) >= shallowest {
				queue.push(parent)
			}
		}
	}
	for _, p := range sorted {
		pushParents(p)
	}
	for len(queue) > 0 {
		p := queue.popAll()
		delete(isCandidate, p)
		pushParents(p)
	}
	var out []Pos
	for _, p := range slices.Backward(sorted) {
		if _, ok := isCandidate[p]; ok {
			out = append(out, p)
		}
	}
	return out
}

// HeadIDs drops commits that are ancestors of others. Unknown ones are an
// error of the caller and dropped too.
func (ix *Index) HeadIDs(candidates []CommitID) []CommitID {
	var at []Pos
	for _, id := range candidates {
		if p, ok := ix.Pos(id); ok {
			at = append(at, p)
		}
	}
	var out []CommitID
	for _, p := range ix.Heads(at) {
		out = append(out, ix.ID(p))
	}
	return out
}

// CommonAncestors lists the latest commits that both sets descend from.
func (ix *Index) CommonAncestors(a, b []Pos) []Pos {
	const first, second, covered = 1, 2, 4
	marks := map[Pos]uint8{}
	var queue posQueue
	live := 0 // queued positions below which a new common ancestor may hide
	mark := func(p Pos, m uint8) {
		old, seen := marks[p]
		if !seen {
			queue.push(p)
		}
		if seen && old&covered == 0 {
			live--
		}
		marks[p] = old | m
		if (old|m)&covered == 0 {
			live++
		}
	}
	for _, p := range a {
		mark(p, first)
	}
	for _, p := range b {
		mark(p, second)
	}
	var out []Pos
	for live > 0 {
		p := queue.pop()
		m := marks[p]
		delete(marks, p)
		if m&covered == 0 {
			live--
			if m == first|second {
				out = append(out, p)
			}
		}
		if m&(first|second) == first|second {
			m |= covered
		}
		for _, parent := range ix.Parents(p) {
			mark(parent, m)
		}
	}
	return out
}

// CommonAncestorIDs lists the latest commits that both sets descend from.
func (ix *Index) CommonAncestorIDs(a, b []CommitID) []CommitID {
	var out []CommitID
	for _, p := range ix.CommonAncestors(ix.Positions(a), ix.Positions(b)) {
		out = append(out, ix.ID(p))
	}
	return out
}

// Positions lists where commits stand; unknown ones are left out.
func (ix *Index) Positions(ids []CommitID) []Pos {
	var out []Pos
	for _, id := range ids {
		if p, ok := ix.Pos(id); ok {
			out = append(out, p)
		}
	}
	return out
}
