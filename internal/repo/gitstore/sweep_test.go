package gitstore

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"tandem/internal/repo"
)

// What somebody who was killed has left is removed after an hour, by whoever tidies
// or writes the next large file; what is being written stays, and git's own packs.
func TestHalvesAreSwept(t *testing.T) {
	for name, do := range map[string]func(s *Store) error{
		"tidy": func(s *Store) error { return s.Tidy(t.Context()) },
		"a large file": func(s *Store) error {
			_, err := s.PutLargeFile(t.Context(), bytes.NewReader(make([]byte, large+1)), large+1)
			return err
		},
	} {
		s := largeStore(t)
		dir := s.objects.dir
		old := time.Now().Add(-2 * time.Hour)
		left := map[string]bool{
			"pack/tmp_pack_1234":                      false,
			"pack/tmp_obj_AAAA-1.lock":                false,
			"pack/tmp_pack_" + tempStart() + "-5":     true,
			"pack/pack-1234.keep":                     true,
			"pack/tmp_pack_new":                       true,
			"ab/tmp_obj_AAAA-2.lock":                  name == "a large file",
			"ab/38d8d8d8d8d8d8d8d8d8d8d8d8d8d8d8d8d8": true,
		}
		for path := range left {
			path := filepath.Join(dir, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("half"), 0o644); err != nil {
				t.Fatal(err)
			}
			if filepath.Base(path) == "tmp_pack_new" {
				continue
			}
			if err := os.Chtimes(path, old, old); err != nil {
				t.Fatal(err)
			}
		}
		if err := do(s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for path, stays := range left {
			if _, err := os.Stat(filepath.Join(dir, path)); (err == nil) != stays {
				t.Errorf("%s: %s: %v", name, path, err)
			}
		}
	}
}

// Packs of large files are not copied again, however many: it would be gigabytes
// inside somebody's command. Nor are many that are nearly so, all at once.
func TestLargePacksAreNotJoined(t *testing.T) {
	s := largeStore(t)
	manyPacks(t, s)
	noise := rand.NewChaCha8([32]byte{})
	file := func(size int) string {
		t.Helper()
		data := make([]byte, size)
		noise.Read(data)
		id, err := s.PutLargeFile(t.Context(), bytes.NewReader(data), int64(size))
		if err != nil {
			t.Fatal(err)
		}
		p, _, _ := s.objects.locate(string(id))
		return p.path
	}
	there := func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}
	large := file(smallBytes + 1)
	small := file(smallBytes / 2)
	var most []string // with the small one and what else there is they are more than are joined at once
	for range joinBytes / (smallBytes - 1<<20) {
		most = append(most, file(smallBytes-1<<20))
	}
	if err := s.Tidy(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !there(large) {
		t.Error("the pack of a large file was copied")
	}
	if there(small) {
		t.Error("a small pack was not joined")
	}
	left := 0
	for _, path := range most {
		if there(path) {
			left++
		}
	}
	if left != 1 {
		t.Errorf("%d of %d packs were left for the next time", left, len(most))
	}
	if _, err := s.File(t.Context(), repo.FileID(repo.HashObject(repo.BlobObject, []byte("file 0 of pack 0")))); err != nil {
		t.Error(err)
	}
}
