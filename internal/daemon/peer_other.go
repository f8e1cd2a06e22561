//go:build !linux

package daemon

import (
	"net"
	"os"
)

// sameUser rests on the socket's mode where the kernel's word is not asked.
func sameUser(net.Conn) error { return nil }

// isRoot is not asked where the kernel's word is not: a recovery takes a code there.
func isRoot(net.Conn) bool { return false }

// socketOwner is not asked where the kernel does not say it plainly: every caller counts as this user.
func socketOwner(net.Conn) (uid int, known bool, err error) { return os.Getuid(), true, nil }

// terminalOf cannot tell one program of this user from another here: all are counted as one.
func terminalOf(net.Conn) string { return "socket" }
