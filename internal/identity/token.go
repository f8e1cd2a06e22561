package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"strings"
	"time"

	"tandem/internal/fault"
)

// Token is a credential as it may be listed: never the credential itself.
type Token struct {
	ID        string     `json:"id"`
	Actor     string     `json:"actor" jsonschema:"the name of the actor it speaks for"`
	Label     string     `json:"label,omitempty"`
	Decides   bool       `json:"decides,omitempty" jsonschema:"it may decide asks: a person minted it while present"`
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"`
	ExpiresAt *time.Time `json:"expires_at,omitempty"`
	RevokedAt *time.Time `json:"revoked_at,omitempty"`
	UsedAt    *time.Time `json:"used_at,omitempty"`
}

// MaxDecideLife bounds how long a token that may decide can live.
const MaxDecideLife = 90 * 24 * time.Hour

var letters = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// newSecret makes a credential of 160 bits behind a prefix that scanners of
// leaked secrets can look for.
func newSecret(prefix string) string {
	var raw [20]byte
	rand.Read(raw[:])
	return prefix + letters.EncodeToString(raw[:])
}

func hashOf(secret string) []byte {
	sum := sha256.Sum256([]byte("tandem token v1\x00" + secret))
	return sum[:]
}

// minSecret is the shortest credential that may be brought from outside
// (TANDEM_TOKEN): shorter ones can be guessed.
const minSecret = 16

// CheckSecret refuses credentials from the environment that protect nothing.
func CheckSecret(variable, secret string) error {
	if len(secret) < minSecret || strings.ContainsAny(secret, " \t\r\n/?#&") {
		return fault.New(fault.Invalid, "token", "%s is not usable as a token: at least %d characters, without spaces, slashes, ? # or &",
			variable, minSecret).
			WithNext("unset it and tandem makes one, or make one yourself: openssl rand -hex 20")
	}
	return nil
}
