//go:build !unix

package host

import (
	"errors"
	"io/fs"
)

// full says whether a disk takes nothing more.
func full(err error) bool { return errors.Is(err, fs.ErrPermission) }
