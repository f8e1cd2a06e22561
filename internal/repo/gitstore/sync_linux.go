package gitstore

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// syncFileSystems syncs each file system that the files lie on, in one call
// each.
func syncFileSystems(files []staged) (done bool, err error) {
	seen := map[uint64]bool{}
	dirs := map[string]bool{}
	for _, f := range files {
		dir := filepath.Dir(f.tmp)
		if dirs[dir] {
			continue
		}
		dirs[dir] = true
		d, err := os.Open(dir)
		if err != nil {
			return false, err
		}
		var st unix.Stat_t
		err = unix.Fstat(int(d.Fd()), &st)
		if err == nil && !seen[st.Dev] {
			seen[st.Dev] = true
			err = unix.Syncfs(int(d.Fd()))
		}
		if err = errors.Join(err, d.Close()); err != nil {
			return false, err
		}
	}
	return true, nil
}
