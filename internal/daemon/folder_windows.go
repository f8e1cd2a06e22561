package daemon

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/windows"
)

// trusted leaves the folder to the access lists of the user's profile.
func trusted(string, os.FileInfo) error { return nil }

// gone does not know: a lock does not outlive its process here.
func gone(int) bool { return false }

func tryLock(f *os.File) error {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		new(windows.Overlapped))
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errHeld
	}
	return err
}

// unlock leaves it to closing: nobody else has the lock here.
func unlock(*os.File) {}

// end makes a process end.
func end(pid int, _ time.Duration) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return err
	}
	return p.Kill()
}

// shared says whether others may reach what is in a folder: access lists of the user's profile see to it.
func shared(string) bool { return false }
