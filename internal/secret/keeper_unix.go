//go:build unix

package secret

import (
	"os"

	"tandem/internal/fault"
)

// private refuses a key file that others may read.
func private(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fault.New(fault.Unavailable, "secret.key", "%s may be read by others (mode %o)", path, st.Mode().Perm()).
			WithNext("run: chmod 600 %s, and then: tandem secret rotate", path)
	}
	return nil
}
