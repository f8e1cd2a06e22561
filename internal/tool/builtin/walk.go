package builtin

import (
	"path"
	"strings"

	"tandem/internal/fault"
)

// skipped are folders that searches do not enter: machine-made, large, and never what was meant.
var skipped = map[string]bool{".git": true, ".jj": true, ".hg": true, "node_modules": true, ".venv": true, "__pycache__": true,
	"target": true}

func skip(name string) bool { return skipped[name] }

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
