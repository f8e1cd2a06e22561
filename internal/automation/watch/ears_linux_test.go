package watch

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// hears reports whether a directory is listened to under this name.
func (e *Ears) hears(dir string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.places {
		if s.dir == dir {
			return true
		}
	}
	return false
}

// What happens in a folder that was made later is heard, and a folder that is no longer followed is not.
func TestEars(t *testing.T) {
	dir := t.TempDir()
	told := make(chan string, 1000)
	ears, err := Listen(func(folder string) {
		select {
		case told <- folder:
		default:
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	go ears.Run(t.Context())
	if heard := ears.Follow([]string{dir}); !heard[dir] {
		t.Fatal("the folder is not heard whole")
	}
	deep := filepath.Join(dir, "one", "two")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	n := 0
	testenv.Eventually(t, "a file in a new folder is heard", time.Minute, func() bool {
		for len(told) > 0 {
			<-told
		}
		n++
		if err := os.WriteFile(filepath.Join(deep, "file"), make([]byte, n), 0o600); err != nil {
			t.Fatal(err)
		}
		select {
		case <-told:
			return true
		case <-time.After(50 * time.Millisecond):
			return false
		}
	})
	// below a folder that was given another name, too
	if err := os.Rename(filepath.Join(dir, "one"), filepath.Join(dir, "first")); err != nil {
		t.Fatal(err)
	}
	later := filepath.Join(dir, "first", "two", "three")
	testenv.Eventually(t, "the other name is known", time.Minute, func() bool { return ears.hears(filepath.Dir(later)) })
	if err := os.Mkdir(later, 0o755); err != nil {
		t.Fatal(err)
	}
	testenv.Eventually(t, "a folder that was made there is heard", time.Minute, func() bool { return ears.hears(later) })
	if heard := ears.Follow(nil); len(heard) != 0 {
		t.Errorf("still followed: %v", heard)
	}
}
