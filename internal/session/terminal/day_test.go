package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session"
	"tandem/internal/session/terminal"
)

// A day of one person with five real agents, three Claude Code and two Codex, each in a worktree of its own: two ask for leave, one has a
// question, one dies, all of it stands in one inbox by name; one work is kept, one is discarded, and the person's checkout is as it was.
func TestASoloDay(t *testing.T) {
	if !alone(t) {
		return
	}
	h := spokenHouse(t)
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
	clean := git("status", "--porcelain")
	for name, agent := range map[string]string{"fixer": "claude", "asker": "claude", "faller": "claude",
		"builder": "codex", "trier": "codex"} {
		if said := h.tandem(h.project, "session", "open", name, "--agent", agent, "--worktree"); !strings.Contains(said, h.project+"-"+name) {
			t.Fatalf("%s: %s", name, said)
		}
	}

	h.begin("fixer", `fix [[tool Bash {"command":"echo fixed > fixed.txt","description":"fix it"}]] [[say fixed it]]`)
	h.begin("asker", `ask [[tool AskUserQuestion {"questions":[{"question":"Which `+
		`colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}]}]}]] `+
		`[[result]]`)
	h.begin("trier", "try "+execute("echo tried > tried.txt")+" [[say tried it]]")
	said := h.tandem(h.project, "session", "send", "builder", "read [[say nothing to build]]")
	if !strings.Contains(said, "nothing to build") {
		t.Errorf("builder: %s", said)
	}
	kill(t, h.tmux("list-panes", "-t", "=ccm-faller:", "-F", "#{pane_pid}"))
	h.eventually("everybody is where the day left them", func() bool {
		return h.seat("faller").State.Gone() && h.seat("fixer").State == terminal.Permission && h.seat("trier").State == terminal.Permission
	})
	var open session.QuestionsOut
	h.eventually("a question waits", func() bool { h.call("question.list", session.Nothing{}, &open); return len(open.Questions) == 1 })

	// One place shows what needs the person, each by its name, with what it wants.
	box := h.tandem(h.project, "inbox")
	for _, part := range []string{"fixer", "echo fixed > fixed.txt", "asker", "Which colour?", "trier", "echo tried > tried.txt", "faller"} {
		if !strings.Contains(box, part) {
			t.Errorf("%q is not in the inbox:\n%s", part, box)
		}
	}
	if strings.Contains(box, "builder") {
		t.Errorf("builder needs nobody:\n%s", box)
	}

	// The answers, and what became of it.
	h.tandem(h.project, "session", "answer", "asker", "Blue")
	var asks approval.ListOut
	h.call("approval.list", approval.ListIn{}, &asks)
	for _, a := range asks.Asks {
		h.approve(a.ID)
	}
	h.tandem(h.dir, "session", "open", "faller", "--resume")
	h.eventually("all of it is done", func() bool {
		return h.poll("fixer", 0).Idle && h.poll("trier", 0).Idle && h.poll("asker", 0).Idle && !h.seat("faller").State.Gone()
	})
	if said := h.tandem(h.project, "session", "send", "faller", "again [[say here again]]"); !strings.Contains(said, "here again") {
		t.Errorf("faller: %s", said)
	}
	if diff := h.tandem(h.project, "session", "diff", "fixer"); !strings.Contains(diff, "+fixed") {
		t.Errorf("fixer's diff: %s", diff)
	}
	if diff := h.tandem(h.project, "session", "diff", "trier"); !strings.Contains(diff, "+tried") {
		t.Errorf("trier's diff: %s", diff)
	}
	for _, name := range []string{"fixer", "trier"} {
		h.tandem(h.project, "session", "close", name)
	}
	h.tandem(h.project, "session", "keep", "fixer")
	if got := git("show", "tandem/fixer:fixed.txt"); got != "fixed" {
		t.Errorf("the kept branch holds %q", got)
	}
	h.tandem(h.project, "session", "discard", "trier")
	if _, err := os.Stat(h.project + "-trier"); err == nil {
		t.Error("the discarded checkout is still there")
	}
	if got := git("branch", "--list", "tandem/trier"); got != "" {
		t.Errorf("the discarded branch is still there: %s", got)
	}
	if _, err := os.Stat(filepath.Join(h.project, "fixed.txt")); err == nil || git("status", "--porcelain") != clean {
		t.Error("the person's own checkout was changed")
	}
	if box := h.tandem(h.project, "inbox"); strings.Contains(box, "faller") || strings.Contains(box, "fixer") {
		t.Errorf("what was answered is still in the inbox:\n%s", box)
	}
}
