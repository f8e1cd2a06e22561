package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
)

// A real Claude Code in a worktree of its own: the person's checkout stays as it is, the work is seen, kept or discarded by name. One that
// was started again goes on in it, from whichever folder that is asked.
func TestASessionWorksApart(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Dir, cmd.Env = h.project, h.env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "-b", "main")
	git("add", "-A")
	git("commit", "-qm", "first")
	opened := h.tandem(h.project, "session", "open", "fixer", "--worktree")
	if !strings.Contains(opened, "checkout: "+h.project+"-fixer") {
		t.Fatal(opened)
	}
	out := h.begin("fixer", `make it [[tool Bash {"command":"pwd; echo fixed > fixed.txt","description":"fix"}]] [[result]]`)
	h.decide(approval.Approve, "")
	if out = h.ended("fixer", out.Cursor); !strings.Contains(out.Report, h.project+"-fixer") {
		t.Errorf("%+v", out)
	}
	if _, err := os.Stat(filepath.Join(h.project, "fixed.txt")); err == nil {
		t.Error("the person's own checkout was changed")
	}
	kill(t, h.tmux("list-panes", "-t", "=ccm-fixer:", "-F", "#{pane_pid}"))
	h.eventually("it is gone", func() bool { return h.seat("fixer").State.Gone() })
	said, err := h.fails(h.dir, "session", "send", "fixer", "hello")
	if err == nil || !strings.Contains(said, "tandem session open fixer --resume") {
		t.Errorf("%v %s", err, said)
	}
	h.tandem(h.dir, "session", "open", "fixer", "--resume") // as it was printed, from elsewhere
	if said, err := h.fails(h.project, "session", "keep", "fixer"); err == nil || !strings.Contains(said, "tandem session close fixer") {
		t.Errorf("%v %s", err, said)
	}
	if diff := h.tandem(h.project, "session", "diff", "fixer"); !strings.Contains(diff, "+fixed") {
		t.Errorf("%s", diff)
	}
	if closed := h.tandem(h.project, "session", "close", "fixer"); !strings.Contains(closed, "tandem session keep fixer") {
		t.Errorf("%s", closed)
	}
	if kept := h.tandem(h.project, "session", "keep", "fixer"); !strings.Contains(kept, "merge tandem/fixer") {
		t.Errorf("%s", kept)
	}
	if got := git("show", "tandem/fixer:fixed.txt"); got != "fixed" {
		t.Errorf("the branch holds %q", got)
	}
}

// fails runs a command that may fail.
func (h *house) fails(dir string, args ...string) (string, error) {
	cmd := h.command(dir, args...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
