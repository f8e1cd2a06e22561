package gitstore

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"
)

// writeFile makes path hold data: a temporary file beside it, synced, renamed.
// The directory itself is the caller's to sync.
func writeFile(path string, data []byte, perm fs.FileMode) error {
	tmp, err := writeTemp(filepath.Dir(path), data, perm)
	if err != nil {
		return err
	}
	if err := rename(tmp, path); err != nil {
		os.Remove(tmp)
		return err
	}
	return nil
}

// writeTemp writes a synced file under a temporary name.
func writeTemp(dir string, data []byte, perm fs.FileMode) (name string, err error) {
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		return "", err
	}
	if err = f.Chmod(perm); err != nil && runtime.GOOS != "windows" {
		return "", err
	}
	if err = f.Sync(); err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

// syncDir makes renames in a directory survive a power cut. Windows has no
// such call and needs none.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// syncDirs syncs several directories at once, so that a journalling file
// system can join the waits.
func syncDirs(dirs map[string]struct{}) error {
	errs := make(chan error, len(dirs))
	var wg sync.WaitGroup
	for dir := range dirs {
		wg.Go(func() { errs <- syncDir(dir) })
	}
	wg.Wait()
	close(errs)
	var all error
	for err := range errs {
		all = errors.Join(all, err)
	}
	return all
}

// Lock is one of jj's locks on a file, held.
type Lock struct{ l *fileLock }

// LockFile waits for jj's lock on a file: other programs that follow jj's
// rules wait too.
func LockFile(ctx context.Context, path string) (*Lock, error) {
	l, err := lockFile(ctx, path)
	if err != nil {
		return nil, err
	}
	return &Lock{l}, nil
}

// Unlock lets go.
func (l *Lock) Unlock() { l.l.unlock() }

// waiting is somebody who waits for a lock: a little longer each time, as others
// hold it for a moment or for long.
type waiting struct{ next, longest time.Duration }

// more waits, or says that ctx has ended.
func (w *waiting) more(ctx context.Context) error {
	w.next = min(max(2*w.next, 100*time.Microsecond), w.longest)
	t := time.NewTimer(w.next)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
