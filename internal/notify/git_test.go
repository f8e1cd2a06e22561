package notify

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commit in a handoff is read from a repository that a confined agent may
// have prepared. A partial clone makes git fetch what is missing, by a program
// that the repository's own configuration names: it must not run, for it would
// run outside the agent's sandbox.
func TestAHandoffRunsNothingOfTheRepositorys(t *testing.T) {
	home := t.TempDir()
	folder, mark := filepath.Join(home, "code"), filepath.Join(home, "mark")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", folder}, args...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org",
			"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	run("init", "-q")
	if err := os.WriteFile(filepath.Join(folder, "file"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("add", "file")
	run("commit", "-qm", "one")
	if got := handoff(t.Context(), Notice{Folder: folder}); !strings.Contains(got, "Files changed: 1") {
		t.Fatalf("an honest repository: %s", got)
	}
	tree := run("rev-parse", "HEAD^{tree}")
	if err := os.Remove(filepath.Join(folder, ".git", "objects", tree[:2], tree[2:])); err != nil {
		t.Fatal(err)
	}
	evil := filepath.Join(home, "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\ntouch "+mark+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, kv := range [][2]string{{"core.repositoryformatversion", "1"}, {"extensions.partialClone", "origin"},
		{"remote.origin.promisor", "true"}, {"remote.origin.url", folder},
		{"remote.origin.uploadpack", evil}, {"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"}, {"protocol.file.allow", "always"},
		{"protocol.allow", "always"}} {
		run("config", kv[0], kv[1])
	}
	handoff(t.Context(), Notice{Folder: folder})
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program that the repository names ran")
	}
}
