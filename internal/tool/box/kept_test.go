package box_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testenv"
	"tandem/internal/tool/box"
)

// git runs git outside of any box, as the person would, and returns what it said.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, append(testenv.Env(t), "GIT_AUTHOR_NAME=p", "GIT_AUTHOR_EMAIL=p@example.org", "GIT_COMMITTER_NAME=p", "GIT_COMMITTER_EMAIL=p@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
	return string(out)
}

// A hook, or a setting that names a program, which an agent wrote into .git inside its box ran at the person's next commit, outside.
// And read-only files alone did not help: `mv .git x; cp -a x .git` made them writable.
func TestWhatGitRunsLaterCannotBeWritten(t *testing.T) {
	m := find(t, box.Bubblewrap)
	dir := project(t)
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", "a.txt")
	git(t, dir, "commit", "-qm", "one")
	if err := os.RemoveAll(filepath.Join(dir, ".git", "hooks")); err != nil { // a template may leave them out
		t.Fatal(err)
	}
	b := box.Box{Dir: dir, Mounts: append(box.Write(dir), box.Kept(dir)...)}
	mark := filepath.Join(dir, "RAN-OUTSIDE")
	hook := "printf '#!/bin/sh\\ntouch " + mark + "\\n'"
	for _, line := range []string{
		"mkdir -p .git/hooks; " + hook + " > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
		"git config core.fsmonitor 'touch " + mark + "'; git config core.hooksPath /tmp; echo '[core] fsmonitor = touch " + mark + "' >> .git/config",
		"mv .git x; cp -a x .git; mkdir -p .git/hooks; " + hook + " > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
		"mv .git/config .git/c; rm -f .git/config; ln -sf /tmp/x .git/config; rmdir .git/hooks; mv .git/hooks .git/h; umount .git/hooks",
	} {
		t.Log(run(t, m, b, uint32(os.Getuid()), "export HOME=/tmp; "+line))
	}
	for _, line := range [][]string{{"status"}, {"commit", "-q", "--allow-empty", "-m", "outside"}, {"checkout", "-q", "-b", "elsewhere"}, {"checkout", "-q", "main"}} {
		git(t, dir, line...)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("something that was written in the box ran outside")
	}
	if entries, err := os.ReadDir(filepath.Join(dir, ".git", "hooks")); err != nil || len(entries) > 0 {
		t.Errorf("hooks: %v %v", entries, err)
	}
}

// What of everyday git works in a box, and what is refused there because it would change what runs outside. docs/terminals.md has this table.
func TestGitInABox(t *testing.T) {
	m := find(t, box.Bubblewrap)
	dir := project(t)
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "add", "a.txt")
	git(t, dir, "commit", "-qm", "one")
	b := box.Box{Dir: dir, Mounts: append(box.Write(dir), box.Kept(dir)...)}
	who := "export HOME=/tmp GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org; "
	for _, c := range []struct {
		line  string
		works bool
	}{
		{"git status", true}, {"echo x > n.txt; git add n.txt; git commit -qm two", true}, {"git log --oneline; git show; git diff HEAD~1; git blame a.txt", true},
		{"git checkout -q -b topic; git switch -q main; git branch other; git branch -D other", true},
		{"git switch -q topic; echo t > t.txt; git add t.txt; git commit -qm topic; git switch -q main; git merge -q --no-edit topic", true},
		{"git switch -q -c re HEAD~1; echo r > r.txt; git add r.txt; git commit -qm re; git rebase -q main; git switch -q main", true},
		{"echo y > a.txt; git stash -q; git stash pop -q; git restore a.txt; git tag v1; git tag -d v1", true},
		{"git reset -q --hard HEAD; git cherry-pick --allow-empty re || git cherry-pick --skip; git clean -fdq; git gc -q", true},
		{"git worktree add -q /tmp/w main~1 && git worktree remove /tmp/w", true},
		{"git config user.name x", false}, {"git remote add o https://example.org/x", false},
		{"touch .git/hooks/post-commit", false}, {"git submodule init; git config core.hooksPath x", false}, {"mv .git y", false},
	} {
		said := run(t, m, b, uint32(os.Getuid()), who+"set -e; "+c.line+"; echo WORKED")
		if strings.Contains(said, "WORKED") != c.works {
			t.Errorf("%s: works %v, want %v: %s", c.line, !c.works, c.works, said)
		}
	}
	if said := git(t, dir, "fsck"); strings.Contains(said, "error") {
		t.Error(said)
	}
}
