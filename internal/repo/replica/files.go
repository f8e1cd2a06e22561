package replica

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/internal/wholefile"
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
func writeJSON(path string, v any) error {
	data, err := placed(path, v)
	if err != nil {
		return err
	}
	return wholefile.Write(path, data)
}

// writeHint replaces a file that readHint reads, without waiting for the disk.
func writeHint(path string, v any) error {
	data, err := placed(path, v)
	if err != nil {
		return err
	}
	f, err := wholefile.Create(path)
	if err != nil {
		return err
	}
	defer f.Drop()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// placed is what a file of ours is to hold, whose folder is there.
func placed(path string, v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return data, os.MkdirAll(filepath.Dir(path), 0o755)
}
