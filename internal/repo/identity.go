package repo

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"math/bits"

	"golang.org/x/crypto/chacha20"
)

// Identity says in whose name, when and where a transaction writes. Time and
// chance come from here alone, so that the same Identity makes the same ids.
type Identity struct {
	Name, Email        string
	Hostname, Username string
	// Now is the time of a commit, and OpNow that of an operation.
	Now, OpNow func() Timestamp
	// NewChangeID draws a change id.
	NewChangeID func() ChangeID
	// Sign makes the signature of a commit from its bytes, or none where the
	// commit is not to have one. It may be nil.
	Sign func(ctx context.Context, d *Draft, data []byte) ([]byte, error)
}

// Signature is who and when, for a commit that is being written.
func (w *Identity) Signature() Signature { return Signature{w.Name, w.Email, w.Now()} }

// RandomChangeID draws a change id from the system.
func RandomChangeID() ChangeID {
	b := make([]byte, ChangeIDLen)
	rand.Read(b) // never fails
	return ChangeID(b)
}

// SeededChangeIDs draws the change ids that jj draws with the same
// JJ_RANDOMNESS_SEED: ChaCha20 under a key made of the seed by PCG32, one byte
// of each output word.
func SeededChangeIDs(seed uint64) func() ChangeID {
	var key [chacha20.KeySize]byte
	for i := 0; i < len(key); i += 4 {
		seed = seed*6364136223846793005 + 11634580027462260723
		x := uint32((seed>>18 ^ seed) >> 27)
		binary.LittleEndian.PutUint32(key[i:], bits.RotateLeft32(x, -int(seed>>59)))
	}
	stream, err := chacha20.NewUnauthenticatedCipher(key[:], make([]byte, chacha20.NonceSize))
	if err != nil {
		panic(err) // both lengths are constants
	}
	return func() ChangeID {
		words := make([]byte, 4*ChangeIDLen)
		stream.XORKeyStream(words, words)
		id := make([]byte, ChangeIDLen)
		for i := range id {
			id[i] = words[4*i]
		}
		return ChangeID(id)
	}
}
