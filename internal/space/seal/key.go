package seal

import (
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// Key is a symmetric secret of a space: it tags names, and it seals what one
// side hands another outside the group (a snapshot on the way in, state at
// rest).
type Key []byte

// NewKey makes a fresh key.
func NewKey() (Key, error) {
	k := make(Key, 32)
	if _, err := rand.Read(k); err != nil {
		return nil, fmt.Errorf("read random key: %w", err)
	}
	return k, nil
}

// Tag is a name as the host sees it: equal names of one kind have equal tags,
// and without the key a tag cannot be turned back or guessed at.
func (k Key) Tag(kind, name string) string {
	m := hmac.New(sha256.New, k)
	m.Write(lvCat([]byte("tandem-tag-v1"), []byte(kind), []byte(name)))
	return idEncoding.EncodeToString(m.Sum(nil)[:20])
}

// Wrap seals plain under the key; label and context must be repeated to open.
func (k Key) Wrap(label string, context, plain []byte) ([]byte, error) {
	a, err := chacha20poly1305.NewX(k)
	if err != nil {
		return nil, fmt.Errorf("use key: %w", err)
	}
	nonce := make([]byte, a.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, fmt.Errorf("read random nonce: %w", err)
	}
	return a.Seal(nonce, nonce, pad(plain), lvCat([]byte("tandem-wrap-v1"), []byte(label), context)), nil
}

// Unwrap opens what Wrap sealed.
func (k Key) Unwrap(label string, context, sealed []byte) ([]byte, error) {
	a, err := chacha20poly1305.NewX(k)
	if err != nil {
		return nil, fmt.Errorf("use key: %w", err)
	}
	if len(sealed) < a.NonceSize() {
		return nil, refuse("the sealed %s is too short", label)
	}
	plain, err := a.Open(nil, sealed[:a.NonceSize()], sealed[a.NonceSize():], lvCat([]byte("tandem-wrap-v1"), []byte(label), context))
	if err != nil {
		return nil, refuse("the sealed %s does not open", label)
	}
	return unpad(plain)
}

func x25519Key(b []byte) (*ecdh.PrivateKey, error) {
	k, err := ecdh.X25519().NewPrivateKey(b)
	if err != nil {
		return nil, fmt.Errorf("read private key: %w", err)
	}
	return k, nil
}
