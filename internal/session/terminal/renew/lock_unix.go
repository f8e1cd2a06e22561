//go:build unix

package renew

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile locks a file as Codex does.
func lockFile(ctx context.Context, path string) (free func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
			err = pause(ctx)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
	}
}
