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
		!strings.Contains(string(out), "a is crashed (tmux pane): the program ended") || // tmux may know that a moment before its code
		!strings.Contains(string(out), ": no library found:\n  libgrün.so\n") ||
		!strings.Contains(string(out), "tandem session close a") {
		t.Errorf("%v\n%s", err, out)
	}
	if out := h.tandem(h.project, "session", "close", "a"); out != "a is closed\n" {
		t.Error(out)
	}
}

// A turn that waited for a person and one that failed looked like success to a script: the command's exit code tells them apart.
func TestSendExitsAsTheTurnEnds(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.open("a")
	for prompt, want := range map[string]int{"fine [[say fine]]": 0,
		`ask [[tool Bash {"command":"touch x","description":"make it"}]] [[say made]]`: 8} {
		out, err := h.fails(h.project, "session", "send", "a", prompt)
		var exit *exec.ExitError
		got := 0
		if errors.As(err, &exit) {
			got = exit.ExitCode()
		}
		if got != want || want == 8 && !strings.Contains(out, "next:  tandem approvals approve ask_") {
			t.Errorf("%s ended with %d: %s", prompt, got, out)
		}
		if want == 8 {
			h.decide("cancel", "")
			h.eventually("it is over", func() bool { return h.poll("a", 0).Idle })
		}
	}
	if out, err := h.fails(h.project, "session", "send", "a", "go [[err 400]]"); err == nil {
		t.Errorf("a turn that failed: %s", out)
	}
	h.eventually("it is over", func() bool { return h.poll("a", 0).Idle })
	// One that is not over is no success either, and says how to read on; whoever would not wait is told so and no more.
	for wait, want := range map[string]int{"300": 8, "0": 0} {
		out, err := h.fails(h.project, "session", "send", "a", "--wait", wait, "long [[hang 60]]")
		var exit *exec.ExitError
		got := 0
		if errors.As(err, &exit) {
			got = exit.ExitCode()
		}
		if got != want || !strings.Contains(out, "tandem session send a --cursor ") {
			t.Errorf("--wait %s ended with %d: %s", wait, got, out)
		}
		h.tandem(h.project, "session", "interrupt", "a")
		h.eventually("it is over", func() bool { return h.poll("a", 0).Idle })
	}
}
