package client

import (
	"net"
	"os"

	"golang.org/x/sys/unix"

	"tandem/internal/fault"
)

// ours refuses a listener that runs as another user.
func ours(c net.Conn) error {
	refused := fault.New(fault.Denied, "client", "somebody else listens on this socket: it is not your daemon").
		WithNext("choose a folder of your own with --control-socket")
	u, ok := c.(*net.UnixConn)
	if !ok {
		return refused
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return refused
	}
	var cred *unix.Xucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL,
			unix.LOCAL_PEERCRED)
	}); err != nil || credErr != nil || int(cred.Uid) != os.Getuid() {
		return refused
	}
	return nil
}
