package seal

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"

	"github.com/gtank/ristretto255"
)

// Handshake is one side of one run of CPace-Ristretto255-SHA512 (CFRG draft),
// in the initiator/responder setting, with explicit key confirmation. A run
// answers one guess of the code and no more.
//
// The joiner starts; it must also confirm first, so that somebody who merely
// knocks learns nothing with which to test a guess.
type Handshake struct {
	sid     []byte
	scalar  *ristretto255.Scalar
	mine    []byte // Ya or Yb
	mineAD  []byte
	theirs  []byte
	theirAD []byte
	isk     []byte
	first   bool
}

const (
	cpaceDSI    = "CPaceRistretto255"
	cpaceDSIISK = "CPaceRistretto255_ISK"
	sha512Block = 128
)

// generator maps the code to a group element that nobody knows the logarithm of.
func generator(code, channel, sid []byte) (*ristretto255.Element, error) {
	dsi := []byte(cpaceDSI)
	zeros := max(0, sha512Block-1-len(lvCat(code))-len(lvCat(dsi)))
	sum := sha512.Sum512(lvCat(dsi, code, make([]byte, zeros), channel, sid))
	e, err := ristretto255.NewIdentityElement().SetUniformBytes(sum[:])
	if err != nil {
		return nil, fmt.Errorf("derive generator: %w", err)
	}
	return e, nil
}

// StartHandshake is the joiner's first step. Message and sid go to the inviter.
func StartHandshake(code, channel, ad []byte) (*Handshake, error) {
	sid := make([]byte, 16)
	if _, err := rand.Read(sid); err != nil {
		return nil, fmt.Errorf("read random session id: %w", err)
	}
	y, err := randomScalar()
	if err != nil {
		return nil, err
	}
	return newHandshake(code, channel, sid, ad, y, true)
}

// AnswerHandshake is the inviter's step: it takes the joiner's message and
// yields its own.
func AnswerHandshake(code, channel, sid, ad, theirs, theirAD []byte) (*Handshake, error) {
	y, err := randomScalar()
	if err != nil {
		return nil, err
	}
	if len(sid) < 16 {
		return nil, refuse("the session id of the handshake is too short")
	}
	h, err := newHandshake(code, channel, sid, ad, y, false)
	if err != nil {
		return nil, err
	}
	return h, h.Finish(theirs, theirAD)
}

func newHandshake(code, channel, sid, ad []byte, y *ristretto255.Scalar, first bool) (*Handshake, error) {
	g, err := generator(code, channel, sid)
	if err != nil {
		return nil, err
	}
	mine := ristretto255.NewIdentityElement().ScalarMult(y, g).Bytes()
	return &Handshake{sid: sid, scalar: y, mine: mine, mineAD: ad, first: first}, nil
}

func randomScalar() (*ristretto255.Scalar, error) {
	b := make([]byte, 64)
	if _, err := rand.Read(b); err != nil {
		return nil, fmt.Errorf("read random scalar: %w", err)
	}
	s, err := ristretto255.NewScalar().SetUniformBytes(b)
	if err != nil {
		return nil, fmt.Errorf("make scalar: %w", err)
	}
	return s, nil
}

// Message is this side's public value.
func (h *Handshake) Message() []byte { return h.mine }

// SessionID is the joiner's random session id.
func (h *Handshake) SessionID() []byte { return h.sid }

// Finish takes the other side's public value and derives the key. It refuses a
// value that is no group element or that would make the key predictable.
func (h *Handshake) Finish(theirs, theirAD []byte) error {
	p, err := ristretto255.NewIdentityElement().SetCanonicalBytes(theirs)
	if err != nil {
		return refuse("the handshake message is not a group element")
	}
	k := ristretto255.NewIdentityElement().ScalarMult(h.scalar, p)
	if k.Equal(ristretto255.NewIdentityElement()) == 1 {
		return refuse("the handshake message is the neutral element")
	}
	h.theirs, h.theirAD = theirs, theirAD
	ya, ada, yb, adb := h.mine, h.mineAD, theirs, theirAD
	if !h.first {
		ya, ada, yb, adb = theirs, theirAD, h.mine, h.mineAD
	}
	in := append(lvCat([]byte(cpaceDSIISK), h.sid, k.Bytes()), lvCat(ya, ada, yb, adb)...)
	sum := sha512.Sum512(in)
	h.isk = sum[:]
	return nil
}

// Tag is this side's proof that it derived the same key.
func (h *Handshake) Tag() []byte { return h.tag(h.mine, h.mineAD) }

// Confirm checks the other side's Tag, in constant time.
func (h *Handshake) Confirm(tag []byte) error {
	if h.isk == nil || !hmac.Equal(tag, h.tag(h.theirs, h.theirAD)) {
		return refuse("the invite code is wrong")
	}
	return nil
}

func (h *Handshake) tag(y, ad []byte) []byte {
	sum := sha512.Sum512(append(append([]byte("CPaceMac"), h.sid...), h.isk...))
	m := hmac.New(sha512.New, sum[:])
	m.Write(lvCat(y, ad))
	return m.Sum(nil)
}

// Key is the shared key, for use after Confirm has succeeded on this side.
func (h *Handshake) Key() (Key, error) {
	if h.isk == nil {
		return nil, refuse("the handshake is not finished")
	}
	k, err := hkdf.Key(sha256.New, h.isk, h.sid, "tandem-invite-key-v1", 32)
	if err != nil {
		return nil, fmt.Errorf("derive invite key: %w", err)
	}
	return k, nil
}
