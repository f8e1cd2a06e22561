package workcopy

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"tandem/internal/repo"
)

// Scratch is a folder that holds the files of one tree after the other and
// that no workspace knows of; what was seen of the files is kept in dir. The
// caller keeps others away. While files are changed there is no state on disk,
// so that one that was left in the middle is not trusted: it starts empty.
func Scratch(root, dir string, s repo.Store, fresh bool) (l *Locked, reused bool, err error) {
	w := &WorkingCopy{Root: root, dir: dir, store: s, state: newTreeState()}
	path := filepath.Join(dir, "tree_state")
	if _, err := os.Lstat(path); err == nil && !fresh {
		if w.state, err = readTreeState(path); err != nil {
			return nil, false, err
		}
		return &Locked{WorkingCopy: w, IgnoreExec: noExecBits}, true, os.Remove(path)
	}
	for _, d := range []string{path, root, dir} {
		if err := os.RemoveAll(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, false, err
		}
	}
	for _, d := range []string{root, dir} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return nil, false, err
		}
	}
	return &Locked{WorkingCopy: w, IgnoreExec: noExecBits}, false, nil
}

// KeepState saves what was seen of a scratch folder's files for the next use.
func (l *Locked) KeepState() error {
	return replaceFile(filepath.Join(l.dir, "tree_state"), l.state.encode())
}
