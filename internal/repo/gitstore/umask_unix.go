//go:build unix

package gitstore

import (
	"io/fs"
	"sync"
	"syscall"
)

// umask is what the process's user takes away from new files. Temporary files
// are made private, so their final mode must be worked out.
var umask = sync.OnceValue(func() fs.FileMode {
	m := syscall.Umask(0)
	syscall.Umask(m)
	return fs.FileMode(m)
})
