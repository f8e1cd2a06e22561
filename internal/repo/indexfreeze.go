package repo

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"golang.org/x/crypto/blake2b"
)

// Freeze turns the layer in memory into a segment file, taking small parent
// segments into it, so that the chain stays short. It gives the file's name
// and bytes; when nothing is new, the name of the top segment and no bytes.
func (ix *Index) Freeze() (data []byte, name string) {
	below := len(ix.segs)
	if len(ix.entries) == 0 && below > 0 {
		return nil, ix.segs[below-1].Name
	}
	n := len(ix.entries)
	for below > 0 && 2*n >= ix.segs[below-1].count {
		n += ix.segs[below-1].count
		below--
	}
	var entries []indexEntry
	for _, s := range ix.segs[below:] {
		for i := range s.count {
			entries = append(entries, s.entry(i))
		}
	}
	entries = append(entries, ix.entries...)
	parent := ""
	if below > 0 {
		parent = ix.segs[below-1].Name
	}
	data = encodeIndexSegment(parent, entries)
	return data, segmentName(data)
}

func encodeIndexSegment(parent string, entries []indexEntry) []byte {
	places := map[ChangeID][]uint32{}
	for i, e := range entries {
		places[e.change] = append(places[e.change], uint32(i))
	}
	changes := sortedFirst(keysOf(places), len(places))
	changePlace := make(map[ChangeID]uint32, len(changes))
	for c, id := range changes {
		changePlace[id] = uint32(c)
	}
	le := binary.LittleEndian
	var graph, parents, changeTable, moreChanges []byte
	for _, e := range entries {
		graph = le.AppendUint32(graph, e.generation)
		p1, p2 := uint32(noParent), uint32(noParent)
		switch {
		case len(e.parents) > 2:
			p1, p2 = ^uint32(len(parents)/4), ^uint32(len(e.parents))
			for _, p := range e.parents {
				parents = le.AppendUint32(parents, uint32(p))
			}
		case len(e.parents) == 2:
			p2 = uint32(e.parents[1])
			fallthrough
		case len(e.parents) == 1:
			p1 = uint32(e.parents[0])
		}
		graph = le.AppendUint32(graph, p1)
		graph = le.AppendUint32(graph, p2)
		graph = le.AppendUint32(graph, changePlace[e.change])
		graph = append(graph, e.id...)
	}
	order := make([]int, len(entries))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(entries[a].id, entries[b].id) })
	for _, i := range order {
		graph = le.AppendUint32(graph, uint32(i))
	}
	for _, id := range changes {
		graph = append(graph, id...)
		if at := places[id]; len(at) > 1 {
			changeTable = le.AppendUint32(changeTable, ^uint32(len(moreChanges)/4))
			for _, i := range at {
				moreChanges = le.AppendUint32(moreChanges, i)
			}
		} else {
			changeTable = le.AppendUint32(changeTable, at[0])
		}
	}
	out := le.AppendUint32(nil, indexVersion)
	out = le.AppendUint32(out, uint32(len(parent)))
	out = append(out, parent...)
	for _, n := range []int{len(entries), len(changes), len(parents) / 4, len(moreChanges) / 4} {
		out = le.AppendUint32(out, uint32(n))
	}
	return slices.Concat(out, graph, changeTable, parents, moreChanges)
}

func keysOf[K comparable, V any](m map[K]V) map[K]struct{} {
	out := make(map[K]struct{}, len(m))
	for k := range m {
		out[k] = struct{}{}
	}
	return out
}

// segmentName is the file name of a segment: the hash of its bytes.
func segmentName(data []byte) string {
	sum := blake2b.Sum512(data)
	return hex.EncodeToString(sum[:])
}
