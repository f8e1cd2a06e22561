package gitstore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
)

// batch writes content-addressed files under temporary names and gives them
// their own when all are on disk, so that one wait covers them all. Files get
// their names in the order they were added.
type batch struct {
	files []staged
	dirs  map[string]struct{} // in which names appear
}

type staged struct{ tmp, path string }

// add writes a file without waiting for the disk. Its name says what it holds, so
// one that is there already is replaced by the same.
func (b *batch) add(path string, data []byte, perm fs.FileMode) error {
	tmp, err := writeUnsynced(filepath.Dir(path), data, perm)
	if err != nil {
		return err
	}
	b.take(tmp, path)
	return nil
}

// take lets a finished file of another maker join.
func (b *batch) take(tmp, path string) {
	b.files = append(b.files, staged{tmp, path})
	b.touch(filepath.Dir(path))
}

// touch has a directory synced with the rest.
func (b *batch) touch(dir string) {
	if b.dirs == nil {
		b.dirs = map[string]struct{}{}
	}
	b.dirs[dir] = struct{}{}
}

// drop removes what has not got its name.
func (b *batch) drop() {
	for _, f := range b.files {
		os.Remove(f.tmp)
	}
	b.files = nil
}

// commit waits for the disk, names the files, and waits for their names.
func (b *batch) commit() error {
	if len(b.files) == 0 {
		return nil
	}
	if err := syncStaged(b.files); err != nil {
		return err
	}
	for len(b.files) > 0 {
		f := b.files[0]
		if err := rename(f.tmp, f.path); err != nil {
			return err
		}
		b.files = b.files[1:]
	}
	err := syncDirs(b.dirs)
	b.dirs = nil
	return err
}

// syncMany is from how many files on the whole file system is synced at once,
// where there is such a call.
const syncMany = 16

func syncStaged(files []staged) error {
	if len(files) >= syncMany {
		if done, err := syncFileSystems(files); done || err != nil {
			return err
		}
	}
	errs := make([]error, len(files))
	var wg sync.WaitGroup
	slots := make(chan struct{}, syncMany)
	for i, f := range files {
		slots <- struct{}{}
		wg.Go(func() {
			errs[i] = syncFile(f.tmp)
			<-slots
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func syncFile(path string) error {
	mode := os.O_RDONLY
	if runtime.GOOS == "windows" {
		mode = os.O_RDWR // it flushes only what may be written
	}
	f, err := os.OpenFile(path, mode, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// tempPrefix begins the name of a file that is being written: git's own, so that
// git passes by, and clears away in time, what a crash leaves. tempEnd ends it, so
// that among refs it is none. oldTemp was its name before.
const (
	tempPrefix = "tmp_obj_"
	tempEnd    = ".lock"
	oldTemp    = ".tmp-"
)

// Behind it stands what chance chose for this process, and a count.
var (
	tempStart = sync.OnceValue(rand.Text)
	tempCount atomic.Uint64
)

// writeUnsynced writes a file under a temporary name.
func writeUnsynced(dir string, data []byte, perm fs.FileMode) (name string, err error) {
	name = filepath.Join(dir, fmt.Sprintf("%s%s-%d%s", tempPrefix, tempStart(), tempCount.Add(1), tempEnd))
	made, err := createFile(name, data, perm)
	if err != nil && made {
		os.Remove(name)
	}
	return name, err
}
