package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"tandem/internal/fault"
	"tandem/internal/tool"
)

// Bounds of one look.
const (
	MaxFiles   = 10_000  // that fit the pattern
	maxEntries = 200_000 // that are met
	maxPath    = 1024
)

// Passed are folders in which nobody works: version control's own, whose files change with every look at them.
var passed = map[string]bool{".git": true, ".jj": true, ".hg": true, ".svn": true}

// Folder is what is looked at: the files below Path that Fits names and Sees lets be seen, by its full path.
type Folder struct {
	Path string
	Fits func(rel string) bool
	Sees func(path string) bool
}

// Scan says how the files of a folder stand. Links are not followed.
func (f Folder) Scan(ctx context.Context) (State, error) {
	root, err := os.OpenRoot(f.Path)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "watch", "%s cannot be looked at: %s", f.Path, plainly(err))
	}
	defer root.Close()
	if !stands(root, f.Path) {
		return nil, fault.New(fault.Conflict, "watch", "%s leads somewhere else now: a link stands in its way", f.Path)
	}
	out, met := State{}, 0
	err = fs.WalkDir(root.FS(), ".", func(rel string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if met++; met > maxEntries {
			return fault.New(fault.Exhausted, "watch", "%s holds more than %d files and folders", f.Path, maxEntries)
		}
		if rel == "." {
			return err
		}
		if d != nil && d.IsDir() && passed[d.Name()] || !told(rel) || !f.Sees(filepath.Join(f.Path, filepath.FromSlash(rel))) {
			return skip(d)
		}
		if err != nil {
			return passing(err)
		}
		if d.IsDir() || !d.Type().IsRegular() || !f.Fits(rel) {
			return nil // it is not meant
		}
		info, err := d.Info()
		if err != nil {
			return passing(err)
		}
		if len(out) >= MaxFiles {
			return fault.New(fault.Exhausted, "watch", "more than %d files of %s fit the pattern", MaxFiles, f.Path)
		}
		out[rel] = fmt.Sprintf("%d.%d", info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return out, err
}

// passing lets go what went meanwhile or is closed to this server. What cannot be read for another reason is not gone.
func passing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil
	}
	return err
}

// told reports whether a file can be named to a run: not what holds keys, nor a name that is no line of text.
func told(rel string) bool {
	return utf8.ValidString(rel) && len(rel) <= maxPath && !strings.ContainsAny(rel, "\n\r\x00") && !tool.Sensitive("/"+rel)
}

func skip(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// stands reports whether an opened folder is what stands under its name, without any link.
func stands(root *os.Root, folder string) bool {
	f, err := root.Open(".")
	if err != nil {
		return false
	}
	defer f.Close()
	if runtime.GOOS == "linux" { // the kernel says what was opened, however often the name is changed meanwhile
		if at, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd())); err == nil {
			return at == filepath.Clean(folder)
		}
	}
	real, err := filepath.EvalSymlinks(folder)
	return err == nil && real == filepath.Clean(folder)
}

// plainly is why a folder cannot be read, without its path.
func plainly(err error) string {
	if p, ok := err.(*fs.PathError); ok {
		err = p.Err
	}
	return err.Error()
}
