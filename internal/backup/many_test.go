package backup

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Each file of a repository had a buffer for the largest piece and a compressor of its own, megabytes for a hundred bytes: a copy of
// some thousand objects took minutes beside agents at work.
func TestSmallFilesAreCopiedWithOneBuffer(t *testing.T) {
	w, err := Create(filepath.Join(t.TempDir(), "copy"), time.Now(), Secret{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Drop()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const files = 500
	for n := range files {
		if err := w.Add(Entry{Name: fmt.Sprint(n)}, strings.NewReader(strings.Repeat("x", 100))); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / files; each > 64<<10 {
		t.Errorf("%d bytes are allocated for a file of 100", each)
	}
}
