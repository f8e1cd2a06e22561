package proof

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The making of a workspace is broken off in the middle of thousands of files.
// Run again, it goes on from there: what has arrived does not travel twice.
func TestInitGoesOn(t *testing.T) {
	s := newServer(t)
	repo := filepath.Join(s.home, "project")
	const files = 12_000
	r := rand.New(rand.NewPCG(1, 2))
	for i := range files {
		dir := filepath.Join(repo, fmt.Sprintf("d%02d", i%60))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("f%05d", i)),
			fmt.Appendf(nil, "%d %x %x %x\n", i, r.Uint64(), r.Uint64(), r.Uint64()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"init --quiet", "add -A", "-c user.name=g -c user.email=g@example.com commit --quiet -m many"} {
		cmd := exec.Command("git", append([]string{"-C", repo}, strings.Fields(line)...)...)
		cmd.Env = s.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", line, err, out)
		}
	}
	f := newFleetOn(t, s, repo)
	measure := newShears(t, f.addr)
	whole := filepath.Join(f.home, "whole")
	if out, err := f.tandem(f.home, "init", "--tandem-server", measure.addr(), "--workspace", "whole", whole); err != nil {
		t.Fatalf("init: %v\n%s", err, out)
	}
	all := measure.carried.Load()

	wire := newShears(t, f.addr)
	wire.limit.Store(all * 8 / 10)
	dir := filepath.Join(f.home, "w")
	line := []string{"init", "--tandem-server", wire.addr(), "--workspace", "w", dir}
	out, err := f.tandem(f.home, line...)
	if err == nil || !strings.Contains(out, "run the same again") {
		t.Fatalf("cut in the middle: %v\n%s", err, out)
	}
	before := wire.carried.Load()
	if out, err = f.tandem(f.home, line...); err != nil {
		t.Fatalf("again: %v\n%s", err, out)
	}
	rest := wire.carried.Load() - before
	if rest > all*6/10 {
		t.Errorf("of %d bytes %d came before the cut and %d after it", all, before, rest)
	}
	if out, err := exec.Command("diff", "-r", "--exclude=.jj", whole, dir).CombinedOutput(); err != nil {
		t.Errorf("the workspaces differ: %v\n%.500s", err, out)
	}
	f.must(t, dir, "commit", "-m", "it works")
	t.Logf("%d bytes in all; %d before the cut, %d after it", all, before, rest)
	f.sound()
}
