//go:build unix

package box_test

import (
	"os"
	"os/exec"
	"syscall"
)

// as has a command run as a user.
func as(cmd *exec.Cmd, uid uint32) {
	if int(uid) != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: uid}
	}
}
