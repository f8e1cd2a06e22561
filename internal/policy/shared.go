package policy

import (
	"hash/maphash"
	"slices"
)

// shared is a map that never changes and whose next version costs no more than what became different: it is a tree by the keys' hashes,
// and a change copies the way to where it comes to and shares the rest, however much that is.
type shared[V any] struct{ root *sharedNode[V] }

const (
	sharedBits = 4 // of a hash that choose the way at each step
	sharedFew  = 8 // entries that stand in one place before they part
)

// sharedNode has entries, or where ways part the nodes below.
type sharedNode[V any] struct {
	of    *sharedOwn
	here  []sharedEntry[V]
	below *[1 << sharedBits]*sharedNode[V]
}

type sharedEntry[V any] struct {
	hash uint64
	key  string
	is   V
}

// sharedOwn tells the nodes that one edit made, and may change, from those that others have.
type sharedOwn struct{ _ byte }

var sharedSeed = maphash.MakeSeed()

func sharedHash(key string) uint64 { return maphash.String(sharedSeed, key) }

func (s shared[V]) get(key string) V { return s.lookup(sharedHash(key), key) }

func (s shared[V]) lookup(hash uint64, key string) (v V) {
	n := s.root
	for way := hash; n != nil && n.below != nil; way >>= sharedBits {
		n = n.below[way%(1<<sharedBits)]
	}
	if n != nil {
		if i := n.find(hash, key); i >= 0 {
			return n.here[i].is
		}
	}
	return v
}

func (n *sharedNode[V]) find(hash uint64, key string) int {
	return slices.IndexFunc(n.here, func(e sharedEntry[V]) bool { return e.hash == hash && e.key == key })
}

// edit begins the next version.
func (s shared[V]) edit() *sharedEdit[V] { return &sharedEdit[V]{shared: s, of: &sharedOwn{}} }

// sharedEdit is a version that nobody else has yet.
type sharedEdit[V any] struct {
	shared[V]
	of *sharedOwn
}

// at is the place of a key, with the way to it copied. What stands there may be changed.
func (e *sharedEdit[V]) at(hash uint64) (n *sharedNode[V], depth int) {
	for at := &e.root; ; depth++ {
		if *at = e.own(*at); (*at).below == nil {
			return *at, depth
		}
		at = &(*at).below[hash>>(sharedBits*depth)%(1<<sharedBits)]
	}
}

// own is a node that this edit may change.
func (e *sharedEdit[V]) own(n *sharedNode[V]) *sharedNode[V] {
	switch {
	case n == nil:
		return &sharedNode[V]{of: e.of}
	case n.of == e.of:
		return n
	}
	made := &sharedNode[V]{of: e.of, here: slices.Clone(n.here)}
	if n.below != nil {
		below := *n.below
		made.below = &below
	}
	return made
}

func (e *sharedEdit[V]) put(key string, v V) { e.set(sharedHash(key), key, v) }

func (e *sharedEdit[V]) set(hash uint64, key string, v V) {
	n, depth := e.at(hash)
	if i := n.find(hash, key); i >= 0 {
		n.here[i].is = v
		return
	}
	n.here = append(n.here, sharedEntry[V]{hash, key, v})
	for ; len(n.here) > sharedFew && sharedBits*depth < 64; depth++ { // all of them may go the same way
		n.below = new([1 << sharedBits]*sharedNode[V])
		for _, one := range n.here {
			at := &n.below[one.hash>>(sharedBits*depth)%(1<<sharedBits)]
			*at = e.own(*at)
			(*at).here = append((*at).here, one)
		}
		n.here = nil
		n = n.below[hash>>(sharedBits*depth)%(1<<sharedBits)]
	}
}

func (e *sharedEdit[V]) drop(key string) {
	hash := sharedHash(key)
	n, _ := e.at(hash)
	if i := n.find(hash, key); i >= 0 {
		n.here = slices.Delete(n.here, i, i+1)
	}
}

// done is the version as it stays. The edit is over.
func (e *sharedEdit[V]) done() shared[V] {
	e.of = nil
	return e.shared
}
