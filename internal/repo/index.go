package repo

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Pos is a commit's place in an index: parents stand before children, so
// sorting by position is sorting topologically. The root commit is at 0.
type Pos uint32

// Index knows the graph of every commit that any operation named, hidden ones
// included: who the parents are, which change a commit belongs to. It is a
// chain of immutable segments, as jj keeps them on disk, under one layer in
// memory that grows. Copies by Extend share the segments.
type Index struct {
	segs indexChain // oldest first
	base Pos        // number of commits in segs

	entries []indexEntry
	ids     map[CommitID]Pos
	changes map[ChangeID][]Pos
}

type indexEntry struct {
	id         CommitID
	change     ChangeID
	parents    []Pos
	generation uint32
}

// NewIndex is an index that knows the root commit alone.
func NewIndex() *Index {
	ix := indexOver(nil)
	ix.append(indexEntry{id: RootCommitID, change: RootChangeID})
	return ix
}

// IndexOver is an index over a chain of segments, oldest first.
func IndexOver(segs []*IndexSegment) (*Index, error) {
	ix := indexOver(segs)
	for i, s := range segs {
		if s.before != indexChain(segs[:i]).total() {
			return nil, fmt.Errorf("index segments do not follow each other")
		}
	}
	if len(segs) == 0 || segs[0].count == 0 || segs[0].entry(0).id != RootCommitID {
		return nil, fmt.Errorf("index does not start at the root commit")
	}
	return ix, nil
}

func indexOver(segs indexChain) *Index {
	return &Index{segs: segs, base: segs.total(), ids: map[CommitID]Pos{}, changes: map[ChangeID][]Pos{}}
}

type indexChain []*IndexSegment

func (c indexChain) total() Pos {
	n := Pos(0)
	for _, s := range c {
		n += Pos(s.count)
	}
	return n
}

// Extend is a copy that can grow without ix noticing.
func (ix *Index) Extend() *Index {
	out := indexOver(ix.segs)
	for _, e := range ix.entries {
		out.append(e)
	}
	return out
}

// Len is the number of commits.
func (ix *Index) Len() int { return int(ix.base) + len(ix.entries) }

// Add indexes a commit whose parents are indexed. One that is there already
// stays as it is.
func (ix *Index) Add(c *Commit) error {
	if ix.Has(c.ID) {
		return nil
	}
	e := indexEntry{id: c.ID, change: c.ChangeID}
	for _, p := range c.Parents {
		pos, ok := ix.Pos(p)
		if !ok {
			return fmt.Errorf("index commit %s: parent %s is not indexed", c.ID.Hex(), p.Hex())
		}
		e.parents = append(e.parents, pos)
		e.generation = max(e.generation, ix.Generation(pos)+1)
	}
	ix.append(e)
	return nil
}

func (ix *Index) append(e indexEntry) {
	pos := ix.base + Pos(len(ix.entries))
	ix.entries = append(ix.entries, e)
	ix.ids[e.id] = pos
	ix.changes[e.change] = append(ix.changes[e.change], pos)
}

// Pos is where a commit stands.
func (ix *Index) Pos(id CommitID) (Pos, bool) {
	if p, ok := ix.ids[id]; ok {
		return p, true
	}
	for _, s := range slices.Backward(ix.segs) {
		if i, ok := s.find(id); ok {
			return s.before + Pos(i), true
		}
	}
	return 0, false
}

// Has says whether a commit is indexed.
func (ix *Index) Has(id CommitID) bool {
	_, ok := ix.Pos(id)
	return ok
}

func (ix *Index) at(p Pos) indexEntry {
	if p >= ix.base {
		return ix.entries[p-ix.base]
	}
	return ix.segment(p).entry(int(p - ix.segment(p).before))
}

func (ix *Index) segment(p Pos) *IndexSegment {
	for _, s := range slices.Backward(ix.segs) {
		if p >= s.before {
			return s
		}
	}
	return ix.segs[0]
}

// ID is the commit at a position.
func (ix *Index) ID(p Pos) CommitID {
	if p >= ix.base {
		return ix.entries[p-ix.base].id
	}
	s := ix.segment(p)
	return CommitID(s.id(int(p - s.before)))
}

// ChangeID is the change of the commit at a position.
func (ix *Index) ChangeID(p Pos) ChangeID { return ix.at(p).change }

// Parents are the positions of a commit's parents, in order.
func (ix *Index) Parents(p Pos) []Pos {
	if p >= ix.base {
		return ix.entries[p-ix.base].parents
	}
	s := ix.segment(p)
	return s.parents(int(p - s.before))
}

// Generation is the length of the longest way to the root commit.
func (ix *Index) Generation(p Pos) uint32 {
	if p >= ix.base {
		return ix.entries[p-ix.base].generation
	}
	s := ix.segment(p)
	return s.generation(int(p - s.before))
}

// ChangePositions lists the commits of a change, hidden ones too, oldest
// position first.
func (ix *Index) ChangePositions(change ChangeID) []Pos {
	var out []Pos
	for _, s := range ix.segs {
		for _, i := range s.changePositions(change) {
			out = append(out, s.before+Pos(i))
		}
	}
	return append(out, ix.changes[change]...)
}

// CommitsWithPrefix lists commits whose hexadecimal id starts so, at most
// limit of them.
func (ix *Index) CommitsWithPrefix(hexPrefix string, limit int) []CommitID {
	found := map[CommitID]struct{}{}
	for _, s := range ix.segs {
		s.idsWithPrefix(hexPrefix, limit, func(id CommitID) { found[id] = struct{}{} })
	}
	for id := range ix.ids {
		if len(found) < limit && strings.HasPrefix(id.Hex(), hexPrefix) {
			found[id] = struct{}{}
		}
	}
	return sortedFirst(found, limit)
}

// ChangesWithPrefix lists changes whose plain hexadecimal id starts so, at
// most limit of them.
func (ix *Index) ChangesWithPrefix(hexPrefix string, limit int) []ChangeID {
	found := map[ChangeID]struct{}{}
	for _, s := range ix.segs {
		s.changesWithPrefix(hexPrefix, limit, func(id ChangeID) { found[id] = struct{}{} })
	}
	for id := range ix.changes {
		if len(found) < limit && strings.HasPrefix(id.Hex(), hexPrefix) {
			found[id] = struct{}{}
		}
	}
	return sortedFirst(found, limit)
}

func sortedFirst[T cmp.Ordered](set map[T]struct{}, limit int) []T {
	out := make([]T, 0, len(set))
	for v := range set {
		out = append(out, v)
	}
	slices.Sort(out)
	return out[:min(limit, len(out))]
}

// ShortestCommitPrefix is how many hexadecimal digits tell a commit from all
// others in the index.
func (ix *Index) ShortestCommitPrefix(id CommitID) int {
	n := 0
	for _, s := range ix.segs {
		for _, o := range s.idNeighbours(id) {
			n = max(n, commonDigits(string(id), string(o)))
		}
	}
	for o := range ix.ids {
		if o != id {
			n = max(n, commonDigits(string(id), string(o)))
		}
	}
	return n + 1
}

// ShortestChangePrefix is how many letters tell a change from all others in
// the index.
func (ix *Index) ShortestChangePrefix(id ChangeID) int {
	n := 0
	for _, s := range ix.segs {
		for _, o := range s.changeNeighbours(id) {
			n = max(n, commonDigits(string(id), string(o)))
		}
	}
	for o := range ix.changes {
		if o != id {
			n = max(n, commonDigits(string(id), string(o)))
		}
	}
	return n + 1
}

// commonDigits counts the hexadecimal digits two raw ids start with in common.
func commonDigits(a, b string) int {
	for i := 0; i < len(a) && i < len(b); i++ {
		if a[i] == b[i] {
			continue
		}
		if a[i]>>4 == b[i]>>4 {
			return 2*i + 1
		}
		return 2 * i
	}
	return 2 * min(len(a), len(b))
}
