package watch

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxFolders is how many folders one followed folder may hold before it is only looked at now and then.
const maxFolders = 4096

const heard = unix.IN_CREATE | unix.IN_CLOSE_WRITE | unix.IN_MODIFY | unix.IN_MOVED_TO | unix.IN_MOVED_FROM | unix.IN_DELETE |
	unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ATTRIB | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW

// Ears hear from the kernel that something changed in folders: one descriptor for all of them, and no work while nothing happens.
type Ears struct {
	fd   int
	f    *os.File
	tell func(folder string)

	mu     sync.Mutex
	places map[int32]spot
	heard  map[string]bool // by folder: whether all of it is listened to
	tried  map[string]time.Time
}

// retry is in how long a folder is walked through again that could not be listened to whole.
const retry = 30 * time.Second

// spot is a directory that is listened to, for one or more followed folders.
type spot struct {
	dir   string
	whose map[string]bool
}

// Listen makes ears that tell which followed folder changed. Telling must not wait.
func Listen(tell func(folder string)) (*Ears, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("inotify: %w", err)
	}
	return &Ears{fd: fd, f: os.NewFile(uintptr(fd), "inotify"), tell: tell, places: map[int32]spot{}, heard: map[string]bool{},
		tried: map[string]time.Time{}}, nil
}

// Follow listens to these folders from now on, and to no others, and says which are heard whole.
func (e *Ears) Follow(folders []string) map[string]bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for folder := range e.heard {
		if !slices.Contains(folders, folder) {
			e.leave(folder)
		}
	}
	for _, folder := range folders {
		if !e.heard[folder] && time.Since(e.tried[folder]) > retry {
			e.heard[folder] = e.below(folder, folder)
			e.tried[folder] = time.Now()
		}
	}
	return maps.Clone(e.heard)
}

func (e *Ears) leave(folder string) {
	delete(e.heard, folder)
	delete(e.tried, folder)
	for wd, s := range e.places {
		if delete(s.whose, folder); len(s.whose) == 0 {
			delete(e.places, wd)
			_, _ = unix.InotifyRmWatch(e.fd, uint32(wd)) // it may be gone by itself
		}
	}
}

// below listens to a directory and to all in it, and reports whether that is all of it.
func (e *Ears) below(folder, dir string) bool {
	whole, n := true, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == folder:
			return err
		case err != nil:
			return nil // it went while we looked: its parent is listened to
		case !d.IsDir():
			return nil
		case passed[d.Name()] && path != folder:
			return fs.SkipDir
		}
		if n++; n > maxFolders {
			whole = false
			return fs.SkipAll
		}
		wd, err := unix.InotifyAddWatch(e.fd, path, heard)
		if err != nil {
			whole = whole && os.IsNotExist(err)
			return nil
		}
		s, known := e.places[int32(wd)]
		if !known {
			s.whose = map[string]bool{}
		}
		s.dir = path // also of one that is known: it may have been renamed
		s.whose[folder] = true
		e.places[int32(wd)] = s
		return nil
	})
	return whole && err == nil
}

// Run hears until ctx ends.
func (e *Ears) Run(ctx context.Context) {
	defer e.f.Close()
	defer context.AfterFunc(ctx, func() { _ = e.f.SetReadDeadline(time.Unix(1, 0)) })()
	buf := make([]byte, 64<<10)
	for ctx.Err() == nil {
		n, err := e.f.Read(buf)
		if err != nil {
			return // ctx has ended, or every folder is looked at now and then anyway
		}
		for b := buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd, mask := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			e.event(wd, mask, name(b[unix.SizeofInotifyEvent:end]))
			b = b[end:]
		}
	}
}

func name(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

func (e *Ears) event(wd int32, mask uint32, name string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if mask&unix.IN_Q_OVERFLOW != 0 { // more than could be told
		for folder := range e.heard {
			e.heard[folder] = e.below(folder, folder)
			e.tell(folder)
		}
		return
	}
	s, ok := e.places[wd]
	if !ok {
		return
	}
	for folder := range s.whose {
		if mask&unix.IN_ISDIR != 0 && mask&(unix.IN_CREATE|unix.IN_MOVED_TO) != 0 && !passed[name] {
			e.heard[folder] = e.below(folder, filepath.Join(s.dir, name)) && e.heard[folder]
		}
		if s.dir == folder && mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_IGNORED) != 0 {
			e.heard[folder] = false // it is followed anew when it is looked at
			delete(e.tried, folder)
		}
		e.tell(folder)
	}
	if mask&unix.IN_IGNORED != 0 {
		delete(e.places, wd)
	}
}
