package checkout_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/fault"
	"tandem/internal/session/checkout"
	"tandem/internal/testenv"
)

type place struct {
	t     *testing.T
	home  string
	repo  string
	tools checkout.Tools
}

func newPlace(t *testing.T) *place {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, home: home, repo: filepath.Join(home, "app")}
	p.tools = checkout.Tools{Self: testenv.Tandem(t), Env: []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}}
	p.write("app/a.txt", "one\n")
	p.write("app/sub/b.txt", "two\n")
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	file := filepath.Join(p.home, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) run(dir string, args ...string) string {
	p.t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(p.tools.Env, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *place) gone(path string) {
	p.t.Helper()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		p.t.Errorf("%s is still there", path)
	}
}

// A worktree beside the repository: what is done in it is a branch when it is kept, and nothing when it is discarded. The person's own
// checkout is not touched, and nothing that the repository's configuration names is run.
func TestWorktree(t *testing.T) {
	p := newPlace(t)
	p.run(p.repo, "git", "init", "-q", "-b", "main")
	p.run(p.repo, "git", "add", "-A")
	p.run(p.repo, "git", "commit", "-qm", "first")
	p.write("app/a.txt", "the person's own work\n")
	ran := filepath.Join(p.home, "ran")
	p.write("app/.git/hooks/post-checkout", "#!/bin/sh\ntouch "+ran+"\n")
	p.run(p.repo, "chmod", "+x", ".git/hooks/post-checkout")
	p.run(p.repo, "git", "config", "filter.evil.smudge", "touch "+ran+"; cat")
	p.run(p.repo, "git", "config", "filter.evil.clean", "touch "+ran+"; cat")
	p.run(p.repo, "git", "config", "filter.evil.required", "true")
	p.write("app/.git/info/attributes", "* filter=evil\n")

	c, err := p.tools.Add(t.Context(), checkout.Worktree, filepath.Join(p.repo, "sub"), "builder")
	if err != nil {
		t.Fatal(err)
	}
	if c.Path != p.repo+"-builder" || c.Folder != p.repo+"-builder/sub" || c.Name != "tandem/builder" {
		t.Errorf("%+v", c)
	}
	if _, err := p.tools.Add(t.Context(), checkout.Worktree, p.repo, "builder"); !fault.Is(err, fault.Conflict) {
		t.Errorf("twice: %v", err)
	}
	p.write("app-builder/a.txt", "changed\n")
	p.write("app-builder/new.txt", "new\n")
	k, err := p.tools.Keep(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	p.gone(c.Path)
	p.gone(ran)
	if k.Commits != 1 || k.Next != "git -C "+p.repo+" merge tandem/builder" {
		t.Errorf("%+v", k)
	}
	p.run(p.repo, "git", "config", "--remove-section", "filter.evil")
	if got := p.run(p.repo, "git", "show", "tandem/builder:new.txt"); got != "new" {
		t.Errorf("the branch holds %q", got)
	}
	if own, _ := os.ReadFile(filepath.Join(p.repo, "a.txt")); string(own) != "the person's own work\n" {
		t.Errorf("the person's file holds %q", own)
	}

	idle, err := p.tools.Add(t.Context(), checkout.Worktree, p.repo, "idle")
	if err != nil {
		t.Fatal(err)
	}
	if k, err := p.tools.Keep(t.Context(), idle); err != nil || k.Commits != 0 || k.Next != "" {
		t.Errorf("%+v %v", k, err)
	}
	bad, err := p.tools.Add(t.Context(), checkout.Worktree, p.repo, "bad")
	if err != nil {
		t.Fatal(err)
	}
	p.write("app-bad/a.txt", "nonsense\n")
	p.run(bad.Path, "git", "commit", "-qam", "nonsense")
	if err := p.tools.Discard(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	p.gone(bad.Path)
	if branches := p.run(p.repo, "git", "branch", "--format=%(refname:short)"); branches != "main\ntandem/builder" {
		t.Errorf("branches: %s", branches)
	}
	if _, err := p.tools.Add(t.Context(), checkout.Worktree, p.home, "x"); !fault.Is(err, fault.Conflict) {
		t.Errorf("in no repository: %v", err)
	}
}

// The same with a workspace of jj.
func TestWorkspace(t *testing.T) {
	p := newPlace(t)
	tandem := func(dir string, args ...string) string {
		return p.run(dir, append([]string{p.tools.Self, "jj", "--color=never", "--config", "user.name=a", "--config", "user.email=a@b"},
			args...)...)
	}
	tandem(p.repo, "git", "init", "--colocate")
	tandem(p.repo, "commit", "-m", "first")
	c, err := p.tools.Add(t.Context(), checkout.Workspace, p.repo, "builder")
	if err != nil {
		t.Fatal(err)
	}
	p.write("app-builder/new.txt", "new\n")
	k, err := p.tools.Keep(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	p.gone(c.Path)
	if k.Commits != 1 || k.Head == "" {
		t.Fatalf("%+v", k)
	}
	if got := tandem(p.repo, "file", "show", "-r", k.Head, "new.txt"); got != "new" {
		t.Errorf("the commit holds %q", got)
	}
	bad, err := p.tools.Add(t.Context(), checkout.Workspace, p.repo, "bad")
	if err != nil {
		t.Fatal(err)
	}
	p.write("app-bad/nonsense.txt", "x\n")
	if err := p.tools.Discard(t.Context(), bad); err != nil {
		t.Fatal(err)
	}
	p.gone(bad.Path)
	if log := tandem(p.repo, "log", "--no-graph", "-r", "all()", "-T", "diff.summary()"); strings.Contains(log, "nonsense") ||
		!strings.Contains(log, "new.txt") {
		t.Errorf("%s", log)
	}
	if list := tandem(p.repo, "workspace", "list"); strings.Contains(list, "bad") || strings.Contains(list, "builder") {
		t.Errorf("%s", list)
	}
}
