package builtin

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A folder that somebody swaps with a link in a loop was once read through the link now and then: a path was judged, and opened
// later. What is opened is what is judged: no tool shows or changes the hidden file, however often it is tried.
func TestASwappedFolderLeadsNowhere(t *testing.T) {
	e := env(t, map[string]string{"real/p.txt": "open", "secrets/p.txt": "HIDDEN"})
	at := func(name string) string { return filepath.Join(e.Dir, name) }
	var stop atomic.Bool
	swapped := make(chan int)
	go func() {
		n := 0
		for ; !stop.Load(); n++ {
			os.Rename(at("real"), at("d"))
			os.Rename(at("d"), at("real"))
			os.Symlink("secrets", at("link"))
			os.Rename(at("link"), at("d"))
			os.Remove(at("d"))
		}
		swapped <- n
	}()
	opened := 0
	for i := range 4000 {
		name, args := "read", m{"path": "d/p.txt"}
		switch i % 8 {
		case 1:
			name, args = "grep", m{"pattern": "HIDDEN"}
		case 2:
			name, args = "write", m{"path": "d/p.txt", "content": "open"}
		case 3:
			name, args = "grep", m{"pattern": ".", "path": "d"}
		case 4:
			name, args = "list", m{"path": "d"}
		}
		r, err := run(t, e, name, args)
		if err == nil && strings.Contains(r.Text, "open") {
			opened++
		}
		if strings.Contains(r.Text, "HIDDEN") {
			t.Errorf("try %d: %s shows %q", i, name, r.Text)
			break
		}
	}
	stop.Store(true)
	t.Logf("%d swaps, %d reads of the open file", <-swapped, opened)
	if b, err := os.ReadFile(at("secrets/p.txt")); err != nil || string(b) != "HIDDEN" {
		t.Errorf("the hidden file was changed: %q %v", b, err)
	}
}
