package peer

import (
	"errors"
	"fmt"
	"os"

	"tandem/internal/fault"
	"tandem/internal/space/seal"
	"tandem/internal/wholefile"
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
	if err := wholefile.Write(path, k); err != nil {
		return nil, fmt.Errorf("keep the key of seats: %w", err)
	}
	return k, nil
}
