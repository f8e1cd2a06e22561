package backup

import (
	"crypto/hpke"
	"crypto/rand"
	"encoding/base64"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/chacha20poly1305"

	"tandem/internal/fault"
)

// Secret is what locks a copy, or opens it. All empty leaves it open.
type Secret struct {
	Passphrase string
	Recipient  string // locks: as Recipient prints it
	Identity   string // opens what was locked to its recipient
}

// lock is how a copy's key lies in its first line.
type lock struct {
	Kind   string `json:"kind"` // open, passphrase or recipient
	Salt   []byte `json:"salt,omitempty"`
	Time   uint32 `json:"time,omitempty"`
	Memory uint32 `json:"memory,omitempty"` // KiB
	Key    []byte `json:"key"`              // the copy's key: as it is, or sealed
	For    string `json:"for,omitempty"`    // the recipient
}

const (
	publicPrefix  = "tdmcopy-"
	privatePrefix = "TDMCOPY-SECRET-"
	purpose       = "tandem backup key v1"
	argonTime     = 3
	argonMemory   = 64 << 10
	maxTime       = 16        // of what somebody else's first line may ask for
	maxMemory     = 256 << 10 // and of this
)

func kem() hpke.KEM { return hpke.MLKEM768X25519() }

// NewIdentity makes a key pair: the identity opens what is locked to the recipient.
// It is kept where the server is not.
func NewIdentity() (identity, recipient string, err error) {
	key, err := kem().GenerateKey()
	if err != nil {
		return "", "", err
	}
	private, err := key.Bytes()
	if err != nil {
		return "", "", err
	}
	return privatePrefix + base64.RawURLEncoding.EncodeToString(private),
		publicPrefix + base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()), nil
}

func parse(prefix, text string) ([]byte, error) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), prefix)
	raw, err := base64.RawURLEncoding.DecodeString(rest)
	if !ok || err != nil {
		return nil, fault.New(fault.Invalid, "server.backup", "that is no key of copies: one begins with %s", prefix).
			WithNext("make a pair: tandem server backup-key FILE")
	}
	return raw, nil
}

// newKey makes a copy's key and locks it.
func newKey(s Secret) (key []byte, l lock, err error) {
	key = make([]byte, chacha20poly1305.KeySize)
	rand.Read(key)
	switch {
	case s.Passphrase != "" && s.Recipient != "":
		return nil, l, fault.New(fault.Invalid, "server.backup", "a copy has a passphrase or a recipient").WithNext("leave one of them out")
	case s.Passphrase != "":
		l = lock{Kind: "passphrase", Salt: make([]byte, 16), Time: argonTime, Memory: argonMemory}
		rand.Read(l.Salt)
		l.Key, err = seal(l.stretch(s.Passphrase), 0, 'k', key)
	case s.Recipient != "":
		var raw []byte
		if raw, err = parse(publicPrefix, s.Recipient); err != nil {
			return nil, l, err
		}
		public, err := kem().NewPublicKey(raw)
		if err != nil {
			return nil, l, fault.New(fault.Invalid, "server.backup", "the recipient is no key: %w", err).
				WithNext("make a pair: tandem server backup-key FILE")
		}
		l = lock{Kind: "recipient", For: s.Recipient}
		l.Key, err = hpke.Seal(public, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), []byte(purpose), key)
		return key, l, err
	default:
		l = lock{Kind: "open", Key: key}
	}
	return key, l, err
}

func (l lock) stretch(passphrase string) []byte {
	return argon2.IDKey([]byte(passphrase), l.Salt, l.Time, l.Memory, 4, chacha20poly1305.KeySize)
}

// open is the copy's key.
func (l lock) open(s Secret) ([]byte, error) {
	switch l.Kind {
	case "open":
		return l.Key, nil
	case "passphrase":
		if s.Passphrase == "" {
			return nil, fault.New(fault.Invalid, "server.restore", "the copy is locked with a passphrase").
				WithNext("say it: --passphrase, or --passphrase-file FILE")
		}
		if l.Memory > maxMemory || l.Time > maxTime || l.Time == 0 || len(l.Salt) == 0 {
			return nil, damaged("its lock asks for too much")
		}
		key, err := unseal(l.stretch(s.Passphrase), 0, 'k', l.Key)
		if err != nil {
			return nil, fault.New(fault.Denied, "server.restore", "that is not the passphrase of the copy").
				WithNext("try again; nothing was changed")
		}
		return key, nil
	case "recipient":
		if s.Identity == "" {
			return nil, fault.New(fault.Invalid, "server.restore", "the copy is locked to %.24s…", l.For).
				WithNext("say where its identity is: --identity FILE")
		}
		raw, err := parse(privatePrefix, s.Identity)
		if err != nil {
			return nil, err
		}
		private, err := kem().NewPrivateKey(raw)
		if err == nil {
			var key []byte
			if key, err = hpke.Open(private, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), []byte(purpose), l.Key); err == nil {
				return key, nil
			}
		}
		return nil, fault.New(fault.Denied, "server.restore", "that identity does not open the copy, which is locked to %.24s…", l.For).
			WithNext("use the one that belongs to this recipient")
	}
	return nil, damaged("its lock %q is of a newer program", l.Kind)
}
