package seal

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
)

// codeAlphabet has 32 symbols without the ones that look alike (0 O 1 I).
const codeAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"

// plateLen letters of a code say which invite is meant; the host sees them. The
// rest is the secret that only CPace ever uses: 20 bits, of which a few guesses may be made.
const (
	codeLen  = 6
	plateLen = 2
)

// Invite is what a person hands to another. Short ones are spoken or typed;
// long ones carry a 128-bit secret and the host's pinned key.
type Invite struct {
	Plate  string `json:"p"`           // names the invite to the host
	Secret string `json:"s"`           // never leaves the two ends
	Host   string `json:"h,omitempty"` // where the host listens; empty is this machine
	Pin    string `json:"f,omitempty"` // SHA-256 of the host's TLS key, in long invites
}

const linkPrefix = "tandem-join:"

// NewCode makes a short invite. Plates are the inviter's to keep distinct.
func NewCode() (Invite, error) {
	s, err := randomLetters(codeLen)
	if err != nil {
		return Invite{}, err
	}
	return Invite{Plate: s[:plateLen], Secret: s[plateLen:]}, nil
}

// IsPlate reports whether a text can be what names an invite.
func IsPlate(s string) bool { return letters(s, plateLen) }

// NewLink makes a long invite for the same plate.
func NewLink(plate, host, pin string) (Invite, error) {
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return Invite{}, fmt.Errorf("read random secret: %w", err)
	}
	return Invite{Plate: plate, Secret: base64.RawURLEncoding.EncodeToString(b), Host: host, Pin: pin}, nil
}

func randomLetters(n int) (string, error) {
	b := make([]byte, n)
	if _, err := rand.Read(b); err != nil {
		return "", fmt.Errorf("read random code: %w", err)
	}
	for i := range b {
		b[i] = codeAlphabet[b[i]%32] // 256 is a multiple of 32: no bias
	}
	return string(b), nil
}

// String is the form people pass on.
func (i Invite) String() string {
	if i.Short() {
		if i.Host == "" {
			return i.Plate + i.Secret
		}
		return i.Plate + i.Secret + "@" + i.Host
	}
	b, err := json.Marshal(i)
	if err != nil {
		return ""
	}
	return linkPrefix + base64.RawURLEncoding.EncodeToString(b)
}

// Short says whether it is a code that people tell each other, with few bits to guess.
func (i Invite) Short() bool { return len(i.Secret) == codeLen-plateLen }

// Channel binds a handshake to the invite it is for.
func (i Invite) Channel() []byte { return lvCat([]byte("tandem-invite-v1"), []byte(i.Plate)) }

// ParseInvite reads a code, a code with a host, or a link.
func ParseInvite(s string) (Invite, error) {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, linkPrefix); ok {
		b, err := base64.RawURLEncoding.DecodeString(rest)
		if err != nil {
			return Invite{}, refuse("the invite link is cut off or altered")
		}
		var i Invite
		if err := json.Unmarshal(b, &i); err != nil || !letters(i.Plate, plateLen) || len(i.Secret) != 22 {
			return Invite{}, refuse("the invite link is cut off or altered")
		}
		return i, nil
	}
	code, host, hasHost := strings.Cut(s, "@")
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	if !letters(code, codeLen) {
		return Invite{}, refuse("an invite code has %d letters or digits, such as VPA6KW", codeLen)
	}
	if hasHost && (host == "" || strings.ContainsAny(host, " /@")) {
		return Invite{}, refuse("after the @ of an invite comes a host name or address")
	}
	return Invite{Plate: code[:plateLen], Secret: code[plateLen:], Host: host}, nil
}

func letters(s string, n int) bool {
	if len(s) != n {
		return false
	}
	for _, r := range s {
		if !strings.ContainsRune(codeAlphabet, r) {
			return false
		}
	}
	return true
}
