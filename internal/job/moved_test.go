package job

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"tandem/internal/job/wire"
	"tandem/internal/session/checkout"
)

// An agent's own git can move the person's branch to what it did, and that is found out. What people do to the branch meanwhile is theirs.
func TestABranchThatTheAgentMoved(t *testing.T) {
	repo := t.TempDir()
	env := []string{"HOME=" + repo, "PATH=" + os.Getenv("PATH")}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repo, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
		cmd.Env = env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	commit := func(on, name string) string {
		t.Helper()
		git("switch", "-q", "--detach", on)
		git("commit", "-q", "--allow-empty", "-m", name)
		return git("rev-parse", "HEAD")
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	base := git("rev-parse", "HEAD")
	first := commit(base, "of the job")
	head := commit(first, "more of the job")
	both, theirs := commit(head, "on top of it"), commit(base, "of a person")
	r := &Room{Tools: checkout.Tools{Env: env}}
	j := &Job{Job: wire.Job{Repo: repo, Base: base, Onto: "main"}, Tip: base}
	for now, want := range map[string]bool{base: false, first: true, head: true, both: true, theirs: false, "": false} {
		if got, err := r.merged(t.Context(), j, now, head); err != nil || got != want {
			t.Errorf("%s: %v %v", now, got, err)
		}
	}
	if got, err := r.merged(t.Context(), j, theirs, base); err != nil || got {
		t.Errorf("the job did nothing: %v %v", got, err)
	}
}
