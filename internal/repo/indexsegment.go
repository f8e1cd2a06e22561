package repo

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
)

// IndexSegment is one file of jj's commit index, format 6, read in place:
//
//	u32 version, u32 length and name of the parent segment,
//	u32 commits, u32 changes, u32 overflow parents, u32 overflow changes,
//	commits × (u32 generation, u32 parent 1, u32 parent 2, u32 place of its change, id),
//	commits × u32 place in the table above, by commit id,
//	changes × change id, sorted, then changes × u32 place of its commit,
//	overflow parents × u32 position, overflow changes × u32 place.
//
// A value with the top bit set points into an overflow table, bit-negated.
type IndexSegment struct {
	Name   string // the file's name
	Parent string // the name of the one below, "" for the first
	before Pos    // commits in the parents
	count  int

	changes         int
	graph, byID     []byte
	changeIDs       []byte
	changePlaces    []byte
	overflowParents []byte
	overflowChanges []byte
}

const (
	indexVersion  = 6
	overflow      = 1 << 31
	noParent      = 0xffff_ffff
	graphEntry    = 16 + CommitIDLen
	maxIndexCount = 1 << 28
)

// IndexSegmentParent is the file name of the segment below, "" for none.
func IndexSegmentParent(data []byte) (string, error) {
	parent, _, err := cutIndexHead(data)
	return parent, err
}

func cutIndexHead(data []byte) (parent string, rest []byte, err error) {
	version, data, ok := cutU32(data)
	if !ok || version != indexVersion {
		return "", nil, fmt.Errorf("index segment of version %d, not %d", version, indexVersion)
	}
	n, data, ok := cutU32(data)
	if !ok || uint64(n) > uint64(len(data)) {
		return "", nil, fmt.Errorf("index segment is cut short")
	}
	return string(data[:n]), data[n:], nil
}

// ParseIndexSegment reads a segment that stands over others with so many
// commits. The bytes are used in place.
func ParseIndexSegment(name string, data []byte, before int) (*IndexSegment, error) {
	short := fmt.Errorf("index segment is cut short")
	parent, data, err := cutIndexHead(data)
	if err != nil {
		return nil, err
	}
	s := &IndexSegment{Name: name, Parent: parent, before: Pos(before)}
	var counts [4]int
	ok := true
	for i := range counts {
		var v uint32
		if v, data, ok = cutU32(data); !ok || v > maxIndexCount {
			return nil, short
		}
		counts[i] = int(v)
	}
	s.count, s.changes = counts[0], counts[1]
	for _, part := range []struct {
		into *[]byte
		size int
	}{
		{&s.graph, s.count * graphEntry}, {&s.byID, s.count * 4},
		{&s.changeIDs, s.changes * ChangeIDLen}, {&s.changePlaces, s.changes * 4},
		{&s.overflowParents, counts[2] * 4}, {&s.overflowChanges, counts[3] * 4},
	} {
		if len(data) < part.size {
			return nil, short
		}
		*part.into, data = data[:part.size], data[part.size:]
	}
	if len(data) != 0 {
		return nil, fmt.Errorf("index segment has %d bytes too many", len(data))
	}
	return s, s.check()
}

// check makes every pointer in the file safe to follow.
func (s *IndexSegment) check() error {
	bad := fmt.Errorf("index segment points outside itself")
	for i := range s.count {
		own := s.before + Pos(i)
		p1, p2 := u32(s.graph, i*graphEntry+4), u32(s.graph, i*graphEntry+8)
		if p1&overflow != 0 { // none at all is none of the first
			from, n := uint64(^p1), uint64(^p2)
			if from+n > uint64(len(s.overflowParents)/4) {
				return bad
			}
			for j := from; j < from+n; j++ {
				if Pos(u32(s.overflowParents, int(4*j))) >= own {
					return bad
				}
			}
		} else {
			for _, p := range []uint32{p1, p2} {
				if p != noParent && Pos(p) >= own {
					return bad
				}
			}
		}
		if int(u32(s.graph, i*graphEntry+12)) >= s.changes || int(u32(s.byID, 4*i)) >= s.count {
			return bad
		}
	}
	for i := range s.changes {
		place := u32(s.changePlaces, 4*i)
		if place&overflow == 0 {
			if int(place) >= s.count {
				return bad
			}
		} else if int(^place) >= len(s.overflowChanges)/4 {
			return bad
		}
	}
	for i := range len(s.overflowChanges) / 4 {
		if int(u32(s.overflowChanges, 4*i)) >= s.count {
			return bad
		}
	}
	return nil
}

func cutU32(b []byte) (uint32, []byte, bool) {
	if len(b) < 4 {
		return 0, b, false
	}
	return binary.LittleEndian.Uint32(b), b[4:], true
}

func u32(b []byte, at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

// Count is the number of commits in the segment itself.
func (s *IndexSegment) Count() int { return s.count }

func (s *IndexSegment) id(i int) []byte { return s.graph[i*graphEntry+16 : (i+1)*graphEntry] }

func (s *IndexSegment) generation(i int) uint32 { return u32(s.graph, i*graphEntry) }

func (s *IndexSegment) changeID(c int) []byte {
	return s.changeIDs[c*ChangeIDLen : (c+1)*ChangeIDLen]
}

func (s *IndexSegment) parents(i int) []Pos {
	p1, p2 := u32(s.graph, i*graphEntry+4), u32(s.graph, i*graphEntry+8)
	switch {
	case p1 == noParent && p2 == noParent:
		return nil
	case p1&overflow != 0:
		from, n := int(^p1), int(^p2)
		out := make([]Pos, n)
		for j := range out {
			out[j] = Pos(u32(s.overflowParents, 4*(from+j)))
		}
		return out
	case p2 == noParent:
		return []Pos{Pos(p1)}
	}
	return []Pos{Pos(p1), Pos(p2)}
}

func (s *IndexSegment) entry(i int) indexEntry {
	return indexEntry{
		id:         CommitID(s.id(i)),
		change:     ChangeID(s.changeID(int(u32(s.graph, i*graphEntry+12)))),
		parents:    s.parents(i),
		generation: s.generation(i),
	}
}

// byIDFrom is the first place in the order of ids that is not below id.
func (s *IndexSegment) byIDFrom(id string) int {
	return SearchIDs(s.count, id, func(k int) bool { return string(s.id(int(u32(s.byID, 4*k)))) >= id })
}

// SearchIDs is the first of n sorted ids that is not below id, as above tells. Ids
// are as good as random, so their first bytes tell about where that is.
func SearchIDs(n int, id string, above func(k int) bool) int {
	var first [4]byte
	copy(first[:], id)
	guess := int(uint64(binary.BigEndian.Uint32(first[:])) * uint64(n) >> 32)
	lo, hi := 0, n
	for step := 16; ; step *= 4 {
		if k := guess - step; k > lo && above(k) {
			continue
		} else if k > lo {
			lo = k + 1
		}
		break
	}
	for step := 16; ; step *= 4 {
		if k := guess + step; k < hi && !above(k) {
			continue
		} else if k < hi {
			hi = k
		}
		break
	}
	return lo + sort.Search(hi-lo, func(k int) bool { return above(lo + k) })
}

func (s *IndexSegment) idAt(k int) CommitID { return CommitID(s.id(int(u32(s.byID, 4*k)))) }

func (s *IndexSegment) find(id CommitID) (int, bool) {
	k := s.byIDFrom(string(id))
	if k < s.count && s.idAt(k) == id {
		return int(u32(s.byID, 4*k)), true
	}
	return 0, false
}

func (s *IndexSegment) changeFrom(id string) int {
	return SearchIDs(s.changes, id, func(c int) bool { return string(s.changeID(c)) >= id })
}

func (s *IndexSegment) changePositions(change ChangeID) []int {
	c := s.changeFrom(string(change))
	if c == s.changes || string(s.changeID(c)) != string(change) {
		return nil
	}
	place := u32(s.changePlaces, 4*c)
	if place&overflow == 0 {
		return []int{int(place)}
	}
	// The places of one change follow each other; the next change's start, or
	// a commit of another change, ends them.
	var out []int
	for j := int(^place); j < len(s.overflowChanges)/4; j++ {
		i := int(u32(s.overflowChanges, 4*j))
		if int(u32(s.graph, i*graphEntry+12)) != c {
			break
		}
		out = append(out, i)
	}
	return out
}

func (s *IndexSegment) idsWithPrefix(hexPrefix string, limit int, yield func(CommitID)) {
	for k := s.byIDFrom(rawPrefix(hexPrefix)); k < s.count && limit > 0; k++ {
		id := s.idAt(k)
		if !strings.HasPrefix(id.Hex(), hexPrefix) {
			return
		}
		yield(id)
		limit--
	}
}

func (s *IndexSegment) changesWithPrefix(hexPrefix string, limit int, yield func(ChangeID)) {
	for c := s.changeFrom(rawPrefix(hexPrefix)); c < s.changes && limit > 0; c++ {
		id := ChangeID(s.changeID(c))
		if !strings.HasPrefix(id.Hex(), hexPrefix) {
			return
		}
		yield(id)
		limit--
	}
}

// rawPrefix is the smallest raw id that starts with hexadecimal digits.
func rawPrefix(hexPrefix string) string {
	if len(hexPrefix)%2 == 1 {
		hexPrefix += "0"
	}
	b, err := hex.DecodeString(hexPrefix)
	if err != nil {
		return "\xff"
	}
	return string(b)
}

func (s *IndexSegment) idNeighbours(id CommitID) []CommitID {
	var out []CommitID
	k := s.byIDFrom(string(id))
	if k > 0 {
		out = append(out, s.idAt(k-1))
	}
	if k < s.count && s.idAt(k) == id {
		k++
	}
	if k < s.count {
		out = append(out, s.idAt(k))
	}
	return out
}

func (s *IndexSegment) changeNeighbours(id ChangeID) []ChangeID {
	var out []ChangeID
	c := s.changeFrom(string(id))
	if c > 0 {
		out = append(out, ChangeID(s.changeID(c-1)))
	}
	if c < s.changes && ChangeID(s.changeID(c)) == id {
		c++
	}
	if c < s.changes {
		out = append(out, ChangeID(s.changeID(c)))
	}
	return out
}
