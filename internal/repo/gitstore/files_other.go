//go:build !unix

package gitstore

import (
	"errors"
	"io/fs"
	"os"
)

// createFile writes a file that must not be there yet.
func createFile(name string, data []byte, perm fs.FileMode) (made bool, err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return false, err
	}
	_, err = f.Write(data)
	return true, errors.Join(err, f.Close())
}

// rename moves a content-addressed file into place. A file that is open elsewhere
// cannot be replaced; one that is already in place will do, since its name says
// what it holds.
func rename(from, to string) error {
	err := os.Rename(from, to)
	if err != nil {
		if _, statErr := os.Stat(to); statErr == nil {
			os.Remove(from)
			return nil
		}
	}
	return err
}
