package freeze

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kept are files that others hold copies of: databases that ran a migration, programs that were tested against a vector.
// They are added to and never changed.
var kept = map[string][]string{
	"migrations.txt":   {"internal/*/schema/*", "internal/*/*/schema/*"},
	"vectors.txt":      {"docs/formats/vectors/*"},
	"data-folders.txt": {"internal/daemon/testdata/*.tar.gz"},
	"screens.txt":      {"internal/session/screen/testdata/*/*/*"},
	"jj-pairs.txt":     {"internal/jj/testdata/pairs/*"},
}

// growing are kept by name only: what they hold may grow.
var growing = map[string]bool{"jj-pairs.txt": true}

func TestKeptFiles(t *testing.T) {
	t.Parallel()
	for list, patterns := range kept {
		frozen := map[string]string{}
		text, err := os.ReadFile(filepath.Join(folder("kept"), list))
		if err != nil && !(os.IsNotExist(err) && *update) {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if sum, name, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
				frozen[name] = sum
			}
		}
		today := digests(t, patterns, growing[list])
		if len(today) == 0 {
			t.Errorf("%s: no file matches %q", list, patterns)
		}
		for _, name := range sorted(frozen) {
			if have := today[name]; have == "" {
				t.Errorf("%s is gone: others hold copies of it, so it stays (%s)", name, list)
			} else if have != frozen[name] {
				t.Errorf("%s was changed: others hold copies of it. Bring it back and add a successor; "+
					"if nobody can hold a copy, remove its line from golden/kept/%s and run make freeze", name, list)
			}
		}
		added := false
		for _, name := range sorted(today) {
			if frozen[name] == "" {
				added = true
				frozen[name] = today[name]
				if !*update {
					t.Errorf("%s is new: run make freeze, which adds it to golden/kept/%s", name, list)
				}
			}
		}
		if *update && added {
			save(t, list, frozen)
		}
	}
}

func digests(t *testing.T, patterns []string, names bool) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, p := range patterns {
		files, err := filepath.Glob(filepath.Join(Root(), p))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(Root(), f)
			if err != nil {
				t.Fatal(err)
			}
			out[filepath.ToSlash(name)] = fmt.Sprintf("%x", sha256.Sum256(data))[:32]
			if names {
				out[filepath.ToSlash(name)] = "kept"
			}
		}
	}
	return out
}

func save(t *testing.T, list string, sums map[string]string) {
	t.Helper()
	var b strings.Builder
	for _, name := range sorted(sums) {
		fmt.Fprintf(&b, "%s %s\n", sums[name], name)
	}
	if err := os.MkdirAll(folder("kept"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder("kept"), list), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
