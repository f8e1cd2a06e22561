//go:build unix

package kit

import (
	"os"
	"os/exec"
	"syscall"
)

// detach gives the daemon a session of its own, so that closing the terminal
// does not end it.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func openTTY() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
