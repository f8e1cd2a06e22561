package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"

	"tandem/internal/fault"
)

const keySize = 32

// bound is what a sealed value belongs to; it does not open anywhere else.
type bound struct {
	tenant, name, key string
	version           int64
	by, struck        string // not sealed: who set it, and whose record it is struck from
}

func (b bound) bytes() []byte {
	out := []byte("tandem secret v1\n")
	for _, s := range []string{b.tenant, b.name, b.key} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(s)))
		out = append(out, s...)
	}
	return binary.BigEndian.AppendUint64(out, uint64(b.version))
}

func aead(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// seal encrypts a value for one place: nonce, ciphertext, tag.
func seal(key, value []byte, b bound) ([]byte, error) {
	a, err := aead(key)
	if err != nil {
		return nil, err
	}
	return a.Seal(nil, nil, value, b.bytes()), nil
}

// unseal decrypts a value that was sealed for that place.
func unseal(key, sealed []byte, b bound) ([]byte, error) {
	a, err := aead(key)
	if err != nil {
		return nil, err
	}
	value, err := a.Open(nil, nil, sealed, b.bytes())
	if err != nil {
		return nil, fault.New(fault.Unavailable, "secret.open", "the secret %s does not open: its row was changed or moved", b.name).
			WithNext("set it again: tandem secret set %s", b.name)
	}
	return value, nil
}
