package builtin

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/tool"
)

// skipped are folders that searches do not enter: machine-made, large, and never what was meant.
var skipped = map[string]bool{".git": true, ".jj": true, ".hg": true, "node_modules": true, ".venv": true, "__pycache__": true, "target": true}

var errEnough = errors.New("enough")

// maxVisited bounds one search.
const maxVisited = 200_000

func slashRel(rel string) string { return filepath.ToSlash(rel) }

func notThere(p tool.Place, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.NotFound, "tool", "there is no %s", p.Path)
	}
	return fault.New(fault.Invalid, "tool", "%s is not a folder that can be listed", p.Path)
}

// walk visits the regular files below a place, without the skipped folders and the sensitive files. visit gets the path
// below the place. It says whether the search was cut short.
func walk(ctx context.Context, p tool.Place, visit func(fsys fs.FS, full, rel string) error) (cut bool, err error) {
	root, err := p.Root()
	if err != nil {
		return false, err
	}
	defer root.Close()
	if st, err := root.Stat(p.Rel); err != nil || !st.IsDir() {
		if err == nil {
			err = os.ErrInvalid
		}
		return false, notThere(p, err)
	}
	base := slashRel(p.Rel)
	n := 0
	err = fs.WalkDir(root.FS(), base, func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // an unreadable corner does not end a search
		}
		if n++; n > maxVisited {
			return errEnough
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if full != base && (p.Folder.Hides(filepath.FromSlash(full)) || d.IsDir() && skipped[d.Name()]) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		rel := strings.TrimPrefix(full, base+"/")
		if base == "." {
			rel = full
		}
		return visit(root.FS(), full, rel)
	})
	if errors.Is(err, errEnough) {
		return true, nil
	}
	return false, err
}

// matchGlob matches slash-separated paths; ** stands for any number of folders. A pattern without a slash matches the
// file's name anywhere.
func matchGlob(pattern, rel string) bool {
	if !strings.Contains(pattern, "/") {
		ok, _ := path.Match(pattern, path.Base(rel))
		return ok
	}
	return matchParts(strings.Split(strings.TrimPrefix(pattern, "/"), "/"), strings.Split(rel, "/"))
}

func matchParts(pat, parts []string) bool {
	if len(pat) == 0 {
		return len(parts) == 0
	}
	if pat[0] == "**" {
		for i := 0; i <= len(parts); i++ {
			if matchParts(pat[1:], parts[i:]) {
				return true
			}
		}
		return false
	}
	if len(parts) == 0 {
		return false
	}
	ok, _ := path.Match(pat[0], parts[0])
	return ok && matchParts(pat[1:], parts[1:])
}

func checkGlob(name, pattern string) error {
	if pattern == "" {
		return fault.New(fault.Invalid, name, "the pattern is empty")
	}
	if strings.Count(pattern, "**") > 4 || len(pattern) > 500 {
		return fault.New(fault.Invalid, name, "the pattern is too long")
	}
	if _, err := path.Match(strings.ReplaceAll(pattern, "**", "*"), "x"); err != nil {
		return fault.New(fault.Invalid, name, "%q is not a pattern", pattern)
	}
	return nil
}
