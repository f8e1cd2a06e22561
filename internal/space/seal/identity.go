package seal

import (
	"bytes"
	"crypto/ecdh"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
)

// MemberID names a member of a space. It is a hash of the member's public
// keys, so that nobody can claim another's id and no host can hand out a
// second key for it.
type MemberID string

const memberPrefix = "mem_"

var idEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// Card is a member's public part: what others need to check its signature and
// to seal something for it alone.
type Card struct {
	ID   MemberID `json:"id"`
	Sign []byte   `json:"sign"` // Ed25519
	Box  []byte   `json:"box"`  // X25519
}

// NewCard returns the card of the two public keys.
func NewCard(sign, box []byte) Card {
	h := sha256.New()
	h.Write([]byte("tandem-member-v1\x00"))
	h.Write(sign)
	h.Write(box)
	sum := h.Sum(nil)
	return Card{ID: MemberID(memberPrefix + idEncoding.EncodeToString(sum[:16])), Sign: sign, Box: box}
}

// Check reports whether the card's id belongs to its keys.
func (c Card) Check() error {
	if len(c.Sign) != ed25519.PublicKeySize || len(c.Box) != 32 {
		return refuse("the member card has keys of the wrong size")
	}
	if NewCard(c.Sign, c.Box).ID != c.ID {
		return refuse("member id %s does not belong to its keys", c.ID)
	}
	return nil
}

// Equal reports whether both cards name the same keys.
func (c Card) Equal(o Card) bool {
	return c.ID == o.ID && bytes.Equal(c.Sign, o.Sign) && bytes.Equal(c.Box, o.Box)
}

// credential is the card as the identity field of an MLS basic credential; the
// signature key is in the leaf already.
func (c Card) credential() []byte { return append([]byte("tandem-card-v1\x00"), c.Box...) }

func cardFromCredential(identity, sign []byte) (Card, error) {
	box, ok := bytes.CutPrefix(identity, []byte("tandem-card-v1\x00"))
	if !ok || len(box) != 32 || len(sign) != ed25519.PublicKeySize {
		return Card{}, refuse("a leaf of the group does not hold a member card")
	}
	return NewCard(bytes.Clone(sign), bytes.Clone(box)), nil
}

// Identity is a member's private side. It is made from a 32-byte seed, which is
// all that has to be kept.
type Identity struct {
	seed []byte
	sign ed25519.PrivateKey
	box  *ecdh.PrivateKey
	card Card
}

// NewIdentity makes a fresh identity.
func NewIdentity() (*Identity, error) {
	seed := make([]byte, 32)
	if _, err := rand.Read(seed); err != nil {
		return nil, fmt.Errorf("read random seed: %w", err)
	}
	return IdentityFromSeed(seed)
}

// IdentityFromSeed restores the identity that Seed returned.
func IdentityFromSeed(seed []byte) (*Identity, error) {
	if len(seed) != 32 {
		return nil, refuse("an identity seed has 32 bytes, this one %d", len(seed))
	}
	signSeed, err := hkdf.Key(sha256.New, seed, nil, "tandem-identity-sign-v1", 32)
	if err != nil {
		return nil, fmt.Errorf("derive signing key: %w", err)
	}
	boxSeed, err := hkdf.Key(sha256.New, seed, nil, "tandem-identity-box-v1", 32)
	if err != nil {
		return nil, fmt.Errorf("derive box key: %w", err)
	}
	box, err := ecdh.X25519().NewPrivateKey(boxSeed)
	if err != nil {
		return nil, fmt.Errorf("make box key: %w", err)
	}
	sign := ed25519.NewKeyFromSeed(signSeed)
	card := NewCard(sign.Public().(ed25519.PublicKey), box.PublicKey().Bytes())
	return &Identity{seed: bytes.Clone(seed), sign: sign, box: box, card: card}, nil
}

// Seed returns the secret to keep.
func (i *Identity) Seed() []byte { return bytes.Clone(i.seed) }

// Card returns the public part.
func (i *Identity) Card() Card { return i.card }

// Sign signs msg under a label, so that a signature made for one purpose can
// never be shown for another.
func (i *Identity) Sign(label string, msg []byte) []byte {
	return ed25519.Sign(i.sign, labelled(label, msg))
}

// Verify checks a signature that Sign made.
func (c Card) Verify(label string, msg, sig []byte) bool {
	return len(c.Sign) == ed25519.PublicKeySize && ed25519.Verify(c.Sign, labelled(label, msg), sig)
}

func labelled(label string, msg []byte) []byte {
	return lvCat([]byte("tandem-signature-v1"), []byte(label), msg)
}

// shared is the pairwise secret of this identity and the holder of card.
func (i *Identity) shared(card Card) ([]byte, error) {
	pub, err := ecdh.X25519().NewPublicKey(card.Box)
	if err != nil {
		return nil, refuse("%s has a box key that is not a point", card.ID)
	}
	s, err := i.box.ECDH(pub)
	if err != nil {
		return nil, refuse("%s has a box key of low order", card.ID)
	}
	return s, nil
}

// IsMemberID reports whether s is shaped like a member id.
func IsMemberID(s string) bool {
	rest, ok := strings.CutPrefix(s, memberPrefix)
	if !ok {
		return false
	}
	b, err := idEncoding.DecodeString(rest)
	return err == nil && len(b) == 16
}
