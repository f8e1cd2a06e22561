package identity

import (
	"context"
	"encoding/hex"
	"strings"

	"tandem/internal/db"
	"tandem/internal/fault"
	"tandem/internal/op"
)

// HashPIN is what a machine that sets itself up is given in place of a PIN.
func HashPIN(pin string) (string, error) {
	if err := CheckPINForm(pin); err != nil {
		return "", err
	}
	return hashPIN(pin), nil
}

// CheckPINHash refuses what HashPIN never made.
func CheckPINHash(hash string) error {
	salt, key, ok := strings.Cut(strings.TrimPrefix(hash, "argon2id$"), "$")
	_, err1 := hex.DecodeString(salt)
	_, err2 := hex.DecodeString(key)
	if !ok || !strings.HasPrefix(hash, "argon2id$") || len(salt) != 32 || len(key) != 64 || err1 != nil || err2 != nil {
		return fault.New(fault.Invalid, "pin.set", "the PIN's hash cannot be read").WithNext("make one: tandem pin hash")
	}
	return nil
}

// FirstPIN sets a person's PIN by its hash where none was ever set, and reports whether it did. record writes down that it did. How
// long the PIN is nobody knows, so guesses wait as for a short one.
func (r *Room) FirstPIN(ctx context.Context, tenant, actor, hash string, record func(tx *db.Tx, row op.Sealed) error) (set bool,
	err error) {
	if has, err := r.HasPIN(ctx, tenant, actor); err != nil || has || r.Vouch.Asks() && !r.Vouch.Whole() {
		return false, err // where words about authority are missing, nobody knows that there was none
	}
	if err := CheckPINHash(hash); err != nil {
		return false, err
	}
	err = r.db.Write(ctx, func(tx *db.Tx) error {
		n, err := tx.Changed(`INSERT INTO pin (tenant, actor, hash, set_at, wrong, wait_until, is_long) VALUES (?, ?, ?, ?, 0, 0, 0)
			ON CONFLICT DO NOTHING`, tenant, actor, hash, tx.Now())
		if set = n == 1; err != nil || !set {
			return err
		}
		return record(tx, pinSeal(tenant, actor, hash, tx.Now().UnixMicro()))
	})
	return set, err
}
