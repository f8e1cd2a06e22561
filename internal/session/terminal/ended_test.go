package terminal_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// A program that ended at once was reported as "is crashed" with success, and why was to be seen only by attaching. The command fails
// and shows the end of its screen; that it is found at all does not depend on a locale.
func TestOpeningAProgramThatEndsFails(t *testing.T) {
	t.Parallel()
	dir := testenv.Dir(t)
	broken := filepath.Join(dir, "broken")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho 'no library found:'\necho '  libgrün.so'\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	h := houseIn(t, dir, "TANDEM_CLAUDE="+broken, "LANG=")
	cmd := exec.Command(testenv.Tandem(t), "session", "open", "a")
	cmd.Dir, cmd.Env = h.project, h.env
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 ||
		!strings.Contains(string(out), "a is crashed (tmux pane): the program ended 3: no library found:\n  libgrün.so\n") ||
		!strings.Contains(string(out), "tandem session close a") {
		t.Errorf("%v\n%s", err, out)
	}
	if out := h.tandem(h.project, "session", "close", "a"); out != "a is closed\n" {
		t.Error(out)
	}
}
