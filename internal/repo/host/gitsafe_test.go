package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/repo/gitstore"
)

// A served repository lies in a folder that an agent may write. Whatever its
// configuration names as a program, the server's git does not run it.
func TestGitRunsNothingOfTheRepositorys(t *testing.T) {
	home, git := ownHome(t)
	mark, evil, remote := filepath.Join(home, "mark"), filepath.Join(home, "evil"), filepath.Join(home, "remote.git")
	evilAt(t, mark, evil)
	hooks := t.TempDir()
	for _, hook := range []string{"pre-push", "reference-transaction", "pre-auto-gc"} {
		evilAt(t, mark, filepath.Join(hooks, hook))
	}
	git("init", "--quiet", "--bare", remote)
	git("--git-dir", remote, "update-ref", "refs/heads/theirs",
		git("--git-dir", remote, "commit-tree", "-m", "theirs", git("--git-dir", remote, "write-tree")))
	for name, c := range map[string]struct {
		url    string
		works  bool
		lacks  bool // a file of what is pushed
		config [][2]string
	}{
		"a path":    {url: home, config: [][2]string{{"remote.origin.uploadpack", evil}, {"remote.origin.receivepack", evil}}},
		"ssh":       {url: "ssh://127.0.0.1:1/x", config: [][2]string{{"core.sshCommand", evil}}},
		"git's own": {url: "git://127.0.0.1:1/x", config: [][2]string{{"core.gitProxy", evil}}},
		"a program": {url: "ext::" + evil + " %S", config: [][2]string{{"protocol.ext.allow", "always"}, {"protocol.allow", "always"}}},
		"a helper":  {url: "x", config: [][2]string{{"remote.origin.vcs", "ext"}, {"protocol.allow", "always"}}},
		"hooks": {url: remote, works: true, config: [][2]string{{"core.hooksPath", hooks}, {"core.fsmonitor", evil},
			{"core.alternateRefsCommand", evil}}},
		"a partial copy": {url: home, lacks: true, config: [][2]string{{"extensions.partialClone", "origin"}, {"remote.origin.promisor", "true"},
			{"remote.origin.uploadpack", evil}, {"core.repositoryformatversion", "1"}}},
	} {
		t.Run(name, func(t *testing.T) {
			store, err := gitstore.Init(t.TempDir(), "")
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			s := &served{store: store}
			here := func(args ...string) string {
				t.Helper()
				return git(append([]string{"--git-dir", store.GitDir()}, args...)...)
			}
			tree := here("write-tree")
			if c.lacks {
				tree = here("hash-object", "-t", "tree", "-w", "--literally", lackingTree(t))
			}
			here("update-ref", "refs/heads/ours", here("commit-tree", "-m", "ours", tree))
			for _, kv := range append(c.config, [2]string{"remote.origin.url", c.url},
				[2]string{"remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"}) {
				here("config", kv[0], kv[1])
			}
			for _, args := range [][]string{fetchArgs("origin"), append(pushFlags(true), "origin", "refs/heads/*:refs/heads/*"), {"gc", "--quiet"}} {
				cmd, err := s.safeGit(t.Context(), args...)
				if err != nil {
					t.Fatal(err)
				}
				out, err := cmd.CombinedOutput()
				if args[0] != "gc" && (err == nil) != c.works {
					t.Errorf("git %s: %v, %s", args[0], err, out)
				}
			}
			if said, err := os.ReadFile(mark); err == nil {
				t.Errorf("it ran %s", said)
				os.Remove(mark)
			}
		})
	}
}

// lackingTree is the text of a tree with a file that is nowhere.
func lackingTree(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tree")
	if err := os.WriteFile(path, []byte("100644 f\x00"+strings.Repeat("x", 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Credentials are the server's: its user's helpers are asked, the repository's
// are not.
func TestGitKeepsTheServersHelpers(t *testing.T) {
	home, git := ownHome(t)
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"),
		[]byte("[credential]\n\thelper = \"!echo username=own; echo password=good; true\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store, err := gitstore.Init(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	evil := "!touch " + filepath.Join(home, "mark") + "; true"
	for _, key := range []string{"credential.helper", "credential.https://example.org.helper"} {
		git("--git-dir", store.GitDir(), "config", key, evil)
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
