//go:build unix

package session

import (
	"os"
	"os/exec"
	"syscall"

	"tandem/internal/fault"
)

// become replaces this process.
func become(argv, env []string) error {
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return fault.New(fault.Unavailable, "session", "%s is not installed", argv[0])
	}
	return syscall.Exec(path, argv, env)
}

// orphan says that whoever started us is gone: nobody reads what we would answer.
func orphan() bool { return os.Getppid() == 1 }
