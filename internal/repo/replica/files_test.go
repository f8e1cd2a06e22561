package replica

import (
	"os"
	"path/filepath"
	"testing"
)

// What a power cut leaves of a hint is as good as none; what a decision hangs on is
// not taken for missing.
func TestDamagedFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tandem", "known.json")
	if k, err := readHint[Known](path); err != nil || k.Head != "" {
		t.Fatalf("none: %v, %v", k, err)
	}
	if err := writeHint(path, Known{Head: "h", Version: 3}); err != nil {
		t.Fatal(err)
	}
	if k, err := readHint[Known](path); err != nil || k.Head != "h" || k.Version != 3 {
		t.Fatalf("read back as %v, %v", k, err)
	}
	for _, left := range []string{"", `{"head":"h"`} {
		if err := os.WriteFile(path, []byte(left), 0o644); err != nil {
			t.Fatal(err)
		}
		if k, err := readHint[Known](path); err != nil || k.Head != "" {
			t.Errorf("%q is read as %v, %v", left, k, err)
		}
		if ok, err := readJSON(path, &had{}); err == nil || ok {
			t.Errorf("%q passes for what a workspace has had", left)
		}
	}
	if err := writeJSON(path, had{"a": {"k"}}); err != nil {
		t.Fatal(err)
	}
	h := had{}
	if ok, err := readJSON(path, &h); err != nil || !ok || len(h["a"]) != 1 {
		t.Errorf("read back as %v, %v", h, err)
	}
}
