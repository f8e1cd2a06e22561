package tool

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder that becomes a link after its path was judged leads nowhere: the file behind the link is neither read nor changed.
func TestALinkThatComesLaterIsNotFollowed(t *testing.T) {
	in, _, s := house(t)
	put(t, filepath.Join(in, "d", "x"), "open")
	p, err := s.Locate(in, "d/x", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(in, "d"), filepath.Join(in, "e")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join("deep", "secrets"), filepath.Join(in, "d")); err != nil {
		t.Fatal(err)
	}
	if b, err := p.ReadFile(100); err == nil {
		t.Errorf("read %q", b)
	}
	if err := p.WriteFile([]byte("changed")); err == nil {
		t.Error("written through the link")
	}
	if b, err := os.ReadFile(filepath.Join(in, "deep", "secrets", "x")); err != nil || string(b) != "s" {
		t.Errorf("%q %v", b, err)
	}
}
