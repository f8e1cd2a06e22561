package host

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// listening hears from the kernel what changes in served folders: one descriptor for
// all of them, and no work while nothing happens.
type listening struct {
	fd     int
	f      *os.File
	all    []*served
	to     *stirred
	places map[int32]place
}

// place is a directory that is listened to.
type place struct {
	s    *served
	dir  string
	only []string // names that matter in it; none is all
}

// refFolders are the folders of git's refs that are looked at; jj's own are not.
var refFolders = []string{"heads", "tags", "remotes"}

const changes = unix.IN_CREATE | unix.IN_CLOSE_WRITE | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE | unix.IN_ONLYDIR

// listenFor begins to listen to repositories. What it gives hears until its context
// ends.
func listenFor(all []*served, to *stirred) (func(context.Context), error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("inotify: %w", err)
	}
	l := &listening{fd: fd, f: os.NewFile(uintptr(fd), "inotify"), all: all, to: to, places: map[int32]place{}}
	for _, s := range all {
		if err := l.repository(s); err != nil {
			l.f.Close()
			return nil, err
		}
	}
	return l.hear, nil
}

// repository listens to where the heads of operations are, and git's refs.
func (l *listening) repository(s *served) error {
	git := s.store.GitDir()
	err := errors.Join(
		l.add(place{s: s, dir: filepath.Join(s.store.Dir(), "op_heads", "heads")}),
		l.add(place{s: s, dir: git, only: []string{"packed-refs"}}),
		l.add(place{s: s, dir: filepath.Join(git, "refs"), only: refFolders}))
	for _, kind := range refFolders {
		err = errors.Join(err, l.below(s, filepath.Join(git, "refs", kind)))
	}
	return err
}

// below listens to a folder of refs and to those in it.
func (l *listening) below(s *served, dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil // it is not there yet, or went while we looked: its parent is listened to
		}
		return l.add(place{s: s, dir: path})
	})
}

func (l *listening) add(p place) error {
	wd, err := unix.InotifyAddWatch(l.fd, p.dir, changes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("listen to %s: %w", p.dir, err)
	}
	l.places[int32(wd)] = p
	return nil
}

// hear takes in what the kernel tells until ctx ends.
func (l *listening) hear(ctx context.Context) {
	defer l.f.Close()
	defer context.AfterFunc(ctx, func() { _ = l.f.SetReadDeadline(time.Unix(1, 0)) })()
	buf := make([]byte, 64<<10)
	for ctx.Err() == nil {
		n, err := l.f.Read(buf)
		if err != nil {
			return // ctx has ended, or every folder is looked at now and then anyway
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd, mask := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			name := strings.TrimRight(string(b[unix.SizeofInotifyEvent:end]), "\x00")
			l.event(wd, mask, name)
			b = b[end:]
		}
	}
}

func (l *listening) event(wd int32, mask uint32, name string) {
	switch {
	case mask&unix.IN_Q_OVERFLOW != 0: // more than could be told
		for _, s := range l.all {
			_ = l.repository(s)
			l.to.note(s)
		}
		return
	case mask&unix.IN_IGNORED != 0:
		delete(l.places, wd)
		return
	}
	p, ok := l.places[wd]
	if !ok || strings.HasSuffix(name, ".lock") || p.only != nil && !slices.Contains(p.only, name) {
		return
	}
	if mask&unix.IN_ISDIR != 0 && mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0 {
		_ = l.below(p.s, filepath.Join(p.dir, name)) // what cannot be listened to is looked at now and then
	}
	l.to.note(p.s)
}
