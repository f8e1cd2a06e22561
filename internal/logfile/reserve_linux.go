package logfile

import (
	"os"
	"syscall"
)

// reserve keeps room on the disk behind a file's end, without making it longer: lines that tell of a full disk still find theirs.
func reserve(f *os.File, from, room int64) error {
	const keepSize = 1
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	done := raw.Control(func(fd uintptr) { err = syscall.Fallocate(int(fd), keepSize, from, room) })
	if done != nil {
		return done
	}
	return err
}
