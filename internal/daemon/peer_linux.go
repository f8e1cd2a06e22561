package daemon

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"tandem/internal/fault"
)

// sameUser refuses a socket's caller that runs as somebody else. The file's
// mode says the same; this holds when the mode was changed.
func sameUser(c net.Conn) error {
	cred, err := otherEnd(c)
	if err != nil || int(cred.Uid) != os.Getuid() {
		return fault.New(fault.Denied, "socket", "this socket belongs to another user")
	}
	return nil
}

// isRoot reports whether root of the machine is at the other end, and not this server's own user.
func isRoot(c net.Conn) bool {
	cred, err := otherEnd(c)
	return err == nil && cred.Uid == 0 && os.Getuid() != 0
}

// otherEnd is what the kernel says about the other end of a socket.
func otherEnd(c net.Conn) (*unix.Ucred, error) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return nil, errors.New("not a local socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return nil, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) { cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return nil, err
	}
	return cred, credErr
}

// terminalOf names the terminal of a socket's caller. A program can have new ones, but not take somebody else's: what is
// counted against one is not counted against a person at another.
func terminalOf(c net.Conn) string {
	const none = "a program without a terminal"
	cred, err := otherEnd(c)
	if err != nil {
		return none
	}
	data, err := os.ReadFile("/proc/" + strconv.Itoa(int(cred.Pid)) + "/stat")
	if err != nil {
		return none
	}
	_, rest, ok := strings.Cut(string(data), ") ") // the name before it may hold anything
	fields := strings.Fields(rest)
	if !ok || len(fields) < 5 || fields[4] == "0" {
		return none
	}
	tty, err := strconv.Atoi(fields[4])
	if err != nil {
		return none
	}
	dev := uint64(uint32(tty))
	return fmt.Sprintf("terminal %d:%d of session %s", unix.Major(dev), unix.Minor(dev), fields[3])
}
