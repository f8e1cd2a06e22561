package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// readJSON reads a file of ours; ok is false when there is none.
func readJSON(path string, v any) (ok bool, err error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return true, nil
}

// readHint reads a file of ours that can be done without: one that a power cut
// damaged is as good as none.
func readHint[T any](path string) (v T, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return v, err
	}
	if json.Unmarshal(data, &v) != nil {
		var none T
		return none, nil
	}
	return v, nil
}

// writeJSON replaces a file of ours as a whole, and has it on disk when it
// returns.
func writeJSON(path string, v any) error { return replace(path, v, true) }

// writeHint replaces a file that readHint reads, without waiting for the disk.
func writeHint(path string, v any) error { return replace(path, v, false) }

func replace(path string, v any, durable bool) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil || !durable || runtime.GOOS == "windows" {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
