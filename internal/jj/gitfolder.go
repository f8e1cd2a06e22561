package jj

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// checkGitDir looks whether a folder, or a file that points to one, is a git
// repository.
func checkGitDir(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return userf("Failed to access the repository").because(&chained{"Cannot access " + path, err})
	}
	dir, common := path, path
	if !st.IsDir() {
		if dir, err = pointedTo(path); err != nil {
			return noGit(path, err)
		}
		common = dir
	}
	if !exists(filepath.Join(dir, "HEAD")) {
		return noGit(path, fmt.Errorf("Missing HEAD at '.git/HEAD'"))
	}
	if data, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
		if common = strings.TrimRight(string(data), "\r\n"); !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
	}
	for _, part := range []string{"objects", "refs"} {
		sub := filepath.Join(common, part)
		if st, err := os.Stat(sub); err != nil || !st.IsDir() {
			kind := map[string]string{"objects": "an objects", "refs": "a refs"}[part]
			return noGit(path, fmt.Errorf("Expected %s directory at '%s'", kind, sub))
		}
	}
	return nil
}

// pointedTo reads a file of the form "gitdir: <path>".
func pointedTo(file string) (string, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	text := strings.TrimRight(string(data), "\r\n")
	dir, ok := strings.CutPrefix(text, "gitdir: ")
	if !ok || dir == "" {
		return "", fmt.Errorf("Format should be 'gitdir: <path>', but got: %q", text)
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(file), dir)
	}
	return dir, nil
}

// noGit is the error for what is no git repository.
func noGit(path string, why error) error {
	return userf("Failed to access the repository").because(&chained{"Failed to open git repository",
		&chained{fmt.Sprintf("%q does not appear to be a git repository", path), why}})
}

// chained is an error with the one that caused it below.
type chained struct {
	msg   string
	cause error
}

// Error is the message alone: causes are listed one by one.
func (c *chained) Error() string { return c.msg }

// Unwrap is the cause.
func (c *chained) Unwrap() error { return c.cause }
