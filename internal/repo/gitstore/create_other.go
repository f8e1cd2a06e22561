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
