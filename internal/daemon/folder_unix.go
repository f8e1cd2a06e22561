//go:build unix

package daemon

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"tandem/internal/fault"
)

func trusted(path string, st os.FileInfo) error {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Getuid() {
		return fault.New(fault.Denied, "daemon", "%s belongs to another user", path).WithNext("use --data with a folder of your own")
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fault.New(fault.Denied, "daemon", "%s can be read by others (%o)", path, st.Mode().Perm()).WithNext("chmod 700 %s", path)
	}
	if name := networkDisk(path); name != "" {
		return fault.New(fault.Denied, "daemon", "%s is on a network disk (%s), where locks and syncs cannot be trusted", path, name).
			WithNext("use --data with a folder on a local disk, or PostgreSQL with --database")
	}
	return nil
}

// gone says whether there is no such process.
func gone(pid int) bool { return errors.Is(unix.Kill(pid, 0), unix.ESRCH) }

func tryLock(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errHeld
	}
	return err
}

// unlock gives the lock up for everybody who has it: closing the file alone leaves it with a program that is just being started.
func unlock(f *os.File) { unix.Flock(int(f.Fd()), unix.LOCK_UN) } //nolint:errcheck // then closing has to do
