package confine

import (
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Works says whether this machine can confine, and if not, why.
func Works() error {
	if len(denied) == 0 {
		return fmt.Errorf("there is no table of system calls for %s", runtime.GOARCH)
	}
	abi, err := landlockABI()
	if err != nil {
		return fmt.Errorf("the kernel has no Landlock: %w", err)
	}
	if abi < minABI {
		return fmt.Errorf("the kernel's Landlock (ABI %d) cannot keep files from being cut; Linux 6.2 can", abi)
	}
	return nil
}

// Scopes says whether the kernel can keep a program from abstract sockets: Linux 6.12 and later.
func Scopes() bool {
	abi, err := landlockABI()
	return err == nil && abi >= 6
}

// become binds this thread to the plan and turns the process into the program. Restrictions belong to a thread, and the thread
// that executes is the one that stays, so nothing else has to be bound.
func become(p Plan) error {
	runtime.LockOSThread()
	if err := Works(); err != nil && !p.Sockets {
		return err
	}
	// A command ends with the server that started it.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("die with the server: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if p.Sockets {
		if err := scope(); err != nil {
			return err
		}
		return fmt.Errorf("start %s: %w", p.Argv[0], syscall.Exec(p.Argv[0], p.Argv, os.Environ()))
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := restrictFiles(p); err != nil {
		return err
	}
	if err := restrictCalls(p.Network); err != nil {
		return err
	}
	return fmt.Errorf("start %s: %w", p.Argv[0], syscall.Exec(p.Argv[0], p.Argv, os.Environ()))
}

// dropCapabilities leaves nothing of root but its name. They do not come back with the next program, because new privileges were
// given up before.
func dropCapabilities() error {
	var none [2]unix.CapUserData
	if err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0]); err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}
