package journal

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// The edge must give the same roots as an independent implementation.
func TestEdgeAgreesWithTlog(t *testing.T) {
	var e edge
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(ix []int64) ([]tlog.Hash, error) {
		var out []tlog.Hash
		for _, i := range ix {
			out = append(out, stored[i])
		}
		return out, nil
	})
	for n := range int64(700) {
		rec := fmt.Appendf(nil, "record %d", n)
		hashes, err := tlog.StoredHashes(n, rec, reader)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, hashes...)
		full := e.push(leafHash(rec))
		if want := (n+1)%256 == 0; want != (len(full) == 1) {
			t.Fatalf("size %d closes %d tiles", n+1, len(full))
		}
		root, err := tlog.TreeHash(n+1, reader)
		if err != nil || Hash(root) != e.root() {
			t.Fatalf("size %d: root %x, want %x (%v)", n+1, e.root(), root, err)
		}
		back, err := parseEdge(e.size, e.bytes())
		if err != nil || back.root() != e.root() {
			t.Fatalf("size %d does not survive storage: %v", n+1, err)
		}
	}
	if (&edge{}).root() != sha256.Sum256(nil) {
		t.Error("the empty tree has a wrong root")
	}
}

func TestHigherTilesCloseInOrder(t *testing.T) {
	e := edge{}
	for n := int64(1); n <= 65536; n++ {
		full := e.push(leafHash([]byte{byte(n), byte(n >> 8)}))
		if n == 65536 {
			if len(full) != 2 || full[0].level != 0 || full[1].level != 1 || full[1].root != e.root() {
				t.Fatalf("65536 entries close %v", full)
			}
		}
	}
}
