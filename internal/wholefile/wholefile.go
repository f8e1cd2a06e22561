// Package wholefile writes files whole or not at all: whoever reads one
// finds the old content or the new one, also after a crash, a full disk or a
// loss of power.
package wholefile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Write replaces the file at path by data.
func Write(path string, data []byte) error { return WriteFrom(path, bytes.NewReader(data)) }

// WriteFrom replaces the file at path by what from holds.
func WriteFrom(path string, from io.Reader) error {
	f, err := Create(path)
	if err != nil {
		return err
	}
	defer f.Drop()
	if _, err := io.Copy(f, from); err != nil {
		return err
	}
	return f.Keep()
}

// File is a file that has no name of its own until it is kept.
type File struct {
	*os.File
	path string
}

// half is how the name of a file begins that is to be at path.
func half(path string) string {
	base := filepath.Base(path)
	return ".tandem-" + strings.ReplaceAll(base[:min(len(base), 60)], "*", "_") + "-"
}

// Forsake removes what a crash left of files that were to be at path. Nobody may be writing one.
func Forsake(path string) error {
	list, err := os.ReadDir(filepath.Dir(path))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range list {
		if strings.HasPrefix(e.Name(), half(path)) && e.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(filepath.Dir(path), e.Name())))
		}
	}
	return err
}

// ForsakeAll removes what crashes left in a folder that is the program's own, where nothing was written to it since: files, and folders
// with databases that were looked at.
func ForsakeAll(folder string, since time.Time) error {
	list, err := os.ReadDir(folder)
	for _, e := range list {
		st, statErr := e.Info()
		if statErr != nil || !strings.HasPrefix(e.Name(), ".tandem-") {
			continue
		}
		path, newest := filepath.Join(folder, e.Name()), st.ModTime()
		if st.IsDir() {
			within, readErr := os.ReadDir(path)
			err = errors.Join(err, readErr)
			for _, f := range within {
				if in, statErr := f.Info(); statErr == nil && in.ModTime().After(newest) {
					newest = in.ModTime()
				}
			}
		}
		if (st.Mode().IsRegular() || st.IsDir()) && newest.Before(since) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	return err
}

// Create begins a file that is to be at path, for this user's eyes alone: a
// temporary file beside it. Whoever begins one defers its Drop.
func Create(path string) (*File, error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), half(path)+"*") // mode 0600
	if err != nil {
		return nil, err
	}
	return &File{tmp, path}, nil
}

// Keep ends the file and puts it at its path, in place of what was there: synced,
// renamed, and the folder synced so that the name is not forgotten either.
func (f *File) Keep() error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), f.path); err != nil {
		return err
	}
	return SyncFolder(filepath.Dir(f.path))
}

// Drop removes a file that was not kept.
func (f *File) Drop() {
	f.Close()
	os.Remove(f.Name())
}

// SyncFolder makes the names in a folder last.
func SyncFolder(path string) error {
	if runtime.GOOS == "windows" { // it has no such call
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Path is where the file is when it is kept.
func (f *File) Path() string { return f.path }
