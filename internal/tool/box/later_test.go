package box_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/tool/box"
)

// What an agent makes where no mount could be is found from outside and set aside: a repository that it initialised, one in a folder
// below, a bare one, a pointer to another, settings that lead to programs, also with the key on the section's line or continued. What is
// everyday stays as it is, and what a person had before is what stands there again.
func TestWhatAppearsLaterIsSetAside(t *testing.T) {
	dir := project(t)
	git(t, dir, "init", "-q", "-b", "main")
	git(t, dir, "config", "alias.mine", "!echo the person's own")
	before, err := box.Look(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	own, err := os.ReadFile(filepath.Join(dir, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	mark := filepath.Join(dir, "RAN-OUTSIDE")
	hook := "#!/bin/sh\ntouch " + mark + "\n"
	git(t, dir, "init", "-q", "fresh")
	git(t, dir, "init", "-q", "sub/nested")
	git(t, dir, "init", "-q", "--bare", "bare")
	git(t, filepath.Join(dir, "sub/nested"), "remote", "add", "origin", "https://example.org/x")
	for _, bad := range []struct{ path, text string }{
		{".git/hooks/pre-commit", hook},
		{".git/config", string(own) + "[core] fsmonitor = touch " + mark + "\n"},
		{"sub/nested/.git/hooks/post-checkout", hook},
		{"sub/nested/.git/config", "[core]\n\tbare = false\n# a comment \\\n\thooksPath = ../h\n[include]\n\tpath = ../evil\n[remote " +
			"\"origin\"]\n\turl = https://example.org/x\n"},
		{"bare/config", "[core]\n\tbare = true\n[alias] x = !touch y\n"},
		{"elsewhere/.git", "gitdir: /somewhere/else\n"},
		{"theirs/.jj/repo/config.toml", "[ui]\neditor = 'touch x'\n"},
		{".git/objects/info/alternates", "/private/.git/objects\n" + dir + "/fresh/.git/objects\n"},
		{"fresh/.git/rebase-merge/git-rebase-todo", "pick 1234567 one\npick 2345678 two\n  exec touch " + mark + "\n"},
		{"sub/nested/.git/rebase-merge/git-rebase-todo", "pick 1234567 one\nx touch " + mark + "\n"},
		{"sub/nested/.git/rebase-merge/strategy", "mine\n"},
	} {
		write(bad.path, bad.text)
	}
	now, err := box.Look(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	left := now.Since(before, dir)
	var said strings.Builder
	for _, l := range left {
		said.WriteString(l.Path + ": " + l.What + "\n")
	}
	for _, want := range []string{
		".git/hooks/pre-commit: a hook", ".git/config: settings of git that name programs or places: core.fsmonitor",
		"sub/nested/.git/hooks/post-checkout",
		"sub/nested/.git/config: settings of git that name programs or places: core.hookspath, include.path", "bare/config",
		"elsewhere/.git: a pointer to another repository: /somewhere/else",
		"theirs/.jj/repo/config.toml: settings of jj",
		".git/objects/info/alternates: a pointer to objects of another repository: /private/.git/objects",
		"fresh/.git/rebase-merge/git-rebase-todo: commands that a rebase would run when it goes on: touch " + mark,
		"sub/nested/.git/rebase-merge/git-rebase-todo", "sub/nested/.git/rebase-merge/strategy"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("not found: %s", want)
		}
	}
	if len(left) != 11 || strings.Contains(said.String(), "fresh/.git/config") {
		t.Errorf("found:\n%s", said.String())
	}
	if err := box.SetAside(dir, left); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{".git/objects/info/alternates": dir + "/fresh/.git/objects\n",
		"fresh/.git/rebase-merge/git-rebase-todo": "pick 1234567 one\npick 2345678 two\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, path)); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", path, got, err)
		}
	}
	for _, place := range []string{"fresh", "sub/nested"} {
		if err := os.RemoveAll(filepath.Join(dir, place, ".git/rebase-merge")); err != nil {
			t.Fatal(err)
		}
	}
	for _, place := range []string{".", "sub/nested", "fresh"} {
		git(t, filepath.Join(dir, place), "commit", "-q", "--allow-empty", "-m", "outside")
		git(t, filepath.Join(dir, place), "status")
		git(t, filepath.Join(dir, place), "checkout", "-q", "-b", "elsewhere")
	}
	if _, err := os.Lstat(mark); err == nil {
		t.Error("something that appeared later ran")
	}
	if url := git(t, filepath.Join(dir, "sub/nested"), "config", "remote.origin.url"); url != "https://example.org/x\n" {
		t.Errorf("what is everyday went with it: %q", url)
	}
	if got, err := os.ReadFile(filepath.Join(dir, ".git/config")); err != nil || string(got) != string(own) {
		t.Errorf("what the person had: %s %v", got, err)
	}
	if again, err := box.Look(dir, ""); err != nil || len(again.Since(before, dir)) > 0 {
		t.Errorf("after it: %+v %v", again.Since(before, dir), err)
	}
	if err := box.PutBack(dir, left[1].Path, left[1].Part); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(filepath.Join(dir, left[1].Path)); err != nil || st.Mode().Perm() != 0o755 {
		t.Errorf("put back: %v %v", st, err)
	}
}

// What a box keeps from being written, the program in it did not change: a person's own hook of these minutes is left alone.
func TestWhatABoxHeldIsThePersons(t *testing.T) {
	dir := project(t)
	git(t, dir, "init", "-q")
	before, err := box.Look(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	before.Holding(dir, kept(t, dir, dir))
	git(t, dir, "config", "alias.mine", "!echo mine")
	if err := os.WriteFile(filepath.Join(dir, ".git/hooks/pre-push"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	now, err := box.Look(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if left := now.Since(before, dir); len(left) > 0 {
		t.Errorf("%+v", left)
	}
}
