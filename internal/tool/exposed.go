package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"tandem/internal/fault"
)

// maxVisited bounds the search for sensitive files. A folder that is larger is not entered blindly: the command is refused.
const maxVisited = 300_000

var (
	errTooMany = errors.New("too many files")
	errEnough  = errors.New("enough")
)

// sensitive visits the sensitive files and folders that exist in the scope, until visit says no. It does not look into a folder
// that it visited.
func (s *Scope) sensitive(visit func(path string, folder bool) bool) error {
	seen := 0
	for _, f := range s.folders {
		err := filepath.WalkDir(f.Path, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what tandem cannot read, a command with the same rights cannot read either
			}
			if seen++; seen > maxVisited {
				return errTooMany
			}
			rel, _ := below(f.Path, p)
			switch {
			case p == f.Path || !f.Hides(rel) || d.Type()&fs.ModeSymlink != 0:
				return nil
			case !visit(p, d.IsDir()):
				return errEnough
			case d.IsDir():
				return filepath.SkipDir
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			return nil
		}
		if err != nil {
			return fault.New(fault.Exhausted, "bash", "%s holds more than %d files: sensitive ones cannot be found, so no command runs there", f.Path, maxVisited).
				WithNext("grant the folder that the work needs instead")
		}
	}
	return nil
}

// Exposed says which sensitive files a command in this scope could read, in words for whoever decides about it; "" when none.
func (s *Sandbox) Exposed(scope *Scope) (string, error) {
	if s.Kind != Landlock {
		return "", nil
	}
	first, more := "", false
	err := scope.sensitive(func(path string, _ bool) bool {
		more = first != ""
		if !more {
			first = path
		}
		return !more
	})
	switch {
	case err != nil || first == "":
		return "", err
	case more:
		first += " and others"
	}
	return fmt.Sprintf("the command could read %s, which this machine's sandbox (Landlock) cannot hide", first), nil
}
