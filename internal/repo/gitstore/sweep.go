package gitstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// unfinished is for how long nothing was written to a file that nobody writes any
// more: whoever began it was killed.
const unfinished = time.Hour

// packPrefix begins the name of a pack that is being written, as git's own does.
const packPrefix = "tmp_pack_"

// beginPack makes the file of a new pack. Before, it removes those of others who
// were killed: each may have gigabytes, and whoever is killed each time leaves one
// each time. Its name has this process's, whose own files stay however long.
func beginPack(dir string) (*os.File, error) {
	_ = sweepDir(dir, time.Now()) // a pack can be written beside what is left
	return os.CreateTemp(dir, packPrefix+tempStart()+"-*")
}

// sweep removes files that were begun in the own object database and are not
// written any more. Those of large files can have gigabytes, and nobody's git looks
// for them in a copy. It looks once in an hour.
func (o *objects) sweep(now time.Time) error {
	last := o.swept.Load()
	if now.Unix()-last < int64(unfinished/time.Second) || !o.swept.CompareAndSwap(last, now.Unix()) {
		return nil
	}
	err := sweepDir(filepath.Join(o.dir, "pack"), now)
	names, readErr := os.ReadDir(o.dir)
	if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) {
		err = errors.Join(err, readErr)
	}
	for _, n := range names {
		if n.IsDir() && len(n.Name()) == 2 {
			err = errors.Join(err, sweepDir(filepath.Join(o.dir, n.Name()), now))
		}
	}
	return err
}

// sweepDir is sweep for one folder.
func sweepDir(dir string, now time.Time) error {
	names, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, n := range names {
		begun := strings.HasPrefix(n.Name(), packPrefix) || strings.HasPrefix(n.Name(), tempPrefix)
		if !begun || !n.Type().IsRegular() || strings.Contains(n.Name(), tempStart()) {
			continue
		}
		info, statErr := n.Info()
		if statErr != nil || now.Sub(info.ModTime()) < unfinished {
			continue
		}
		if removeErr := os.Remove(filepath.Join(dir, n.Name())); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}
	return err
}
