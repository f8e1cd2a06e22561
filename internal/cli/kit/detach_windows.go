package kit

import (
	"os"
	"os/exec"
	"syscall"
)

const detachedProcess = 0x8

func detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: detachedProcess | syscall.CREATE_NEW_PROCESS_GROUP}
}

func openTTY() (*os.File, error) { return os.OpenFile("CONIN$", os.O_RDWR, 0) }
