package tool

import (
	"errors"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"tandem/internal/fault"
)

// Folder is a folder that a person granted.
type Folder struct {
	Path     string `json:"path"`
	ReadOnly bool   `json:"read_only,omitempty"`
	Outfit   Outfit `json:"-"` // of its commands

	hidden []string // below it, out of reach beside what is sensitive by name
	sight  *Sight
}

// Seen is what policy lets the caller do with a file: see policy.Seen.
type Seen struct {
	Hidden bool
	Asks   string
	Fixed  bool
	By     string
}

// Sight is policy's answer to what one caller may see. Paths have slashes.
type Sight struct {
	Of func(path string) Seen
	// Edges are the places below a folder where the answer may change.
	Edges func(folder string) []string
}

// keeps says whether a path below the folder is out of reach of everybody. It is judged by its part below the folder: a person who
// grants a folder called secrets meant it.
func (f Folder) keeps(rel string) bool {
	for _, h := range f.hidden {
		if rel == h || strings.HasPrefix(rel, h+string(filepath.Separator)) {
			return true
		}
	}
	return Sensitive("/" + rel)
}

// seen is the one answer to what the caller may do with a path below the folder.
func (f Folder) seen(rel string) Seen {
	switch {
	case f.keeps(rel):
		return Seen{Hidden: true, By: keyFile}
	case f.sight == nil:
		return Seen{}
	}
	return f.sight.Of(Slashed(filepath.Join(f.Path, rel)))
}

// keyFile is why a file is hidden from everybody.
const keyFile = "it may hold keys or passwords"

// Slashed is a path as policy reads it.
func Slashed(p string) string {
	p = filepath.ToSlash(p)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return p
}

// Scope is the files that a session can reach.
type Scope struct{ folders []Folder }

// Seeing is the scope as one caller sees it: without what policy keeps from it.
func (s *Scope) Seeing(sight *Sight) *Scope {
	out := &Scope{folders: s.Folders()}
	for i := range out.folders {
		out.folders[i].sight = sight
	}
	return out
}

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
	innermostFirst(s.folders)
	return s
}

// innermostFirst sorts folders: the innermost speaks for a path.
func innermostFirst(folders []Folder) {
	sort.SliceStable(folders, func(i, j int) bool { return len(folders[i].Path) > len(folders[j].Path) })
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
// when write is asked for, what may be written and not read, and sensitive files. What else policy says of the path is the gate's to
// answer.
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
		if f.keeps(rel) || Sensitive(filepath.Base(path)) {
			return Place{}, fault.New(fault.Denied, "tool", "%s may hold keys or passwords and is out of reach", path)
		}
		if write && f.ReadOnly {
			return Place{}, fault.New(fault.Denied, "tool", "%s was granted for reading only", f.Path).
				WithNext("a person can change that: tandem grant folder %s", f.Path)
		}
		if write && f.seen(rel).Hidden { // a change shows what was there before, and whether a guess of it was right
			return Place{}, fault.New(fault.Denied, "tool", "%s may not be read, so it cannot be changed (%s)", path, f.seen(rel).By).
				WithNext("a person can say why: tandem policy explain --help")
		}
		return Place{Path: real, Rel: rel, Folder: f}, nil
	}
	where := path
	if real != path { // its own folder may well be granted: what is missing is where the link leads
		where += ", a link to " + real + ","
	}
	return Place{}, fault.New(fault.Denied, "tool", "%s is outside the granted folders", where).
		WithNext("a person can grant it: tandem grant folder %s", filepath.Dir(real))
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
