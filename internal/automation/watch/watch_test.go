package watch

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestStatesAndWhatDiffers(t *testing.T) {
	was := State{"a": "1.1", "b c": "2.2", "d": "3.3"}
	if got := Read(was.Text()); !reflect.DeepEqual(got, was) {
		t.Errorf("read %v", got)
	}
	d := Between(was, State{"a": "1.1", "b c": "2.3", "e": "1.1"})
	if want := (Difference{Added: []string{"e"}, Changed: []string{"b c"}, Removed: []string{"d"}}); !reflect.DeepEqual(d, want) {
		t.Errorf("differs: %+v", d)
	}
	if d.Words() != "1 new, 1 changed, 1 gone" || d.Count() != 3 {
		t.Errorf("in words: %s", d.Words())
	}
}

// A folder is looked at as it stands under its name: no link leads out of it, and what may not be seen or holds keys is not there.
func TestScan(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"in/a.txt", "in/b.txt", "in/kept/c.txt", "in/.ssh/id_ed25519", "in/.git/x", "out/secret"} {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, to := range map[string]string{"in/file": "out/secret", "in/folder": "out", "other": "in"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	all := func(string) bool { return true }
	sees := func(path string) bool { return filepath.Base(path) != "kept" }
	got, err := Folder{Path: filepath.Join(dir, "in"), Fits: all, Sees: sees}.Scan(t.Context())
	if err != nil || len(got) != 2 || got["a.txt"] == "" || got["b.txt"] == "" {
		t.Errorf("seen %v, %v", got, err)
	}
	if _, err := (Folder{Path: filepath.Join(dir, "other"), Fits: all, Sees: all}).Scan(t.Context()); err == nil {
		t.Error("a link was followed")
	}
	if _, err := (Folder{Path: filepath.Join(dir, "none"), Fits: all, Sees: all}).Scan(t.Context()); err == nil {
		t.Error("a folder that is not there was looked at")
	}
}
