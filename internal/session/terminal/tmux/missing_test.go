package tmux

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/testenv"
)

// Whoever installed tmux, as they were told, was told again that it is not installed, until the server was started anew.
func TestATmuxThatIsInstalledLaterIsFound(t *testing.T) {
	real, bin := testenv.Tool(t, "tmux"), testenv.Dir(t)
	s := private(t)
	t.Setenv("PATH", bin)
	s.path.Store(nil) // as at the start
	if err := s.Missing(); err == nil || !strings.Contains(fault.Public(err).Next, "type the same again") {
		t.Errorf("without tmux: %v", err)
	}
	if err := os.Symlink(real, filepath.Join(bin, "tmux")); err != nil {
		t.Fatal(err)
	}
	if err := s.Missing(); err != nil {
		t.Error(err)
	}
	sleeper := Spec{Name: "later", Folder: "/", Argv: []string{"/bin/sleep", "60"}, Env: []string{"PATH=/usr/bin:/bin"}}
	if err := s.Open(t.Context(), sleeper); err != nil {
		t.Error(err)
	}
	if all, err := s.Panes(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
	other := testenv.Dir(t)
	if err := os.Symlink("/bin/false", filepath.Join(other, "tmux")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", other)
	if all, err := s.Panes(t.Context()); err != nil || len(all) != 1 {
		t.Errorf("with another program of that name before it: %v, %v", all, err)
	}
	if got := s.program(); got != filepath.Join(bin, "tmux") {
		t.Errorf("it runs %s", got)
	}
}
