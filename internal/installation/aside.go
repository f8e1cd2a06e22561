package installation

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"tandem/internal/wholefile"
)

// SetAside moves everything of an installation into a folder of its own inside
// the data folder, so that a new one begins with nothing of it: no keys, data,
// settings, addresses or repositories. It returns that folder, "" when there
// was nothing. Whoever calls it holds the data folder's lock.
func SetAside(data string, now time.Time) (string, error) {
	entries, err := os.ReadDir(data)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	to := filepath.Join(data, "set-aside-"+now.UTC().Format("20060102-150405.000000"))
	moved := false
	for _, e := range entries {
		if e.Name() == "lock" || strings.HasPrefix(e.Name(), "set-aside-") {
			continue
		}
		if !moved {
			if err := os.Mkdir(to, 0o700); err != nil {
				return "", err
			}
			moved = true
		}
		if err := os.Rename(filepath.Join(data, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return to, err
		}
	}
	if !moved {
		return "", nil
	}
	return to, errors.Join(wholefile.SyncFolder(to), wholefile.SyncFolder(data))
}
