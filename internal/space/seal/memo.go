package seal

import (
	"crypto/sha256"
	"sync"
)

// memo remembers signatures that were found right, so that a daemon in which
// many members sit checks each of them once. It holds hashes of everything the
// answer depends on, and forgets the older half when it is full.
type memo struct {
	mu       sync.Mutex
	now, old map[[32]byte]struct{}
}

const memoSize = 4096

var verified = memo{now: map[[32]byte]struct{}{}}

// signatureOf names a signature together with what it covers and whose it is.
func signatureOf(from Card, signed, sig []byte) [32]byte {
	return sha256.Sum256(lvCat(from.Sign, signed, sig))
}

func (m *memo) has(k [32]byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.now[k]; ok {
		return true
	}
	_, ok := m.old[k]
	return ok
}

func (m *memo) add(k [32]byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.now) >= memoSize {
		m.now, m.old = map[[32]byte]struct{}{}, m.now
	}
	m.now[k] = struct{}{}
}
