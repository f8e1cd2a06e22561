package proof

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// A repository on a disk that is full, and then read-only: the agent is told
// what is wrong, its work waits, the repository is whole, and with room again
// everything goes up by itself.
func TestRepositoryDisk(t *testing.T) {
	s := newServer(t)
	disk := filepath.Join(s.home, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	s.wrap = append(unshare(t, "-m"), "sh", "-ec", `mount -t tmpfs -o size=8m,mode=0700 tmpfs "$0"; exec "$@"`, disk)
	f := newFleetOn(t, s, filepath.Join(disk, "project"))
	f.join(1)
	a := f.agents[0]
	inside := fmt.Sprintf("/proc/%d/root%s", s.cmd.Process.Pid, disk) // the disk is mounted for the server alone
	ballast := filepath.Join(inside, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 3<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	noise := func(n int) {
		t.Helper()
		data := make([]byte, 300_000)
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		if err := os.WriteFile(filepath.Join(a.dir, fmt.Sprintf("noise-%d", n)), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	whole := func(when string) {
		t.Helper()
		if out, err := s.run("repo", "check", "project"); err != nil {
			t.Errorf("%s: repo check: %v\n%s", when, err, out)
		}
		cmd := exec.Command(testenv.Tool(t, "nsenter"), "--target", fmt.Sprint(s.cmd.Process.Pid), "--mount", "git", "-C", f.repo, "fsck",
			"--strict", "--no-dangling")
		cmd.Env = f.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: git fsck: %v\n%s", when, err, out)
		}
	}
	told := ""
	n := 0
	for ; n < 40 && !strings.Contains(told, "to be sent"); n++ {
		noise(n)
		told = f.must(t, a.dir, "commit", "-m", fmt.Sprintf("noise %d", n))
	}
	if !strings.Contains(told, "disk is full or read-only") || !strings.Contains(told, "no space") {
		t.Fatalf("after %d commits the full disk is explained as: %s", n, told)
	}
	whole("full")
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if out := f.must(t, a.dir, "st"); strings.Contains(out, "to be sent") {
		t.Errorf("with room again: %s", out)
	}
	whole("with room")

	mount := func(how string) {
		t.Helper()
		if out, err := exec.Command(testenv.Tool(t, "nsenter"), "--target", fmt.Sprint(s.cmd.Process.Pid), "--mount", "mount", "-o",
			"remount,"+how, disk).CombinedOutput(); err != nil {
			t.Fatalf("remount: %v %s", err, out)
		}
	}
	mount("ro")
	if err := os.WriteFile(filepath.Join(a.dir, "small"), []byte("small\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if told = f.must(t, a.dir, "commit", "-m", "read-only"); !strings.Contains(told, "disk is full or read-only") ||
		!strings.Contains(told, "to be sent") {
		t.Errorf("the read-only disk is explained as: %s", told)
	}
	whole("read-only")
	mount("rw")
	if out := f.must(t, a.dir, "st"); strings.Contains(out, "to be sent") {
		t.Errorf("writable again: %s", out)
	}
	whole("writable")
	if out := f.must(t, a.dir, "log", "-r", "all()", "--no-graph", "-T", "description"); strings.Count(out, "noise ") != n ||
		!strings.Contains(out, "read-only") {
		t.Errorf("after all there is:\n%s", out)
	}
	t.Logf("full after %d commits of 300 kB", n)
}
