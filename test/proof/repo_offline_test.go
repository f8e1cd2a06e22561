package proof

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// What was done while the server was away goes up when it is back, although
// nobody types anything: the machine's daemon, which waits for the server,
// brings it. Nothing moves in the workspace meanwhile.
func TestWhatWaitsGoesUpByItself(t *testing.T) {
	f := newFleet(t, 2)
	away, other := f.agents[0], f.agents[1]
	f.must(t, away.dir, "log")
	f.server.kill9()
	if err := os.WriteFile(filepath.Join(away.dir, "alone.txt"), []byte("made alone\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := f.must(t, away.dir, "commit", "-m", "made alone"); !strings.Contains(out, "2 operations wait to be sent") {
		t.Fatalf("commit without a server: %s", out)
	}
	if out := f.must(t, away.dir, "st"); !strings.Contains(out, "2 operations wait to be sent") {
		t.Fatalf("st without a server: %s", out)
	}
	heads := f.heads(away)
	f.server.start()
	arrived := func() bool {
		cmd := exec.Command(testenv.Tool(t, "jj"), "--ignore-working-copy", "log", "--no-graph", "-r", `subject("made alone")`, "-T",
			"description")
		cmd.Dir, cmd.Env = f.repo, f.env
		out, err := cmd.CombinedOutput()
		return err == nil && strings.Contains(string(out), "made alone")
	}
	testenv.Eventually(t, "it comes to the server by itself", 2*time.Minute, arrived)
	if now := f.heads(away); now != heads {
		t.Errorf("the workspace moved from %s to %s with nobody there", heads, now)
	}
	if got := f.must(t, other.dir, "file", "show", "-r", `subject("made alone")`, "alone.txt"); got != "made alone\n" {
		t.Errorf("another agent reads %q", got)
	}
	if out := f.must(t, away.dir, "st"); strings.Contains(out, "to be sent") {
		t.Errorf("st with the server back: %s", out)
	}
	if out := f.must(t, away.dir, "log", "-r", "all()"); !strings.Contains(out, other.name+"@") {
		t.Errorf("the other workspace is not in sight: %s", out)
	}
	f.sound()
}

// heads lists the operation heads of a workspace's copy.
func (f *fleet) heads(a *committer) string {
	f.t.Helper()
	list, err := os.ReadDir(filepath.Join(a.dir, ".jj", "repo", "op_heads", "heads"))
	if err != nil {
		f.t.Fatal(err)
	}
	var names []string
	for _, e := range list {
		if e.Name() != "lock" {
			names = append(names, e.Name())
		}
	}
	return strings.Join(names, " ")
}
