//go:build !unix

package gitstore

import "io/fs"

// umask is what new files lose; only Unix has one.
func umask() fs.FileMode { return 0 }
