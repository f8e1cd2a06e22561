package daemon

import (
	"net"
	"os"

	"golang.org/x/sys/unix"

	"tandem/internal/fault"
)

// sameUser refuses a socket's caller that runs as somebody else. The file's
// mode says the same; this holds when the mode was changed.
func sameUser(c net.Conn) error {
	refused := fault.New(fault.Denied, "socket", "this socket belongs to another user")
	u, ok := c.(*net.UnixConn)
	if !ok {
		return refused
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return refused
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil || credErr != nil {
		return refused
	}
	if int(cred.Uid) != os.Getuid() {
		return refused
	}
	return nil
}
