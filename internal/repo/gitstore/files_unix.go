//go:build unix

package gitstore

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// createFile writes a file that must not be there yet. A sync among many agents
// brings hundreds of small ones, and os.File asks the kernel five questions about
// each that have no use here.
func createFile(name string, data []byte, perm fs.FileMode) (made bool, err error) {
	fd, err := again(func() (int, error) {
		return unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, uint32(perm.Perm()))
	})
	if err != nil {
		return false, &os.PathError{Op: "open", Path: name, Err: err}
	}
	for len(data) > 0 && err == nil {
		var n int
		n, err = again(func() (int, error) { return unix.Write(fd, data) })
		data = data[max(n, 0):]
	}
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		err = &os.PathError{Op: "write", Path: name, Err: err}
	}
	return true, err
}

// rename moves a content-addressed file into place. Unlike os.Rename it does not
// look first whether a directory has that name.
func rename(from, to string) error {
	if _, err := again(func() (int, error) { return 0, unix.Rename(from, to) }); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// again repeats a call that a signal interrupted.
func again(call func() (int, error)) (n int, err error) {
	for {
		if n, err = call(); err != unix.EINTR {
			return n, err
		}
	}
}
