package backup

import (
	"crypto/cipher"
	"encoding/binary"

	"golang.org/x/crypto/chacha20poly1305"

	"tandem/internal/fault"
)

func aead(key []byte, place uint64) (cipher.AEAD, []byte, error) {
	a, err := chacha20poly1305.New(key)
	if err != nil {
		return nil, nil, err
	}
	nonce := make([]byte, chacha20poly1305.NonceSize)
	binary.BigEndian.PutUint64(nonce[4:], place)
	return a, nonce, nil
}

// seal binds bytes to their place in the copy and to what they are.
func seal(key []byte, place uint64, kind byte, data []byte) ([]byte, error) {
	a, nonce, err := aead(key, place)
	if err != nil {
		return nil, err
	}
	return a.Seal(nil, nonce, data, []byte{kind}), nil
}

func unseal(key []byte, place uint64, kind byte, data []byte) ([]byte, error) {
	a, nonce, err := aead(key, place)
	if err != nil {
		return nil, err
	}
	return a.Open(nil, nonce, data, []byte{kind})
}

func damaged(format string, args ...any) error {
	return fault.New(fault.Invalid, "server.restore", "the copy cannot be read: "+format, args...).
		WithNext("use another copy; nothing was changed")
}
