package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"tandem/internal/repo"
)

// manyRefs is how many refs are worth a whole file: each alone takes a file, a lock and two flushes of the disk.
const manyRefs = 64

// ChangeRefs makes refs that are not there, and removes those that are where the caller thought. Many are changed in packed-refs at once,
// as git's own clone does.
func (s *Store) ChangeRefs(create, remove map[string]string) error {
	if len(create)+len(remove) >= manyRefs {
		if err := s.repack(create, remove); err != nil {
			return err
		}
		create = nil
		maps.DeleteFunc(remove, func(name, _ string) bool { // what has no file is gone
			_, err := os.Lstat(filepath.Join(s.gitDir, filepath.FromSlash(name)))
			return errors.Is(err, fs.ErrNotExist)
		})
	}
	for _, name := range slices.Sorted(maps.Keys(remove)) {
		if err := s.UpdateRef(name, remove[name], ""); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(create)) {
		if err := s.UpdateRef(name, "", create[name]); err != nil {
			return err
		}
	}
	return nil
}

// repack writes packed-refs anew.
func (s *Store) repack(create, remove map[string]string) error {
	for name := range create {
		if err := checkRefName(name); err != nil {
			return err
		}
	}
	path := filepath.Join(s.gitDir, "packed-refs")
	lock, err := os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return fmt.Errorf("lock packed-refs: %w", err)
	}
	defer os.Remove(path + ".lock")
	defer lock.Close()
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	packed, err := parsePackedRefs(data)
	if err != nil {
		return err
	}
	for name, id := range remove {
		if r, there := packed[name]; there && r.ID == id {
			delete(packed, name)
		}
	}
	for name, id := range create {
		if _, there := packed[name]; there {
			return &RefMovedError{name}
		}
		packed[name] = Ref{ID: id}
	}
	var out bytes.Buffer
	out.WriteString("# pack-refs with: sorted \n") // nothing of what is peeled: for that git looks at the objects
	for _, name := range slices.Sorted(maps.Keys(packed)) {
		r := packed[name]
		fmt.Fprintf(&out, "%s %s\n", repo.CommitID(r.ID).Hex(), name)
		if r.Peeled != "" {
			fmt.Fprintf(&out, "^%s\n", repo.CommitID(r.Peeled).Hex())
		}
	}
	if _, err := lock.Write(out.Bytes()); err != nil {
		return err
	}
	if err := errors.Join(lock.Sync(), lock.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".lock", path); err != nil {
		return err
	}
	return syncDir(s.gitDir)
}
