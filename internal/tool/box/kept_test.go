package box_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/fault"
	"tandem/internal/testenv"
	"tandem/internal/tool/box"
)

// git runs git outside of any box, as the person would, and returns what it said.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir, cmd.Env = dir, append(testenv.Env(t), "GIT_AUTHOR_NAME=p", "GIT_AUTHOR_EMAIL=p@example.org", "GIT_COMMITTER_NAME=p",
		"GIT_COMMITTER_EMAIL=p@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v %s", args, err, out)
	}
	return string(out)
}

// kept is a box in dir that may change folder and whatever else is mounted over it.
func kept(t *testing.T, folder, dir string, over ...box.Mount) box.Box {
	t.Helper()
	b := box.Box{Dir: dir, Mounts: append(box.Write(folder), over...)}
	if err := b.Keep(folder); err != nil {
		t.Fatal(err)
	}
	return b
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
	b := kept(t, dir, dir)
	mark := filepath.Join(dir, "RAN-OUTSIDE")
	hook := "printf '#!/bin/sh\\ntouch " + mark + "\\n'"
	for _, line := range []string{
		"mkdir -p .git/hooks; " + hook + " > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
		"git config core.fsmonitor 'touch " + mark + "'; git config core.hooksPath /tmp; echo '[core] fsmonitor = touch " + mark +
			"' >> .git/config",
		"mv .git x; cp -a x .git; mkdir -p .git/hooks; " + hook + " > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
		"mv .git/config .git/c; rm -f .git/config; ln -sf /tmp/x .git/config; rmdir .git/hooks; mv .git/hooks .git/h; umount .git/hooks",
	} {
		t.Log(run(t, m, b, uint32(os.Getuid()), "export HOME=/tmp; "+line))
	}
	for _, line := range [][]string{{"status"}, {"commit", "-q", "--allow-empty", "-m", "outside"}, {"checkout", "-q", "-b", "elsewhere"},
		{"checkout", "-q", "main"}} {
		git(t, dir, line...)
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("something that was written in the box ran outside")
	}
	if entries, err := os.ReadDir(filepath.Join(dir, ".git", "hooks")); err != nil || len(entries) > 0 {
		t.Errorf("hooks: %v %v", entries, err)
	}
}

// Only the repository of the granted folder itself was kept. Where the grant was for a folder above, a command wrote hooks and settings of
// every repository below it, or of the one that a worktree or a separate git folder belongs to; and a folder above .git, or a worktree's
// part of it, could be moved aside and made anew. A commondir led git to another repository's hooks even where everything else was kept.
func TestRepositoriesBelowAGrantAreKept(t *testing.T) {
	m := find(t, box.Bubblewrap)
	dir := project(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"r", "a/b/deep", "split"} {
		git(t, dir, "init", "-q", "-b", "main", name)
	}
	if err := os.Mkdir(at("store"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "init", "-q", "-b", "main", "--separate-git-dir", at("store/gd"), "sep")
	git(t, dir, "init", "-q", "--bare", "bare.git")
	git(t, at("split"), "config", "extensions.worktreeConfig", "true")
	for _, name := range []string{"r", "a/b/deep", "sep", "split"} {
		git(t, at(name), "commit", "-q", "--allow-empty", "-m", "one")
	}
	git(t, at("r"), "worktree", "add", "-q", at("w"))
	git(t, at("a/b/deep"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", at("r"), "mod")
	git(t, at("a/b/deep"), "commit", "-qm", "mod")
	mark := at("RAN-OUTSIDE")
	evil := "printf '#!/bin/sh\\ntouch " + mark + "\\n' > evil; chmod +x evil; "
	attack := evil + `
plant() {
	for g in "$1"/*/.git "$1"/.git "$1"/bare.git "$1"/store/gd "$1"/a/b/deep/.git \
		"$1"/r/.git/worktrees/w "$1"/a/b/deep/.git/modules/mod; do
		[ -d "$g" ] || continue
		mkdir -p "$g/hooks"; for h in post-commit post-checkout reference-transaction pre-push; do cp -f evil "$g/hooks/$h"; done
		for c in config config.worktree; do printf '[core]\n\tfsmonitor = ` + dir + `/evil\n\thooksPath = ` + dir + `/h\n' >> "$g/$c"; done
	done
}
mkdir -p h; for h in post-commit post-checkout reference-transaction; do cp evil h/$h; done
plant .
for f in r a a/b a/b/deep store store/gd sep split w bare.git \
		r/.git/worktrees r/.git/worktrees/w a/b/deep/.git/modules a/b/deep/.git/modules/mod; do
	mv $f $f.aside && cp -a $f.aside $f && echo MOVED $f
done
plant .
git -C r config core.fsmonitor ` + dir + `/evil && echo CONFIGURED
cp -a r/.git elsewhere; mkdir -p elsewhere/hooks; cp h/* elsewhere/hooks/
for g in r/.git a/b/deep/.git store/gd split/.git r/.git/worktrees/w a/b/deep/.git/modules/mod; do
	echo ` + dir + `/elsewhere > $g/commondir
done
for f in sep w a/b/deep/mod; do echo gitdir: ` + dir + `/elsewhere > $f/.git; done`
	who := "export HOME=/tmp GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org; "
	everyday := "git status && echo x > n.txt && git add n.txt && git commit -qm two && git branch topic && git switch -q topic && " +
		"git gc -q && echo WORKED"
	checkouts := []string{"r", "a/b/deep", "sep", "split", "w", "a/b/deep/mod"}
	for _, name := range checkouts {
		said := run(t, m, kept(t, dir, at(name)), uint32(os.Getuid()), who+strings.ReplaceAll(everyday, "topic", "topic-"+filepath.Base(name)))
		if !strings.Contains(said, "WORKED") {
			t.Errorf("%s: git does not work in the box: %s", name, said)
		}
	}
	said := run(t, m, kept(t, dir, at("r")), uint32(os.Getuid()), who+"cd "+dir+"\n"+attack)
	if strings.Contains(said, "MOVED") || strings.Contains(said, "CONFIGURED") {
		t.Error(said)
	}
	for _, name := range checkouts {
		git(t, at(name), "status")
		git(t, at(name), "commit", "-q", "--allow-empty", "-m", "outside")
		git(t, at(name), "switch", "-q", "-c", "outside-"+filepath.Base(name))
		if _, err := os.Lstat(mark); err == nil {
			os.Remove(mark)
			t.Errorf("%s: something that was written in the box ran outside", name)
		}
	}
	git(t, at("sep"), "push", "-q", at("bare.git"), "HEAD:refs/heads/x")
	if _, err := os.Lstat(mark); err == nil {
		t.Error("a hook of the repository without files ran")
	}
}

// What keeps a repository lies under what else is mounted in it: hidden files stay hidden, read-only ones read-only.
func TestKeepingUncoversNothing(t *testing.T) {
	m := find(t, box.Bubblewrap)
	dir := project(t)
	for _, name := range []string{"sub", "keys", "fixed/r"} {
		git(t, dir, "init", "-q", name)
	}
	hidden := box.Mount{From: os.DevNull, At: filepath.Join(dir, "sub", ".env")}
	over := []box.Mount{hidden, box.Empty(filepath.Join(dir, "keys")), {From: filepath.Join(dir, "fixed")}}
	b := kept(t, dir, dir, over...)
	line := "cat sub/.env keys/one; ls -d keys/.git; touch fixed/r/x fixed/r/.git/x && echo WROTE; " +
		"touch sub/.git/hooks/x sub/.git/config && echo WROTE; touch sub/x && echo FINE"
	said := run(t, m, b, uint32(os.Getuid()), line+" 2>/dev/null")
	said = strings.Join(strings.Fields(said), " ")
	if strings.Contains(said, "HIDDEN-KEY") || strings.Contains(said, "WROTE") || !strings.HasSuffix(said, "FINE") {
		t.Error(said)
	}
	if out := run(t, m, b, uint32(os.Getuid()), "ls -A keys"); out != "" {
		t.Errorf("in the hidden folder: %s", out)
	}
}

// A folder with more repositories than a box can keep is said to be one.
func TestMoreRepositoriesThanCanBeKept(t *testing.T) {
	m := find(t, box.Bubblewrap)
	dir := project(t)
	make := func(from, to int) {
		for i := from; i < to; i++ {
			g := filepath.Join(dir, fmt.Sprint("many", i), ".git")
			if err := os.MkdirAll(filepath.Join(g, "hooks"), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(g, "config"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	make(0, 140)
	began := time.Now()
	said := run(t, m, kept(t, dir, dir), uint32(os.Getuid()), "touch many139/.git/hooks/x || echo HELD")
	if !strings.Contains(said, "HELD") {
		t.Error(said)
	}
	t.Logf("a box with 140 repositories took %s", time.Since(began))
	make(140, 400)
	b := box.Box{Dir: filepath.Join(dir, "many399"), Mounts: box.Write(dir)}
	if err := b.Keep(dir); !fault.Is(err, fault.Exhausted) {
		t.Errorf("%v", err)
	}
	if said := run(t, m, b, uint32(os.Getuid()), "touch .git/hooks/x || echo HELD"); !strings.Contains(said, "HELD") {
		t.Errorf("the one that is worked in: %s", said)
	}
}
