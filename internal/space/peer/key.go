package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tandem/internal/fault"
	"tandem/internal/space/seal"
)

// Key reads the key that seals seats at rest, and makes it when absent.
func Key(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err == nil {
		if len(b) != 32 {
			return nil, fault.New(fault.Unavailable, "space", "%s is not a key of 32 bytes", path).WithNext("restore it from a copy; without it the seats of this machine cannot be opened")
		}
		return b, nil
	}
	if !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the key of seats: %w", err)
	}
	k, err := seal.NewKey()
	if err != nil {
		return nil, err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".key-*") // 0600
	if err != nil {
		return nil, fmt.Errorf("make the key of seats: %w", err)
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(k); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close(), os.Rename(f.Name(), path)); err != nil {
		return nil, fmt.Errorf("keep the key of seats: %w", err)
	}
	return k, nil
}
