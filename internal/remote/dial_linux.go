package remote

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// giveUp makes a connection fail when what was sent on it stays unanswered for
// so long: a cable that was pulled says nothing.
func giveUp(after time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		var failed error
		if err := c.Control(func(fd uintptr) {
			failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(after.Milliseconds()))
		}); err != nil {
			return err
		}
		return failed
	}
}
