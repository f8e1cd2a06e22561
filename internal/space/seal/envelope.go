package seal

import (
	"bytes"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// MaxContent is the most a sealed part may hold before padding: the 64 KB of
// the published limit.
const MaxContent = 64 << 10

// MaxClear bounds the part the host reads. A commit is the largest of them.
const MaxClear = 256 << 10

// Envelope is one thing a member says in a space. The host sees every field
// but the content of Box. The signature covers all of them.
type Envelope struct {
	V     int      `json:"v"`
	Space string   `json:"space"`
	Epoch uint64   `json:"epoch"`
	From  MemberID `json:"from"`
	Seq   uint64   `json:"seq"`             // 1, 2, 3 … per sender, without gaps
	ID    string   `json:"id"`              // the sender's name for it; a retry keeps it
	Class string   `json:"class"`           // what kind of thing, for the host's rules
	To    MemberID `json:"to,omitempty"`    // one member alone can open it; empty means all
	At    int64    `json:"at"`              // the sender's clock, milliseconds
	Clear []byte   `json:"clear,omitempty"` // what the host referees by
	// SeenSeq and Seen are the number and hash of the last entry that the sender had seen: whoever was shown another history notices.
	// Envelopes of version 1 have neither.
	SeenSeq int64  `json:"seen_seq,omitempty"`
	Seen    string `json:"seen,omitempty"`
	Nonce   []byte `json:"nonce"`
	Box     []byte `json:"box"`
	Sig     []byte `json:"sig"`
}

// EpochKey seals and opens the envelopes of one epoch.
type EpochKey struct {
	Epoch  uint64 `json:"epoch"`
	Secret []byte `json:"secret"`
}

// header is every field but nonce, box and signature, each with its length, so
// that no two envelopes have the same bytes. It is the AEAD's associated data.
func (e *Envelope) header() []byte {
	v1 := lvCat([]byte("tandem-envelope-v1"), num(uint64(e.V)), []byte(e.Space), num(e.Epoch), []byte(e.From),
		num(e.Seq), []byte(e.ID), []byte(e.Class), []byte(e.To), num(uint64(e.At)), e.Clear)
	if e.V == 1 {
		return v1
	}
	return append(v1, lvCat([]byte("tandem-envelope-v2"), num(uint64(e.SeenSeq)), []byte(e.Seen))...)
}

// signed is what the signature covers.
func (e *Envelope) signed() []byte { return append(e.header(), lvCat(e.Nonce, e.Box)...) }

// Hash identifies the envelope, signature included. It is what a journal keeps.
func (e *Envelope) Hash() [32]byte {
	return sha256.Sum256(append(e.signed(), lvCat(e.Sig)...))
}

// Seal fills in the sealed part and the signature. The caller sets Space, Seq,
// ID, Class, To, At, Clear, SeenSeq and Seen. When to is not nil only that member (and the
// sender) can open it.
func (k EpochKey) Seal(me *Identity, to *Card, e Envelope, content []byte) (Envelope, error) {
	if len(content) > MaxContent {
		return Envelope{}, refuse("%d bytes are more than the %d a message may hold", len(content), MaxContent)
	}
	if len(e.Clear) > MaxClear {
		return Envelope{}, refuse("the clear part of %d bytes is too long", len(e.Clear))
	}
	e.V, e.Epoch, e.From, e.To = 2, k.Epoch, me.card.ID, ""
	if to != nil {
		e.To = to.ID
	}
	aead, err := k.aead(me, to, &e)
	if err != nil {
		return Envelope{}, err
	}
	e.Nonce = make([]byte, aead.NonceSize())
	if _, err := rand.Read(e.Nonce); err != nil {
		return Envelope{}, fmt.Errorf("read random nonce: %w", err)
	}
	e.Box = aead.Seal(nil, e.Nonce, pad(content), e.header())
	e.Sig = me.Sign("envelope", e.signed())
	return e, nil
}

type aead interface {
	NonceSize() int
	Seal(dst, nonce, plaintext, additionalData []byte) []byte
	Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error)
}

// aead derives the key of one sender, and of one pair when the envelope is for
// one member: then the pairwise secret is mixed in, and the other members, who
// all hold the epoch's secret, cannot derive it.
func (k EpochKey) aead(me *Identity, pair *Card, e *Envelope) (aead, error) {
	if len(k.Secret) != 32 {
		return nil, refuse("the epoch key is missing")
	}
	var salt []byte
	if pair != nil {
		s, err := me.shared(*pair)
		if err != nil {
			return nil, err
		}
		salt = s
	}
	info := lvCat([]byte("tandem-envelope-key-v1"), []byte(e.Space), num(e.Epoch), []byte(e.From), []byte(e.To))
	key, err := hkdf.Key(sha256.New, k.Secret, salt, string(info), 32)
	if err != nil {
		return nil, fmt.Errorf("derive envelope key: %w", err)
	}
	return chacha20poly1305.NewX(key)
}

// Verify checks everything a host can check: shape, sizes, that the signature
// is from, and that it was made for this space. It needs no secret.
func (e *Envelope) Verify(space string, from Card) error {
	if err := from.Check(); err != nil {
		return err
	}
	switch {
	case e.V != 1 && e.V != 2:
		return refuse("envelope version %d is not known here", e.V)
	case e.V == 1 && (e.SeenSeq != 0 || e.Seen != ""):
		return refuse("an envelope of version 1 says nothing about what its sender had seen")
	case e.SeenSeq < 0 || (e.SeenSeq == 0) != (e.Seen == "") || e.Seen != "" && len(e.Seen) != 64:
		return refuse("the envelope does not say what its sender had seen")
	case e.Space != space:
		return refuse("the envelope belongs to another space")
	case e.From != from.ID:
		return refuse("the envelope is from %s, not from %s", e.From, from.ID)
	case e.Seq == 0 || e.ID == "" || e.Class == "":
		return refuse("the envelope lacks a sequence, an id or a class")
	case len(e.Nonce) != chacha20poly1305.NonceSizeX:
		return refuse("the envelope has no nonce")
	case len(e.Box) > padded(MaxContent)+chacha20poly1305.Overhead:
		return refuse("the envelope holds more than %d bytes", MaxContent)
	case len(e.Box) < padded(0)+chacha20poly1305.Overhead:
		return refuse("the envelope is not sealed")
	case len(e.Clear) > MaxClear:
		return refuse("the clear part of %d bytes is too long", len(e.Clear))
	case e.To != "" && !IsMemberID(string(e.To)):
		return refuse("the envelope is addressed to no member id")
	}
	signed := e.signed()
	known := signatureOf(from, signed, e.Sig)
	if verified.has(known) {
		return nil
	}
	if !from.Verify("envelope", signed, e.Sig) {
		return refuse("the signature of envelope %s is not %s's", e.ID, from.ID)
	}
	verified.add(known)
	return nil
}

// ForMe reports whether id can open the envelope.
func (e *Envelope) ForMe(id MemberID) bool { return e.To == "" || e.To == id || e.From == id }

// Open verifies and opens. The other card is the sender's, or the recipient's
// when reading what one sent oneself.
func (k EpochKey) Open(me *Identity, sender Card, recipient *Card, e *Envelope) ([]byte, error) {
	if err := e.Verify(e.Space, sender); err != nil {
		return nil, err
	}
	return k.Reopen(me, sender, recipient, e)
}

// Reopen opens what was verified when it was stored.
func (k EpochKey) Reopen(me *Identity, sender Card, recipient *Card, e *Envelope) ([]byte, error) {
	if e.Epoch != k.Epoch {
		return nil, refuseKind(ErrEpoch, "the envelope is of epoch %d, the key of %d", e.Epoch, k.Epoch)
	}
	var pair *Card
	if e.To != "" {
		switch me.card.ID {
		case e.To:
			pair = &sender
		case e.From:
			if recipient == nil || recipient.ID != e.To {
				return nil, refuse("the recipient's card is needed to reread %s", e.ID)
			}
			pair = recipient
		default:
			return nil, refuse("envelope %s is for another member", e.ID)
		}
	}
	a, err := k.aead(me, pair, e)
	if err != nil {
		return nil, err
	}
	plain, err := a.Open(nil, e.Nonce, e.Box, e.header())
	if err != nil {
		return nil, refuse("envelope %s does not open with this epoch's key", e.ID)
	}
	return unpad(plain)
}

// lvCat writes each part with its length in front (LEB128, as CPace does).
func lvCat(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = binary.AppendUvarint(out, uint64(len(p)))
		out = append(out, p...)
	}
	return out
}

func num(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// padded is the length a content of n bytes is brought to: 4 bytes of length,
// then the next power of two from 256, so that sizes say little.
func padded(n int) int {
	size := 256
	for size < n+4 {
		size *= 2
	}
	return size
}

func pad(content []byte) []byte {
	out := make([]byte, padded(len(content)))
	binary.BigEndian.PutUint32(out, uint32(len(content)))
	copy(out[4:], content)
	return out
}

func unpad(plain []byte) ([]byte, error) {
	if len(plain) < 4 {
		return nil, refuse("the sealed part is too short")
	}
	n := int(binary.BigEndian.Uint32(plain))
	if n > len(plain)-4 || padded(n) != len(plain) || len(bytes.Trim(plain[4+n:], "\x00")) != 0 {
		return nil, refuse("the padding of the sealed part is wrong")
	}
	return bytes.Clone(plain[4 : 4+n]), nil
}
