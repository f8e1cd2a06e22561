package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"

	"golang.org/x/crypto/argon2"

	"tandem/internal/fault"
)

// Argon2id at 19 MiB and two passes, the smallest setting OWASP recommends:
// a check costs about 30 ms and no lasting memory.
const (
	argonTime, argonMemory, argonThreads = 2, 19 << 10, 1
	MinPIN, maxPIN                       = 6, 128
)

func hashPIN(pin string) string {
	salt := make([]byte, 16)
	rand.Read(salt)
	return "argon2id$" + hex.EncodeToString(salt) + "$" + hex.EncodeToString(derive(pin, salt))
}

func derive(pin string, salt []byte) []byte {
	return argon2.IDKey([]byte(pin), salt, argonTime, argonMemory, argonThreads, 32)
}

func pinMatches(stored, pin string) bool {
	var saltHex, keyHex string
	if _, err := fmt.Sscanf(stored, "argon2id$%32s", &saltHex); err != nil || len(stored) != len("argon2id$")+32+1+64 {
		return false
	}
	keyHex = stored[len("argon2id$")+33:]
	salt, err1 := hex.DecodeString(saltHex)
	key, err2 := hex.DecodeString(keyHex)
	return err1 == nil && err2 == nil && subtle.ConstantTimeCompare(derive(pin, salt), key) == 1
}

// CheckPINForm refuses PINs that are too easy to guess.
func CheckPINForm(pin string) error {
	same := true
	for i := 1; i < len(pin); i++ {
		same = same && pin[i] == pin[0]
	}
	switch {
	case len(pin) < MinPIN:
		return fault.New(fault.Invalid, "pin.set", "a PIN has at least %d characters", MinPIN)
	case len(pin) > maxPIN:
		return fault.New(fault.Invalid, "pin.set", "a PIN has at most %d characters", maxPIN)
	case same:
		return fault.New(fault.Invalid, "pin.set", "a PIN of one repeated character is no PIN")
	}
	return nil
}

// HasPIN reports whether an actor has set a PIN: by its row or, where somebody took that away, by the journal.
func (r *Room) HasPIN(ctx context.Context, tenant, actor string) (bool, error) {
	if r.Vouch.Knows(tenant, pinSeal(tenant, actor, "", 0).Subject) {
		return true, nil
	}
	var n int
	err := r.db.QueryRow(ctx, "SELECT count(*) FROM pin WHERE tenant = ? AND actor = ?", tenant, actor).Scan(&n)
	return n > 0, err
}
