//go:build unix

package gitstore

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"
)

// fileLock is jj's lock on a file: flock. Stock jj removes the file when it
// lets go; ours stays for the next one, which spares a file system the making
// and removing of one for every command.
type fileLock struct{ f *os.File }

// lockFile waits for the exclusive lock.
func lockFile(ctx context.Context, path string) (*fileLock, error) {
	wait := waiting{longest: 5 * time.Millisecond}
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == syscall.EINTR || err == syscall.EWOULDBLOCK {
			f.Close()
			if err := wait.more(ctx); err != nil {
				return nil, fmt.Errorf("lock %s: %w", path, err)
			}
			continue
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
