//go:build !linux

package logfile

import (
	"errors"
	"os"
)

// reserve is known on Linux alone.
func reserve(*os.File, int64, int64) error { return errors.ErrUnsupported }
