package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"time"

	"golang.org/x/crypto/argon2"

	"tandem/internal/db"
	"tandem/internal/fault"
)

// Argon2id at 19 MiB and two passes, the smallest setting OWASP recommends:
// a check costs about 30 ms and no lasting memory.
const (
	argonTime, argonMemory, argonThreads = 2, 19 << 10, 1
	minPIN, maxPIN                       = 6, 128
	freeTries                            = 3 // wrong PINs before the pauses begin
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
	case len(pin) < minPIN:
		return fault.New(fault.Invalid, "pin.set", "a PIN has at least %d characters", minPIN)
	case len(pin) > maxPIN:
		return fault.New(fault.Invalid, "pin.set", "a PIN has at most %d characters", maxPIN)
	case same:
		return fault.New(fault.Invalid, "pin.set", "a PIN of one repeated character is no PIN")
	}
	return nil
}

// pause is how long to wait after so many wrong tries: none for the first
// few, then doubling from 5 seconds up to an hour.
func pause(wrong int) time.Duration {
	if wrong < freeTries {
		return 0
	}
	d := 5 * time.Second << min(wrong-freeTries, 10)
	return min(d, time.Hour)
}

// HasPIN reports whether an actor has set a PIN.
func (r *Room) HasPIN(ctx context.Context, tenant, actor string) (bool, error) {
	var n int
	err := r.db.QueryRow(ctx, "SELECT count(*) FROM pin WHERE tenant = ? AND actor = ?", tenant, actor).Scan(&n)
	return n > 0, err
}

// ProvePIN proves that the person actor is present. A wrong PIN is counted
// before it is checked, so that racing guesses do not help.
func (r *Room) ProvePIN(ctx context.Context, tenant, actor, pin string) error {
	var stored string
	err := r.db.Write(ctx, func(tx *db.Tx) error {
		var wrong int
		var until int64
		err := tx.QueryRow("SELECT hash, wrong, wait_until FROM pin WHERE tenant = ? AND actor = ?"+tx.ForUpdate(), tenant, actor).Scan(&stored, &wrong, &until)
		if db.NoRows(err) {
			return fault.New(fault.Denied, "presence", "no PIN has been set, so nobody can prove to be present").WithNext("set one on a terminal: tandem pin set")
		}
		if err != nil {
			return err
		}
		if wait := db.Time(until).Sub(tx.Now()); wait > 0 {
			return fault.New(fault.Exhausted, "presence", "too many wrong PINs; the next try is possible in %s", wait.Round(time.Second)).WithNext("wait, then try again")
		}
		_, err = tx.Exec("UPDATE pin SET wrong = wrong + 1, wait_until = ? WHERE tenant = ? AND actor = ?", tx.Now().Add(pause(wrong+1)), tenant, actor)
		return err
	})
	if err != nil {
		return err
	}
	if !pinMatches(stored, pin) {
		return fault.New(fault.Denied, "presence", "the PIN is wrong")
	}
	return r.db.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec("UPDATE pin SET wrong = 0, wait_until = 0 WHERE tenant = ? AND actor = ?", tenant, actor)
		return err
	})
}
