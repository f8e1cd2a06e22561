package vector

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"
)

// Signature is the signs of a vector: near directions share most of them.
type Signature [Dims / 64]uint64

// Sign is the signature of a vector. One of another length than the table's is turned to that many numbers first.
func (v Vector) Sign() (s Signature) {
	if len(v) != Dims {
		return turned(v)
	}
	for i, x := range v {
		if x > 0 {
			s[i/64] |= 1 << (i % 64)
		}
	}
	return s
}

func (s Signature) apart(o Signature) int {
	n := 0
	for i := range s {
		n += bits.OnesCount64(s[i] ^ o[i])
	}
	return n
}

// Index holds the signatures of texts, place by place, so that a search touches no other place. But for Len it is not safe for use at once.
type Index struct {
	places map[int64]*held
	count  atomic.Int64
}

type held struct {
	nrs []int64 // in order
	of  []Signature
}

// Put adds a text, or says anew what it is.
func (x *Index) Put(place, nr int64, s Signature) {
	if x.places == nil {
		x.places = map[int64]*held{}
	}
	p := x.places[place]
	if p == nil {
		p = &held{}
		x.places[place] = p
	}
	i, known := slices.BinarySearch(p.nrs, nr)
	if known {
		p.of[i] = s
		return
	}
	p.nrs, p.of = slices.Insert(p.nrs, i, nr), slices.Insert(p.of, i, s)
	x.count.Add(1)
}

// Drop takes a text out again.
func (x *Index) Drop(place, nr int64) {
	p := x.places[place]
	if p == nil {
		return
	}
	if i, known := slices.BinarySearch(p.nrs, nr); known {
		p.nrs, p.of = slices.Delete(p.nrs, i, i+1), slices.Delete(p.of, i, i+1)
		x.count.Add(-1)
	}
}

// Leave takes all texts of a place out again.
func (x *Index) Leave(place int64) {
	x.count.Add(-int64(x.In([]int64{place})))
	delete(x.places, place)
}

// Len is how many texts it holds. It may be asked at any time.
func (x *Index) Len() int { return int(x.count.Load()) }

// Holds reports whether a text of one of some places is held.
func (x *Index) Holds(places []int64, nr int64) bool {
	for _, place := range places {
		if p := x.places[place]; p != nil {
			if _, known := slices.BinarySearch(p.nrs, nr); known {
				return true
			}
		}
	}
	return false
}

// In is how many texts it holds of some places.
func (x *Index) In(places []int64) (n int) {
	for _, place := range places {
		if p := x.places[place]; p != nil {
			n += len(p.nrs)
		}
	}
	return n
}

// Near are the n texts of some places whose signatures are nearest, in order of their numbers.
func (x *Index) Near(s Signature, places []int64, n int) []int64 {
	var tally [Dims + 1]int // how many are so far apart
	for _, place := range places {
		if p := x.places[place]; p != nil {
			for _, of := range p.of {
				tally[s.apart(of)]++
			}
		}
	}
	far, all := 0, 0
	for ; far <= Dims && all+tally[far] <= n; far++ {
		all += tally[far]
	}
	var out, edge []int64 // of those at the edge some are taken
	for _, place := range places {
		if p := x.places[place]; p != nil {
			for i, of := range p.of {
				switch d := s.apart(of); {
				case d < far:
					out = append(out, p.nrs[i])
				case d == far:
					edge = append(edge, p.nrs[i])
				}
			}
		}
	}
	slices.SortFunc(edge, func(a, b int64) int { return cmp.Compare(b, a) }) // the newest first
	out = append(out, edge[:min(len(edge), n-len(out))]...)
	slices.Sort(out)
	return out
}
