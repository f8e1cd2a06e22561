//go:build !linux && !darwin

package since

import "io/fs"

// changedAt is not known here: a file is told apart by its size and the time that it shows.
func changedAt(fs.FileInfo) int64 { return 0 }
