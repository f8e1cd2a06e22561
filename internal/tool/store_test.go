package tool

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// The store of a repository lay elsewhere in the granted folder (--separate-git-dir): a denied file was hidden, and could be read from
// there.
func TestAStoreElsewhereIsHidden(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "work", "priv", "p"), "p")
	if err := os.Mkdir(filepath.Join(dir, "stores"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("git", "init", "-q", "--separate-git-dir", filepath.Join(dir, "stores", "gd"), filepath.Join(dir, "work"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	scope := NewScope([]Folder{{Path: dir}}).Seeing(seeing([]string{Slashed(filepath.Join(dir, "work", "priv"))}, nil, nil))
	masks, err := scope.Masks()
	if err != nil || !slices.ContainsFunc(masks, func(m Mask) bool { return m.How == Hide && m.Path == filepath.Join(dir, "stores", "gd") }) {
		t.Errorf("%+v %v", masks, err)
	}
}
