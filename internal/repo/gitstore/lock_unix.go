//go:build unix

package gitstore

import (
	"fmt"
	"os"
	"syscall"
)

// fileLock is jj's lock on a file: flock. Stock jj removes the file when it
// lets go; ours stays for the next one, which spares a file system the making
// and removing of one for every command.
type fileLock struct{ f *os.File }

// lockFile waits for the exclusive lock.
func lockFile(path string) (*fileLock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		for {
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
			if err != syscall.EINTR {
				break
			}
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// The holder before us may have removed the file; then our lock is on a
		// file that nobody else can find.
		var st syscall.Stat_t
		if err := syscall.Fstat(int(f.Fd()), &st); err == nil && st.Nlink > 0 {
			return &fileLock{f}, nil
		}
		f.Close()
	}
}

// unlock lets go.
func (l *fileLock) unlock() { l.f.Close() }
