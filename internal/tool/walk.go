package tool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrEnough ends a walk early.
var ErrEnough = errors.New("enough")

// maxWalked bounds one search.
const maxWalked = 200_000

// File is a regular file that a walk came to.
type File struct {
	Rel  string // below the place, with slashes
	dir  *os.Root
	name string
}

// Read reads the whole file, if it has at most limit bytes.
func (f File) Read(limit int64) ([]byte, error) { return readIn(f.dir, f.name, limit) }

// Entries lists what the caller sees of the folder that the place is, by name.
func (p Place) Entries() ([]fs.DirEntry, error) {
	dir, err := p.Open()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	all, err := entries(dir)
	if err != nil {
		return nil, p.explain(err)
	}
	return slices.DeleteFunc(all, func(e fs.DirEntry) bool { return !p.Shows(filepath.Join(p.Rel, e.Name())) }), nil
}

func entries(dir *os.Root) ([]fs.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := f.ReadDir(-1)
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, err
}

// Walk visits the regular files below a place that the caller sees. Folders that skip names are not entered. It says whether the
// search was cut short.
func (p Place) Walk(ctx context.Context, skip func(name string) bool, visit func(File) error) (cut bool, err error) {
	dir, err := p.Open()
	if err != nil {
		return false, err
	}
	defer dir.Close()
	n := 0
	err = p.walk(ctx, dir, p.Rel, "", &n, skip, visit)
	if errors.Is(err, ErrEnough) {
		return true, nil
	}
	return false, err
}

func (p Place) walk(ctx context.Context, dir *os.Root, at, rel string, n *int, skip func(string) bool, visit func(File) error) error {
	all, err := entries(dir)
	if err != nil {
		return nil //nolint:nilerr // an unreadable corner does not end a search
	}
	for _, e := range all {
		if *n++; *n > maxWalked {
			return ErrEnough
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		full := filepath.Join(at, e.Name())
		if !p.Shows(full) {
			continue
		}
		switch {
		case e.Type().IsRegular():
			err = visit(File{rel + e.Name(), dir, e.Name()})
		case e.IsDir() && !skip(e.Name()):
			sub, opened := enter(dir, e.Name())
			if opened != nil {
				continue
			}
			err = p.walk(ctx, sub, full, rel+e.Name()+"/", n, skip, visit)
			sub.Close()
		default:
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}
