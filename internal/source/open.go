package source

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"tandem/internal/fault"
)

// open opens a folder that exists, as what it was when it was bound: links were resolved then. Where one stands in its way now, whoever may
// write beside it chose where that leads.
func open(folder string) (*os.Root, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, fault.New(fault.NotFound, "source", "%s cannot be read: %s", folder, plainly(err)).
			WithNext("name a folder of the server's machine")
	}
	if !stands(root, folder) {
		root.Close()
		return nil, fault.New(fault.Conflict, "source", "%s leads somewhere else now: a link stands in its way", folder).
			WithNext("put the folder back, or bind the one that is meant: tandem source add")
	}
	return root, nil
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
	if err != nil || real != filepath.Clean(folder) {
		return false
	}
	opened, err := f.Stat()
	named, failed := os.Lstat(folder)
	return err == nil && failed == nil && os.SameFile(opened, named)
}

// errOther says that a name leads to something else than a file or a folder of its own.
var errOther = errors.New("it is not the file that was listed")

// openFile opens a file below a folder, through no link: one inside the folder would give a file a name that policy did not judge.
// What is no file, such as a pipe, is not waited for.
func openFile(root *os.Root, rel string) (*os.File, error) {
	dir, name := root, rel
	for {
		first, rest, more := strings.Cut(name, "/")
		if !more {
			break
		}
		next, err := step(dir, first)
		if dir != root {
			dir.Close()
		}
		if err != nil {
			return nil, err
		}
		dir, name = next, rest
	}
	if dir != root {
		defer dir.Close()
	}
	listed, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !listed.Mode().IsRegular() {
		return nil, errOther
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(listed, opened) {
		f.Close()
		return nil, errOther
	}
	return f, nil
}

// step opens a folder inside another, which is no link.
func step(dir *os.Root, name string) (*os.Root, error) {
	listed, err := dir.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !listed.IsDir() {
		return nil, errOther
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if opened, err := next.Stat("."); err != nil || !os.SameFile(listed, opened) {
		next.Close()
		return nil, errOther
	}
	return next, nil
}
