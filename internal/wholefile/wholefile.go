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

// Create begins a file that is to be at path, for this user's eyes alone: a
// temporary file beside it. Whoever begins one defers its Drop.
func Create(path string) (*File, error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tandem-*") // mode 0600
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
