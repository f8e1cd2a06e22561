package journal

import (
	"crypto/sha256"
	"fmt"
	"math/bits"
)

// Hash is a node of the tree (RFC 6962, SHA-256).
type Hash = [sha256.Size]byte

// tileWidth is how many hashes a full tile holds (C2SP tlog-tiles).
const (
	tileWidth  = 256
	tileHeight = 8
)

func leafHash(record []byte) Hash {
	return sha256.Sum256(append([]byte{0}, record...))
}

func nodeHash(l, r Hash) Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = 1
	copy(b[1:], l[:])
	copy(b[1+sha256.Size:], r[:])
	return sha256.Sum256(b[:])
}

// edge is the right edge of a tree: the roots of its complete subtrees, the
// largest first. Size and edge together determine the root.
type edge struct {
	size  int64
	nodes []Hash
}

// closed is a full tile that a push completed: its level and its root.
type closed struct {
	level int
	root  Hash
}

// push adds a leaf and returns the tiles that are now full, lowest first.
func (e *edge) push(leaf Hash) []closed {
	var full []closed
	h, level := leaf, 0
	for n := e.size; n&1 == 1; n >>= 1 {
		last := len(e.nodes) - 1
		h = nodeHash(e.nodes[last], h)
		e.nodes = e.nodes[:last]
		level++
		if level%tileHeight == 0 {
			full = append(full, closed{level/tileHeight - 1, h})
		}
	}
	e.nodes = append(e.nodes, h)
	e.size++
	return full
}

// root is the root hash of the whole tree.
func (e *edge) root() Hash {
	if len(e.nodes) == 0 {
		return sha256.Sum256(nil)
	}
	h := e.nodes[len(e.nodes)-1]
	for i := len(e.nodes) - 2; i >= 0; i-- {
		h = nodeHash(e.nodes[i], h)
	}
	return h
}

func (e *edge) bytes() []byte {
	b := make([]byte, 0, len(e.nodes)*sha256.Size)
	for _, n := range e.nodes {
		b = append(b, n[:]...)
	}
	return b
}

func parseEdge(size int64, b []byte) (edge, error) {
	n := bits.OnesCount64(uint64(size))
	if size < 0 || len(b) != n*sha256.Size {
		return edge{}, fmt.Errorf("the journal's head is damaged: %d entries with an edge of %d bytes", size, len(b))
	}
	e := edge{size: size, nodes: make([]Hash, n, n+1)}
	for i := range e.nodes {
		copy(e.nodes[i][:], b[i*sha256.Size:])
	}
	return e, nil
}
