package tool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"tandem/internal/fault"
)

// A Place was judged by its path. Between that and the opening whoever else writes to the folder can put a link in the place of a
// folder on the way, so nothing here opens a path: it goes down from the granted folder by one name at a time, and what it holds
// open is the very folder of that name. What was opened is what was judged.

var errMoved = errors.New("it was replaced while it was opened")

// enter opens a folder by its name in another one. A link is not entered.
func enter(dir *os.Root, name string) (*os.Root, error) {
	st, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		if st.Mode()&fs.ModeSymlink != 0 {
			return nil, errMoved
		}
		return nil, errNotFolder
	}
	sub, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if got, err := sub.Stat("."); err != nil || !os.SameFile(st, got) {
		sub.Close()
		return nil, errMoved
	}
	return sub, nil
}

// openIn opens a regular file by its name in a folder. A link is not followed.
func openIn(dir *os.Root, name string) (*os.File, fs.FileInfo, error) {
	st, err := dir.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case st.Mode()&fs.ModeSymlink != 0:
		return nil, nil, errMoved
	case st.IsDir():
		return nil, nil, errFolder
	case !st.Mode().IsRegular(): // opening a pipe would wait for its other end
		return nil, nil, errNotRegular
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that came meanwhile is not waited for
	if err != nil {
		return nil, nil, err
	}
	got, err := f.Stat()
	if err != nil || !os.SameFile(st, got) {
		f.Close()
		return nil, nil, errMoved
	}
	return f, got, nil
}

// OpenBelow opens a regular file by its path below a folder, with slashes, through no link.
func OpenBelow(root *os.Root, rel string) (*os.File, error) {
	dir := root
	defer func() {
		if dir != root {
			dir.Close()
		}
	}()
	names := strings.Split(rel, "/")
	for _, name := range names[:len(names)-1] {
		sub, err := enter(dir, name)
		if err != nil {
			return nil, err
		}
		if dir != root {
			dir.Close()
		}
		dir = sub
	}
	f, _, err := openIn(dir, names[len(names)-1])
	return f, err
}

var (
	errFolder     = errors.New("it is a folder")
	errNotFolder  = errors.New("it is not a folder")
	errNotRegular = errors.New("it is not a regular file")
)

// open goes down to the folder rel of the place's granted folder. make says that folders which are missing are made.
func (p Place) open(rel string, make bool) (*os.Root, error) {
	dir, err := os.OpenRoot(p.Folder.Path)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "tool", "the granted folder %s cannot be opened", p.Folder.Path)
	}
	if rel == "." {
		return dir, nil
	}
	for name := range strings.SplitSeq(rel, string(filepath.Separator)) {
		sub, err := enter(dir, name)
		if make && errors.Is(err, fs.ErrNotExist) {
			if err = dir.Mkdir(name, 0o755); err == nil || errors.Is(err, fs.ErrExist) {
				sub, err = enter(dir, name)
			}
		}
		dir.Close()
		if err != nil {
			return nil, p.explain(err)
		}
		dir = sub
	}
	return dir, nil
}

// Open opens the folder that the place is. The caller closes it.
func (p Place) Open() (*os.Root, error) { return p.open(p.Rel, false) }

// Shows says whether the caller sees a path at or below the place: what is as open as the place itself, about which the gate decided.
func (p Place) Shows(rel string) bool {
	s := p.Folder.seen(rel)
	return !s.Hidden && (s.Asks == "" || s.Asks == p.Folder.seen(p.Rel).Asks)
}

// Hidden refuses a place that is not there for the caller.
func (p Place) Hidden() error {
	if p.Folder.seen(p.Rel).Hidden {
		return fault.New(fault.NotFound, "tool", "there is no %s", p.Path)
	}
	return nil
}

// Fixed refuses a place that the caller may not change without being asked.
func (p Place) Fixed() error {
	if s := p.Folder.seen(p.Rel); s.Fixed {
		return fault.New(fault.Denied, "tool", "%s is not to be changed (%s)", p.Path, s.By)
	}
	return nil
}

// ReadFile reads a whole file of at most limit bytes.
func (p Place) ReadFile(limit int64) ([]byte, error) {
	dir, err := p.open(filepath.Dir(p.Rel), false)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	b, err := readIn(dir, filepath.Base(p.Rel), limit)
	if err != nil {
		return nil, p.explain(err)
	}
	return b, nil
}

// errTooLarge says that a file has more bytes than were asked for.
type errTooLarge struct{ size, limit int64 }

// Error makes errTooLarge an error.
func (errTooLarge) Error() string { return "it is too large" }

// readIn reads a whole file of a folder that is open.
func readIn(dir *os.Root, name string, limit int64) ([]byte, error) {
	f, st, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st.Size() > limit {
		return nil, errTooLarge{st.Size(), limit}
	}
	b := make([]byte, 0, st.Size()+1)
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err != nil {
			if errors.Is(err, os.ErrClosed) {
				return nil, err
			}
			return b, nil
		}
		if int64(len(b)) > limit {
			return nil, errTooLarge{int64(len(b)), limit} // it grew while it was read
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}

// WriteFile replaces a file: a new one beside it, synced, then renamed over it. Folders on the way are made.
func (p Place) WriteFile(content []byte) error {
	dir, err := p.open(filepath.Dir(p.Rel), true)
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(p.Rel)
	mode := fs.FileMode(0o644)
	if st, err := dir.Lstat(name); err == nil {
		if !st.Mode().IsRegular() {
			return p.explain(errNotRegular)
		}
		mode = st.Mode().Perm()
	}
	tmp := name + ".tandem-new"
	dir.Remove(tmp) //nolint:errcheck // left by a crash, or a link that somebody put there: it is made anew
	f, err := dir.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return p.explain(err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = dir.Rename(tmp, name)
	}
	if err != nil {
		dir.Remove(tmp) //nolint:errcheck // the first error counts
		return p.explain(err)
	}
	return nil
}

// Remove deletes a regular file; one that is gone already is no error.
func (p Place) Remove() error {
	dir, err := p.open(filepath.Dir(p.Rel), false)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(p.Rel)
	st, err := dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !st.Mode().IsRegular() {
		return p.explain(errNotRegular)
	}
	if err == nil {
		err = dir.Remove(name)
	}
	if err != nil {
		return p.explain(err)
	}
	return nil
}

func (p Place) explain(err error) error {
	var large errTooLarge
	switch {
	case errors.As(err, &large):
		return fault.New(fault.Invalid, "tool", "%s has %d bytes; %d can be read", p.Path, large.size, large.limit)
	case errors.Is(err, errFolder):
		return fault.New(fault.Invalid, "tool", "%s is a folder", p.Path).WithNext("use list")
	case errors.Is(err, errNotFolder):
		return fault.New(fault.Invalid, "tool", "%s is not a folder that can be listed", p.Path)
	case errors.Is(err, errNotRegular):
		return fault.New(fault.Invalid, "tool", "%s is not a regular file", p.Path)
	case errors.Is(err, errMoved):
		return fault.New(fault.Conflict, "tool", "%s changed while it was opened", p.Path).WithNext("look again")
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.NotFound, "tool", "there is no %s", p.Path)
	case errors.Is(err, fs.ErrPermission):
		return fault.New(fault.Denied, "tool", "the system does not allow opening %s", p.Path)
	case strings.Contains(err.Error(), "escapes"):
		return fault.New(fault.Denied, "tool", "%s leads out of the granted folder", p.Path)
	}
	return fault.New(fault.Unavailable, "tool", "%s: %s", p.Path, cause(err))
}

func cause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
