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

// WriteFrom replaces the file at path by what from holds, for this user's eyes
// alone: a temporary file beside it, synced, renamed, and the folder synced so
// that the name is not forgotten either.
func WriteFrom(path string, from io.Reader) error {
	tmp, err := os.CreateTemp(filepath.Dir(path), ".tandem-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, from)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	if runtime.GOOS == "windows" { // it has no such call
		return nil
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
