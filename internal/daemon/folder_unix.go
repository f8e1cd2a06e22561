//go:build unix

package daemon

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"tandem/internal/fault"
)

func trusted(path string, st os.FileInfo) error {
	if sys, ok := st.Sys().(*syscall.Stat_t); ok && int(sys.Uid) != os.Getuid() {
		return fault.New(fault.Denied, "daemon", "%s belongs to another user", path).WithNext("use --data with a folder of your own")
	}
	if st.Mode().Perm()&0o077 != 0 {
		return fault.New(fault.Denied, "daemon", "%s can be read by others (%o)", path, st.Mode().Perm()).WithNext("%s", shut(path))
	}
	if name := networkDisk(path); name != "" {
		return fault.New(fault.Denied, "daemon", "%s is on a network disk (%s), where locks and syncs cannot be trusted", path, name).
			WithNext("use --data with a folder on a local disk, or PostgreSQL with --database")
	}
	return nil
}

// shut is how a folder that others can read becomes fit. Only one that holds nothing but tandem's own may be closed to others:
// closing /tmp or a home would harm the machine.
func shut(path string) string {
	for _, name := range []string{"installation.json", "tandem.db", "journal.key"} {
		if _, err := os.Lstat(filepath.Join(path, name)); err == nil {
			return "chmod 700 " + path
		}
	}
	return "use a folder of its own, which is made private: " + filepath.Join(path, "tandem")
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

// end ends a process that does not answer: it is asked, even when it was stopped, and after a while made to.
func end(pid int, patience time.Duration) error {
	if err := unix.Kill(pid, unix.SIGTERM); err != nil {
		return err
	}
	unix.Kill(pid, unix.SIGCONT) //nolint:errcheck // it may not have been stopped
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if gone(pid) {
			return nil
		}
	}
	return unix.Kill(pid, unix.SIGKILL)
}

// shared says whether a folder is there and others may reach what is in it, or put something there.
func shared(path string) bool {
	st, err := os.Stat(path)
	if err != nil {
		return false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	return ok && int(sys.Uid) != os.Getuid() || st.Mode().Perm()&0o077 != 0
}
