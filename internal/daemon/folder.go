package daemon

import (
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"tandem/internal/fault"
)

// folder makes the data folder, or refuses one that others could read, that
// belongs to somebody else, or whose disk cannot be trusted with locks.
func folder(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fault.New(fault.Unavailable, "daemon", "cannot make the data folder %s: %w", path, err).
			WithNext("check its parent's owner and space, or use --data")
	}
	st, err := os.Lstat(path)
	if err != nil {
		return fmt.Errorf("look at the data folder: %w", err)
	}
	if !st.IsDir() {
		return fault.New(fault.Invalid, "daemon", "%s is not a folder", path).WithNext("use --data with another folder")
	}
	return trusted(path, st)
}

// CheckFolder says whether an existing folder is fit to be a data folder.
func CheckFolder(path string) error { return folder(path) }

// maxSocket is how long a socket's path may be on every system we run on.
const maxSocket = 100

// SocketPath is where the control socket of a data folder is. One that was put
// into a folder that others reach, such as /tmp, is in a private folder beside
// it. A path too long for a socket moves to a private folder for temporary files.
func SocketPath(data, given string) string {
	path := given
	if path == "" {
		path = filepath.Join(data, "tandem.sock")
	}
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if dir := filepath.Dir(path); given != "" && shared(dir) {
		path = filepath.Join(dir, fmt.Sprintf(".tandem-%d", os.Getuid()), filepath.Base(path))
	}
	if len(path) <= maxSocket {
		return path
	}
	h := fnv.New64a()
	h.Write([]byte(path))
	return filepath.Join(os.TempDir(), fmt.Sprintf("tandem-%d", os.Getuid()), fmt.Sprintf("%x.sock", h.Sum64()))
}

var errHeld = errors.New("held by another process")

// hold takes the data folder's lock for the life of the process.
func hold(data string) (release func(), err error) {
	f, err := take(data)
	if err != nil {
		return nil, err
	}
	name(f)
	return func() { f.Truncate(0); unlock(f); f.Close() }, nil //nolint:errcheck // a name that stays is of a process that ends
}

// take takes the lock without saying who has it.
func take(data string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(data, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "daemon", "cannot write to the data folder %s: %w", data, err).
			WithNext("check its owner and that its disk is mounted writable")
	}
	began := time.Now()
	for err = tryLock(f); errors.Is(err, errHeld) && time.Since(began) < lasts(f); err = tryLock(f) {
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		f.Close()
		if errors.Is(err, errHeld) {
			return nil, fault.New(fault.Conflict, "daemon", "tandem is already running on %s%s", data, holderText(data)).
				WithNext("see it: tandem status; stop it: tandem down").With("running", "yes")
		}
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	return f, nil
}

// Locks that are not of a daemon: a program that a killed one was just starting has its lock, too, until it is started; and who
// looks whether the folder is free has it for a moment, and is not named in it.
const (
	lingers = 10 * time.Second
	glance  = 2 * time.Second
)

// lasts is how long a lock that somebody has is waited for: a daemon keeps it.
func lasts(f *os.File) time.Duration {
	switch pid := holder(f); {
	case pid == 0:
		return glance
	case gone(pid):
		return lingers
	}
	return 0
}

// name writes into the lock who holds it. On a full disk it does not, and is waited for as who only looks.
func name(f *os.File) {
	if f.Truncate(0) == nil {
		f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0) //nolint:errcheck // see above
	}
}

// holder is the process that took the lock, 0 when that is not known.
func holder(f io.ReaderAt) int {
	b := make([]byte, 20)
	n, err := f.ReadAt(b, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0
	}
	pid, err := strconv.Atoi(string(b[:n]))
	if err != nil || pid < 1 {
		return 0
	}
	return pid
}

func holderText(data string) string {
	if pid := Holder(data); pid > 0 {
		return fmt.Sprintf(" (PID %d)", pid)
	}
	return ""
}

// Holder is the process id of the daemon that holds a data folder, 0 when that is not known. It takes no lock: whether the
// daemon still holds it, Free says.
func Holder(data string) int {
	f, err := os.Open(filepath.Join(data, "lock"))
	if err != nil {
		return 0
	}
	defer f.Close()
	return holder(f)
}

// End ends a daemon that does not answer, by force when it has to.
func End(data string) (pid int, err error) {
	free, err := Free(data)
	if err != nil {
		return 0, err
	}
	pid = Holder(data)
	if free || pid == 0 || pid == os.Getpid() {
		return 0, fault.New(fault.Unavailable, "down", "no process is known to hold %s", data).WithNext("see: tandem status")
	}
	if err := end(pid, 5*time.Second); err != nil {
		return pid, fault.New(fault.Unavailable, "down", "the process %d could not be ended: %w", pid, err)
	}
	return pid, nil
}

// Held reports whether a start failed because a daemon holds the data folder already.
func Held(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Data["running"] != ""
}

// Free reports whether no daemon holds the data folder.
func Free(data string) (bool, error) {
	f, err := take(data)
	if Held(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	unlock(f)
	return true, f.Close()
}
