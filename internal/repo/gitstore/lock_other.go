//go:build !unix

package gitstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// fileLock is a file that exists while the lock is held, as jj does where
// flock is missing.
type fileLock struct{ f *os.File }

// lockFile waits for the exclusive lock.
func lockFile(ctx context.Context, path string) (*fileLock, error) {
	wait := waiting{longest: 50 * time.Millisecond}
	for deadline := time.Now().Add(30 * time.Second); ; {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil {
			return &fileLock{f}, nil
		}
		if !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("lock: %w", err)
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("lock %s: held for 30 seconds; remove it if no jj runs", path)
		}
		if err := wait.more(ctx); err != nil {
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
	}
}

// unlock lets go.
func (l *fileLock) unlock() {
	l.f.Close()
	os.Remove(l.f.Name())
}
