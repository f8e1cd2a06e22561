package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/approval"
	"tandem/internal/session"
	"tandem/internal/session/wire"
)

// A repository that a real agent made in its folder was left there with its hooks and settings: they ran when the person used git in it.
// They
// are set aside before anybody hears that the turn ended; what the agent does between turns is found at the end of the next, or when it is
// closed; what the person changes where the box keeps the agent from it is the person's.
func TestARealAgentLeavesNoHook(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "TANDEM_CONFINE=bwrap")
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = h.project, append(h.env, "GIT_AUTHOR_NAME=p", "GIT_AUTHOR_EMAIL=p@example.org", "GIT_COMMITTER_NAME=p",
			"GIT_COMMITTER_EMAIL=p@example.org")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v %s", args, err, out)
		}
	}
	run("init", "-q", ".")
	s := h.open("a")
	run("config", "core.pager", "less -R")
	h.write("home/code/plant.sh", strings.Join([]string{"export HOME=/tmp", "git init -q sub",
		"printf '#!/bin/sh\\ntouch " + h.project + "/RAN' > sub/.git/hooks/pre-commit", "chmod +x sub/.git/hooks/pre-commit",
		"git -C sub config core.fsmonitor 'touch " + h.project + "/RAN'", "echo PLANTED"}, "\n"))
	out := h.begin("a", `go [[tool Bash {"command":"sh plant.sh","description":"make it"}]] [[result]]`)
	h.decide(approval.Approve, "")
	if report := h.ended("a", out.Cursor).Report; !strings.Contains(report, "PLANTED") {
		t.Fatal(report)
	}
	var got session.Session
	h.call("session.get", session.IDIn{ID: s.Session}, &got)
	var found []string
	for _, a := range got.Aside {
		found = append(found, a.Path)
	}
	want(t, "set aside", strings.Join(found, " "), "sub/.git/hooks/pre-commit sub/.git/config")
	run("-C", "sub", "commit", "-q", "--allow-empty", "-m", "outside")
	run("-C", "sub", "status")
	if _, err := os.Lstat(filepath.Join(h.project, "RAN")); err == nil {
		t.Error("what the agent left ran outside")
	}
	if config, err := os.ReadFile(filepath.Join(h.project, ".git", "config")); err != nil || !strings.Contains(string(config), "less -R") {
		t.Errorf("the person's own: %s %v", config, err)
	}

	// What comes after the turn is found when the session is closed.
	h.write("home/code/sub/.git/hooks/post-commit", "#!/bin/sh\n")
	h.call("session.close", map[string]string{"name": "a"}, nil)
	var list wire.AsideListOut
	h.call("aside.list", wire.AsideListIn{Session: s.Session}, &list)
	want(t, "set aside in the end", len(list.Aside), 3)
}
