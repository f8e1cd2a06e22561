package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"tandem/internal/fault"
)

// secretLine is the first line of a file that nobody else may read: whoever reads it opens the copies. What a container gets as its secret
// all in it can read, and nobody can change that: it is taken, with a word.
func secretLine(warn io.Writer, path string, chmod func(string, fs.FileMode) error) (string, error) {
	st, err := os.Stat(path)
	if err != nil || runtime.GOOS == "windows" || st.Mode().Perm()&0o044 == 0 {
		return firstLine(path)
	}
	open := fault.New(fault.Invalid, "server.backup", "%s can be read by others, and whoever reads it opens the copies", path)
	err = chmod(path, st.Mode()) // to the mode that it has: whether another can be given
	switch {
	case err == nil:
		return "", open.WithNext("chmod 600 %s", path)
	case !errors.Is(err, syscall.EROFS) && !ofContainer(path):
		return "", open.WithNext("copy it to a file of your own: install -m 600 %s FILE", path)
	}
	fmt.Fprintf(warn, "tandem: %s can be read by others in this container, or on its disk, and whoever reads it opens the copies\n", path)
	return firstLine(path)
}

// ofContainer says whether a file is where containers get their secrets.
func ofContainer(path string) bool {
	full, err := filepath.Abs(path)
	return err == nil && (strings.HasPrefix(full, "/run/secrets/") || strings.HasPrefix(full, "/var/run/secrets/"))
}
