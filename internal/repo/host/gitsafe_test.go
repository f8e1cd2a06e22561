package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/repo/gitstore"
)

// A served repository lies in a folder that an agent may write. Whatever its
// configuration names as a program, the server's git does not run it.
func TestGitRunsNothingOfTheRepositorys(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	mark, evil := filepath.Join(home, "mark"), filepath.Join(home, "evil")
	if err := os.WriteFile(evil, []byte("#!/bin/sh\necho \"$0 $*\" >> "+mark+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		url    string
		config [][2]string
	}{
		"a path":         {home, [][2]string{{"remote.origin.uploadpack", evil}, {"remote.origin.receivepack", evil}}},
		"ssh":            {"ssh://127.0.0.1:1/x", [][2]string{{"core.sshCommand", evil}}},
		"git's own":      {"git://127.0.0.1:1/x", [][2]string{{"core.gitProxy", evil}}},
		"a program":      {"ext::" + evil + " %S", [][2]string{{"protocol.ext.allow", "always"}, {"protocol.allow", "always"}}},
		"a helper":       {"x", [][2]string{{"remote.origin.vcs", "ext"}, {"protocol.allow", "always"}}},
		"hooks":          {home, [][2]string{{"core.hooksPath", home}, {"core.fsmonitor", evil}, {"core.alternateRefsCommand", evil}}},
		"a partial copy": {home, [][2]string{{"extensions.partialClone", "origin"}, {"remote.origin.promisor", "true"}, {"remote.origin.uploadpack", evil}, {"core.repositoryformatversion", "1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := gitstore.Init(t.TempDir(), "")
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			s := &served{store: store}
			for _, kv := range append(c.config, [2]string{"remote.origin.url", c.url}, [2]string{"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"}) {
				git("--git-dir", store.GitDir(), "config", kv[0], kv[1])
			}
			for _, args := range [][]string{fetchArgs("origin"), append(pushFlags(), "origin", "refs/heads/*:refs/heads/*"), {"gc", "--quiet"}} {
				cmd, err := s.safeGit(t.Context(), args...)
				if err != nil {
					t.Fatal(err)
				}
				out, err := cmd.CombinedOutput()
				if args[0] != "gc" && err == nil {
					t.Errorf("git %s worked: %s", args[0], out)
				}
			}
			if said, err := os.ReadFile(mark); err == nil {
				t.Errorf("it ran %s", said)
				os.Remove(mark)
			}
		})
	}
}

// Credentials are the server's: its user's helpers are asked, the repository's
// are not.
func TestGitKeepsTheServersHelpers(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[credential]\n\thelper = \"!echo username=own; echo password=good; true\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := gitstore.Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	evil := "!touch " + filepath.Join(home, "mark") + "; true"
	for _, key := range []string{"credential.helper", "credential.https://example.org.helper"} {
		if out, err := exec.Command("git", "--git-dir", store.GitDir(), "config", key, evil).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	s := &served{store: store}
	cmd, err := s.safeGit(t.Context(), "credential", "fill")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = strings.NewReader("protocol=https\nhost=example.org\n\n")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "password=good") {
		t.Errorf("the user's own helper: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(home, "mark")); err == nil {
		t.Error("the repository's helper ran")
	}
}
