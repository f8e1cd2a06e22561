package source

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

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
