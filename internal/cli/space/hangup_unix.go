//go:build unix

package space

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// hangup calls ended when nobody reads what this process writes any more: the
// agent that started it is gone.
func hangup(ctx context.Context, ended func()) {
	for ctx.Err() == nil {
		fds := []unix.PollFd{{Fd: 1}, {Fd: 2}}
		n, err := unix.Poll(fds, 1000)
		if err != nil && err != unix.EINTR {
			return
		}
		if n > 0 && (fds[0].Revents|fds[1].Revents)&(unix.POLLHUP|unix.POLLERR) != 0 {
			ended()
			return
		}
		if n > 0 { // something else is to be said about them, again and again
			time.Sleep(time.Second)
		}
	}
}
