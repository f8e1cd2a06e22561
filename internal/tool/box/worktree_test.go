package box_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/tool/box"
)

// Git did not work at all in a worktree whose repository lies outside of the granted folder. The box shows that repository, to be changed
// only
// where the worktree's own commands do; hooks, settings, the main checkout's files, other worktrees and HEAD stay as they are.
func TestAWorktreeOfARepositoryOutside(t *testing.T) {
	m := find(t, box.Bubblewrap)
	dir := project(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	git(t, dir, "init", "-q", "-b", "main", "main")
	git(t, at("main"), "commit", "-q", "--allow-empty", "-m", "one")
	if err := os.WriteFile(at("main/secret.txt"), []byte("HIDDEN-KEY"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, at("main"), "worktree", "add", "-q", at("granted/w"))
	git(t, at("main"), "worktree", "add", "-q", at("other"))
	open := func() box.Box {
		t.Helper()
		b := box.Box{Dir: at("granted/w"), Mounts: box.Write(at("granted"))}
		b.Worktrees(at("granted"))
		if err := b.Keep(at("granted")); err != nil {
			t.Fatal(err)
		}
		return b
	}
	who := "export HOME=/tmp GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org; "
	said := run(t, m, open(), uint32(os.Getuid()), who+
		"echo x > x && git add x && git commit -qm two && git branch topic && git switch -q topic && git stash list && git tag v1 && "+
		"git status && echo WORKED")
	if !strings.Contains(said, "WORKED") {
		t.Error(said)
	}
	common := at("main/.git")
	said = run(t, m, open(), uint32(os.Getuid()), who+strings.ReplaceAll(`
cat C/../secret.txt && echo READ-MAIN
for f in C/hooks/pre-commit C/config C/HEAD C/config.worktree C/worktrees/other/HEAD C/worktrees/other/commondir `+
		`C/worktrees/w/commondir C/worktrees/w/gitdir C/objects/info/alternates C/x; do
	(echo evil >> $f) 2>/dev/null && echo WROTE $f
done
mv C/worktrees/w C/worktrees/v && echo MOVED
git config core.fsmonitor x && echo CONFIGURED
git worktree add ../more && echo ADDED`, "C", common))
	for _, bad := range []string{"READ-MAIN", "WROTE", "MOVED", "CONFIGURED", "ADDED", "HIDDEN-KEY"} {
		if strings.Contains(said, bad) {
			t.Errorf("%s: %s", bad, said)
		}
	}
	git(t, at("main"), "fsck")

	// A pointer that somebody wrote into the folder opens no other repository: that one does not name it.
	if err := os.Mkdir(at("granted/fake"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("granted/fake/.git"), []byte("gitdir: "+filepath.Join(common, "worktrees", "other")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := box.Box{Dir: at("granted/fake"), Mounts: box.Write(at("granted"))}
	b.Worktrees(at("granted"))
	if said := run(t, m, b, uint32(os.Getuid()), "ls "+common+"; git log"); strings.Contains(said, "objects") ||
		strings.Contains(said, "one") {
		t.Error(said)
	}
}

// Where the granted folder is the person's home, what its shell, git and ssh run by themselves is kept; what is not there yet is found
// when it
// was made, and set aside.
func TestAHomeRunsNothingOfAnAgents(t *testing.T) {
	m := find(t, box.Bubblewrap)
	home := project(t)
	if err := os.WriteFile(filepath.Join(home, ".bashrc"), []byte("# mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := box.Box{Dir: home, Home: home, Mounts: box.Write(home)}
	if err := b.Keep(home); err != nil {
		t.Fatal(err)
	}
	before, err := box.Look(home, home)
	if err != nil {
		t.Fatal(err)
	}
	before.Holding(home, b)
	said := run(t, m, b, uint32(os.Getuid()), `echo evil >> .bashrc && echo WROTE; mv .bashrc x && echo MOVED
mkdir -p .ssh .config/git .config/autostart .local/bin; for f in .profile .gitconfig .ssh/rc .ssh/authorized_keys .config/git/config `+
		`.config/autostart/x.desktop .local/bin/git; do echo evil > $f; done; echo notes > notes.txt`)
	if strings.Contains(said, "WROTE") || strings.Contains(said, "MOVED") {
		t.Error(said)
	}
	now, err := box.Look(home, home)
	if err != nil {
		t.Fatal(err)
	}
	left := now.Since(before, home)
	var found []string
	for _, l := range left {
		found = append(found, l.Path)
	}
	if got := strings.Join(found,
		" "); got != ".config/autostart/x.desktop .config/git/config .gitconfig .local/bin/git .profile .ssh/authorized_keys .ssh/rc" {
		t.Error(got)
	}
	if err := box.SetAside(home, left); err != nil {
		t.Fatal(err)
	}
	if again, err := box.Look(home, home); err != nil || len(again.Since(before, home)) > 0 {
		t.Errorf("%v %v", again, err)
	}
}
