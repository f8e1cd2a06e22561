package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"tandem/internal/fault"
)

// readHead reads what a copy says of itself, and settles where its repositories will be.
func (s *staged) readHead(content io.Reader) error {
	if err := json.NewDecoder(content).Decode(&s.head); err != nil {
		return fault.New(fault.Invalid, "server.restore", "this is not a copy that tandem made: %w", err)
	}
	if s.to == "" {
		return nil
	}
	taken := map[string]bool{}
	for i := range s.head.Repos {
		r := &s.head.Repos[i]
		path := filepath.Join(s.to, filepath.Base(r.Path))
		for n := 2; taken[path]; n++ {
			path = filepath.Join(s.to, fmt.Sprintf("%s-%d", filepath.Base(r.Path), n))
		}
		if r.Content && present(path) {
			return fault.New(fault.Conflict, "server.restore", "%s is there already, and would be taken for the copy's repository %s", path, r.Name).
				WithNext("name another folder for its repositories: --repos-to FOLDER; nothing was changed")
		}
		r.Path, taken[path] = path, true
	}
	return nil
}

// begin makes the folders of repositories that are in the copy and nowhere else.
func (s *staged) begin() (map[string]*os.Root, error) {
	roots := map[string]*os.Root{}
	for _, r := range s.head.Repos {
		if !r.Content || present(r.Path) {
			continue
		}
		beside := filepath.Dir(r.Path)
		if s.aside != "" {
			beside = s.aside
		}
		part, err := restoringIn(beside)
		if err != nil {
			return roots, fault.New(fault.Unavailable, "server.restore", "the copy's repository %s was in %s, and no folder can be made there: %w",
				r.Name, r.Path, errors.Unwrap(err)).WithNext("name a folder for its repositories: --repos-to FOLDER; nothing was changed")
		}
		s.repos[r.Path] = part
		if roots[r.ID], err = os.OpenRoot(part); err != nil {
			return roots, err
		}
	}
	return roots, nil
}

func restoringIn(beside string) (string, error) {
	if err := os.MkdirAll(beside, 0o755); err != nil {
		return "", err
	}
	return os.MkdirTemp(beside, ".tandem-restoring-*")
}

// present says whether there is something in a folder.
func present(path string) bool {
	left, err := os.ReadDir(path)
	return err == nil && len(left) > 0
}
