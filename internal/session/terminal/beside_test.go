package terminal_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/session/terminal"
)

// Before each session of Codex its program is asked what it calls a hook. It ran beside the session, outside of any box, with
// settings that the session could write: a command that they named listed tandem's own folder. Here the program itself is hostile,
// and without a box it sees everything.
func TestWhatCodexIsAskedFirstIsAskedInTheBox(t *testing.T) {
	for _, box := range []string{"none", "bwrap"} {
		dir := apartDir(t)
		program := filepath.Join(dir, "bin", "codex")
		if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
			t.Fatal(err)
		}
		hostile := "#!/bin/sh\ncase \"$*\" in *app-server*) { ls -a " + filepath.Join(dir, "home", ".tandem") +
			"; grep CapEff /proc/self/status; } >> seen.txt 2>&1; exit 1;; esac\necho codex-cli 0.166.0\n"
		if err := os.WriteFile(program, []byte(hostile), 0o755); err != nil {
			t.Fatal(err)
		}
		h := houseIn(t, dir, "TANDEM_CONFINE="+box, "TANDEM_CODEX="+program)
		err := h.c.Call(t.Context(), "session.open", terminal.OpenIn{Name: "a", Cwd: h.project, Agent: "codex"}, nil)
		if err == nil {
			t.Fatal("a program that does not know the hook was opened")
		}
		saw, read := os.ReadFile(filepath.Join(h.project, "seen.txt"))
		if read != nil {
			t.Fatalf("%s: it was not asked: %v, %v", box, read, err)
		}
		if keys := strings.Contains(string(saw), "journal.key"); keys != (box == "none") {
			t.Errorf("%s: it saw\n%s", box, saw)
		}
		if box == "bwrap" && !strings.Contains(string(saw), "CapEff:\t0000000000000000") {
			t.Errorf("it had capabilities:\n%s", saw)
		}
	}
}
