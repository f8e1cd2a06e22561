//go:build unix

package kit

import (
	"context"
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaitKey waits until a key was pressed, or gives the cause of ctx's end. A pipe wakes it for the latter, so that no key is read that the
// next question should get. It is select and not poll, which does not know terminals on macOS.
func awaitKey(ctx context.Context, tty *os.File) error {
	ended, wake, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ended.Close()
	stop := context.AfterFunc(ctx, func() { wake.Close() })
	defer func() {
		if stop() {
			wake.Close()
		}
	}()
	keys, pipe := int(tty.Fd()), int(ended.Fd())
	for ctx.Err() == nil {
		var fds unix.FdSet
		fds.Set(keys)
		fds.Set(pipe)
		switch _, err := unix.Select(max(keys, pipe)+1, &fds, nil, nil, nil); {
		case errors.Is(err, unix.EINTR): // the window changed its size
		case err != nil:
			return err
		case fds.IsSet(keys):
			return nil
		}
	}
	return context.Cause(ctx)
}
