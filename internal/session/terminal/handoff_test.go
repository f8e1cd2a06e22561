package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
)

// The handoff named the commit at which the folder stood and the files of that commit, whatever the turn had done. It is about this turn:
// without a commit of its own it names none, and counts what changed.
func TestAHandoffIsAboutThisTurn(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", h.project, "-c", "user.name=ann", "-c", "user.email=ann@example"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	for _, name := range []string{"b.txt", "c.txt", "d.txt"} {
		h.write("home/code/"+name, "as it was\n")
	}
	git("init", "-q")
	git("add", "-A")
	git("commit", "-qm", "five files")
	h.open("a")
	handoffs := 0
	after := func(command string) string {
		t.Helper()
		prompt := "go [[say worked]]"
		if command != "" {
			prompt = `go [[tool Bash {"command":` + quote(command) + `,"description":"work"}]] [[say worked]]`
		}
		out := h.begin("a", prompt)
		if command != "" {
			h.decide(approval.Approve, "")
		}
		h.ended("a", out.Cursor)
		handoffs++
		var last string
		h.eventually("the handoff is written", func() bool {
			log, _ := os.ReadFile(filepath.Join(h.dir, "home", ".tandem", "events.log"))
			all := strings.Split(string(log), `CC check — session \"a\" finished (done).`)
			last = all[len(all)-1]
			return len(all) == handoffs+1
		})
		return last
	}
	if said := after("echo changed > b.txt; echo new > e.txt"); !strings.Contains(said, `Commit: none\nFiles changed: 2\n`) {
		t.Errorf("a turn without a commit is handed over as %s", said)
	}
	said := after("git add -A; git -c user.name=bob -c user.email=bob@example commit -qm two")
	if head := git("rev-parse", "HEAD")[:12]; !strings.Contains(said, "Commit: "+head) {
		t.Errorf("a turn that committed %s is handed over as %s", head, said)
	}
	if said := after(""); !strings.Contains(said, `Commit: none\nFiles changed: 0\n`) {
		t.Errorf("a turn that changed nothing is handed over as %s", said)
	}
}
