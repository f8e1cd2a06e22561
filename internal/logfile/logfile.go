// Package logfile keeps files of lines that never take more than a few times their size, however long the program runs.
package logfile

import (
	"fmt"
	"os"
	"sync"
)

// File is a log of at most keep files of Size each: path, path.1, path.2.
type File struct {
	mu   sync.Mutex
	path string
	f    *os.File
	size int64
	room int64 // how far the disk keeps room for it
}

// Size is how large a file becomes before the next one is begun.
const Size = 10 << 20

const keep = 3

// ahead is for how much there is room behind the last line, also when the disk is full.
const ahead = 64 << 10

// Open opens a log to append to, and makes it when absent.
func Open(path string) (*File, error) {
	l := &File{path: path}
	return l, l.open()
}

func (l *File) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return err
	}
	l.f, l.size, l.room = f, st.Size(), 0
	l.reserve()
	return nil
}

// reserve keeps room for the next lines. A disk that cannot, or has none left, is no reason to write nothing: what fits is written.
func (l *File) reserve() {
	if l.size+ahead/2 > l.room && reserve(l.f, l.size, ahead) == nil {
		l.room = l.size + ahead
	}
}

// Reopen goes on in the file of that name, which somebody may have moved away.
func (l *File) Reopen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	old := l.f
	if err := l.open(); err != nil {
		return err
	}
	return old.Close()
}

// Close closes it.
func (l *File) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.f.Close()
}

// Write appends one line, to a new file when the old one is full.
func (l *File) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > Size {
		if err := l.rotate(); err != nil {
			return 0, err
		}
	}
	n, err := l.f.Write(p)
	l.size += int64(n)
	if err != nil && n > 0 && l.f.Truncate(l.size-int64(n)) == nil {
		l.size -= int64(n) // on a full disk half a line would be the beginning of the next one
		l.room = 0         // and what was kept behind it is given back
	}
	l.reserve()
	return n, err
}

func (l *File) rotate() error {
	if st, err := l.f.Stat(); err != nil || !st.Mode().IsRegular() {
		l.size = 0 // a terminal or a pipe has no size
		return nil
	}
	for i := keep - 1; i >= 1; i-- {
		from := l.path
		if i > 1 {
			from = fmt.Sprintf("%s.%d", l.path, i-1)
		}
		_ = os.Rename(from, fmt.Sprintf("%s.%d", l.path, i))
	}
	old := l.f
	if err := l.open(); err != nil {
		l.size = 0 // the old file under its new name takes on what the new one cannot
		return nil
	}
	return old.Close()
}
