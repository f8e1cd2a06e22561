//go:build !unix

package gitstore

import "os"

// mapFile is the content of an immutable file, read whole.
func mapFile(path string) (data []byte, release func(), err error) {
	data, err = os.ReadFile(path)
	return data, func() {}, err
}
