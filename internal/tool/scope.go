package tool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"tandem/internal/fault"
)

// Folder is a folder that a person granted.
type Folder struct {
	Path     string `json:"path"`
	ReadOnly bool   `json:"read_only,omitempty"`

	hidden []string // below it, out of reach beside what is sensitive by name
}

// Hides says whether a path below the folder is out of reach. It is judged by its part below the folder: a person who grants a
// folder called secrets meant it.
func (f Folder) Hides(rel string) bool {
	for _, h := range f.hidden {
		if rel == h || strings.HasPrefix(rel, h+string(filepath.Separator)) {
			return true
		}
	}
	return Sensitive("/" + rel)
}

// Scope is the files that a session can reach.
type Scope struct{ folders []Folder }

// NewScope makes a scope of granted folders without what is hidden (tandem's own state). Links in a folder's own path are
// followed once, here: what was granted is the place itself.
func NewScope(folders []Folder, hidden ...string) *Scope {
	s := &Scope{}
	for _, f := range folders {
		f.Path = resolve(f.Path)
		for _, h := range hidden {
			if rel, ok := below(f.Path, resolve(h)); ok {
				f.hidden = append(f.hidden, rel)
			}
		}
		s.folders = append(s.folders, f)
	}
	// The innermost folder speaks for a path.
	sort.SliceStable(s.folders, func(i, j int) bool { return len(s.folders[i].Path) > len(s.folders[j].Path) })
	return s
}

// Folders lists what was granted.
func (s *Scope) Folders() []Folder { return append([]Folder(nil), s.folders...) }

// Place is a path inside the scope.
type Place struct {
	Path   string // absolute, clean
	Rel    string // below the folder, "." for the folder itself
	Folder Folder
}

// Locate finds the granted folder of a path, which may be relative to dir. It refuses what is outside, what is read-only
// when write is asked for, and sensitive files.
func (s *Scope) Locate(dir, path string, write bool) (Place, error) {
	if path == "" {
		path = "."
	}
	if strings.ContainsRune(path, 0) {
		return Place{}, fault.New(fault.Invalid, "tool", "a path cannot hold a zero byte")
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path = filepath.Clean(path)
	real := resolve(path)
	for _, f := range s.folders {
		rel, ok := below(f.Path, real)
		if !ok {
			continue
		}
		if f.Hides(rel) || Sensitive(filepath.Base(path)) {
			return Place{}, fault.New(fault.Denied, "tool", "%s may hold keys or passwords and is out of reach", path)
		}
		if write && f.ReadOnly {
			return Place{}, fault.New(fault.Denied, "tool", "%s was granted for reading only", f.Path).WithNext("a person can change that: tandem grant folder %s", f.Path)
		}
		return Place{Path: real, Rel: rel, Folder: f}, nil
	}
	return Place{}, fault.New(fault.Denied, "tool", "%s is outside the granted folders", path).WithNext("a person can grant it: tandem grant folder %s", filepath.Dir(path))
}

// below is the part of a path below a folder.
func below(folder, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(folder, path)
	return rel, err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// resolve follows links in the part of a path that exists. What cannot be resolved stays as it is: opening goes through
// os.Root, which refuses to leave the folder whatever this says.
func resolve(path string) string {
	rest := ""
	for p := path; ; {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return path
		}
		parent := filepath.Dir(p)
		if parent == p {
			return path
		}
		rest = filepath.Join(filepath.Base(p), rest)
		p = parent
	}
}

// Root opens the folder of a place. The caller closes it.
func (p Place) Root() (*os.Root, error) {
	r, err := os.OpenRoot(p.Folder.Path)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "tool", "the granted folder %s cannot be opened", p.Folder.Path)
	}
	return r, nil
}

// ReadFile reads a whole file of at most limit bytes. A link that was put in place after Locate looked leads nowhere: the
// opened file must be the one at the resolved path.
func (p Place) ReadFile(limit int64) ([]byte, error) {
	root, err := p.Root()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.Open(p.Rel)
	if err != nil {
		return nil, p.explain(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, p.explain(err)
	}
	if l, err := root.Lstat(p.Rel); err != nil || !os.SameFile(l, st) {
		return nil, fault.New(fault.Conflict, "tool", "%s changed while it was opened", p.Path)
	}
	switch {
	case st.IsDir():
		return nil, fault.New(fault.Invalid, "tool", "%s is a folder", p.Path).WithNext("use list")
	case !st.Mode().IsRegular():
		return nil, fault.New(fault.Invalid, "tool", "%s is not a regular file", p.Path)
	case st.Size() > limit:
		return nil, fault.New(fault.Invalid, "tool", "%s has %d bytes; %d can be read", p.Path, st.Size(), limit)
	}
	b := make([]byte, 0, st.Size()+1)
	for {
		n, err := f.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err != nil {
			if errors.Is(err, os.ErrClosed) {
				return nil, p.explain(err)
			}
			return b, nil
		}
		if int64(len(b)) > limit {
			return nil, fault.New(fault.Invalid, "tool", "%s grew while it was read", p.Path)
		}
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
	}
}

// WriteFile replaces a file: a new one beside it, synced, then renamed over it. Folders on the way are made.
func (p Place) WriteFile(content []byte) error {
	root, err := p.Root()
	if err != nil {
		return err
	}
	defer root.Close()
	mode := fs.FileMode(0o644)
	if st, err := root.Lstat(p.Rel); err == nil {
		if !st.Mode().IsRegular() {
			return fault.New(fault.Invalid, "tool", "%s is not a regular file", p.Path)
		}
		mode = st.Mode().Perm()
	}
	if dir := filepath.Dir(p.Rel); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return p.explain(err)
		}
	}
	tmp := p.Rel + ".tandem-new"
	f, err := root.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, mode)
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
		err = root.Rename(tmp, p.Rel)
	}
	if err != nil {
		root.Remove(tmp) //nolint:errcheck // the first error counts
		return p.explain(err)
	}
	return nil
}

// Remove deletes a regular file; one that is gone already is no error.
func (p Place) Remove() error {
	root, err := p.Root()
	if err != nil {
		return err
	}
	defer root.Close()
	st, err := root.Lstat(p.Rel)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && !st.Mode().IsRegular() {
		return fault.New(fault.Invalid, "tool", "%s is not a regular file", p.Path)
	}
	if err == nil {
		err = root.Remove(p.Rel)
	}
	if err != nil {
		return p.explain(err)
	}
	return nil
}

func (p Place) explain(err error) error {
	switch {
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
