//go:build unix

package host

import (
	"errors"
	"syscall"
)

// full says whether a disk takes nothing more.
func full(err error) bool {
	for _, no := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EACCES, syscall.EPERM} {
		if errors.Is(err, no) {
			return true
		}
	}
	return false
}
