package gitstore

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"slices"

	"tandem/internal/repo"
)

// packIndex answers where an object is in a pack: git's index file, version 2.
type packIndex struct {
	data  []byte
	count int
	ids   []byte // count × 20, sorted
	crcs  []byte // count × 4
	off32 []byte // count × 4
	off64 []byte
}

const packIndexHead = 8 + 256*4

func parsePackIndex(data []byte) (*packIndex, error) {
	if len(data) < packIndexHead+2*sha1.Size || string(data[:8]) != "\xfftOc\x00\x00\x00\x02" {
		return nil, fmt.Errorf("not a pack index of version 2")
	}
	x := &packIndex{data: data}
	last := uint32(0)
	for i := range 256 {
		n := binary.BigEndian.Uint32(data[8+4*i:])
		if n < last {
			return nil, fmt.Errorf("pack index: fan-out goes down")
		}
		last = n
	}
	x.count = int(last)
	rest := data[packIndexHead : len(data)-2*sha1.Size]
	if len(rest)/28 < x.count {
		return nil, fmt.Errorf("pack index is cut short")
	}
	x.ids, x.crcs, rest = rest[:20*x.count], rest[20*x.count:24*x.count], rest[24*x.count:]
	x.off32, x.off64 = rest[:4*x.count], rest[4*x.count:]
	return x, nil
}

func (x *packIndex) id(i int) []byte { return x.ids[20*i : 20*i+20] }

// find is the object's offset in the pack.
func (x *packIndex) find(id string) (offset int64, ok bool) {
	i := repo.SearchIDs(x.count, id, func(i int) bool { return string(x.id(i)) >= id })
	if i >= x.count || string(x.id(i)) != id {
		return 0, false
	}
	return x.offset(i)
}

func (x *packIndex) offset(i int) (int64, bool) {
	n := binary.BigEndian.Uint32(x.off32[4*i:])
	if n&(1<<31) == 0 {
		return int64(n), true
	}
	at := 8 * int(n&^(1<<31))
	if at+8 > len(x.off64) {
		return 0, false
	}
	big := binary.BigEndian.Uint64(x.off64[at:])
	return int64(big), big < 1<<62
}

func (x *packIndex) crc(i int) uint32 { return binary.BigEndian.Uint32(x.crcs[4*i:]) }

// byOffset lists the objects as they follow each other in the pack.
func (x *packIndex) byOffset() []uint32 {
	at := make([]int64, x.count)
	order := make([]uint32, x.count)
	for i := range order {
		at[i], _ = x.offset(i) // a bad one is not found again
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(at[a], at[b]) })
	return order
}

// packed is one object's place in a pack that is being indexed.
type packed struct {
	id     string
	crc    uint32
	offset int64
}

// encodePackIndex writes git's index of a pack. Entries are sorted here.
func encodePackIndex(entries []packed, packSum []byte) []byte {
	slices.SortFunc(entries, func(a, b packed) int { return cmp.Compare(a.id, b.id) })
	var b bytes.Buffer
	b.WriteString("\xfftOc\x00\x00\x00\x02")
	be := func(n uint32) { b.Write(binary.BigEndian.AppendUint32(nil, n)) }
	i := 0
	for first := range 256 {
		for i < len(entries) && int(entries[i].id[0]) == first {
			i++
		}
		be(uint32(i))
	}
	for _, e := range entries {
		b.WriteString(e.id)
	}
	for _, e := range entries {
		be(e.crc)
	}
	var big []byte
	for _, e := range entries {
		if e.offset < 1<<31 {
			be(uint32(e.offset))
			continue
		}
		be(1<<31 | uint32(len(big)/8))
		big = binary.BigEndian.AppendUint64(big, uint64(e.offset))
	}
	b.Write(big)
	b.Write(packSum)
	sum := sha1.Sum(b.Bytes())
	b.Write(sum[:])
	return b.Bytes()
}

// The numbers of entries in packs that are differences from another object.
const (
	offsetDelta repo.ObjectType = 6
	refDelta    repo.ObjectType = 7
)
