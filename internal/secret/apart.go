package secret

import (
	"crypto/rand"
	"errors"

	"tandem/internal/fault"
)

// apart binds a value that is sealed outside the database: what is needed to
// open the database cannot be in it.
func apart(id string) bound { return bound{name: "apart", key: id, version: 1} }

// SealApart seals a value under a key of its own, which the first keeper that
// can keeps under the id. Sealing again uses the same key.
func SealApart(keepers []Keeper, id string, value []byte) ([]byte, error) {
	key, err := loadApart(keepers, id)
	if errors.Is(err, errNoKey) {
		key = make([]byte, keySize)
		rand.Read(key)
		var failed []error
		for _, k := range keepers {
			if err = k.Store(id, key); err == nil {
				break
			}
			failed = append(failed, err)
		}
		if len(failed) == len(keepers) {
			err = fault.New(fault.Unavailable, "secret.key", "no place keeps the key: %w", errors.Join(failed...)).
				WithNext("unlock the keyring, or make the data folder writable")
		}
	}
	if err != nil {
		return nil, err
	}
	return seal(key, value, apart(id))
}

// OpenApart opens what SealApart sealed.
func OpenApart(keepers []Keeper, id string, sealed []byte) ([]byte, error) {
	key, err := loadApart(keepers, id)
	if err != nil {
		return nil, err
	}
	return unseal(key, sealed, apart(id))
}

// DropApart does away with the key of something that was sealed apart, wherever it is kept.
func DropApart(keepers []Keeper, id string) error {
	for _, k := range keepers {
		if _, err := k.Load(id); err != nil {
			continue // it is not there, or nothing there can be reached
		}
		if err := k.Delete(id); err != nil {
			return fault.New(fault.Unavailable, "secret.key", "the old key cannot be removed: %w", err).
				WithNext("unlock the keyring, or make the data folder writable, and rotate again")
		}
	}
	return nil
}

// loadApart asks every keeper. That one cannot be reached counts only when no other has the key.
func loadApart(keepers []Keeper, id string) ([]byte, error) {
	missing := errNoKey
	for _, k := range keepers {
		key, err := k.Load(id)
		if err == nil {
			return key, nil
		}
		if k.Name() == "file" && !errors.Is(err, errNoKey) {
			missing = err
		}
	}
	return nil, missing
}
