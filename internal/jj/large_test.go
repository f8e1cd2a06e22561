package jj

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/stocktest"
)

// grow makes a file of so many bytes that takes no room on the disk.
func grow(t *testing.T, path string, size int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err == nil {
		err = f.Truncate(size)
		f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A file that cannot be kept locks nothing: it is named, the rest is kept, it is
// not taken away, and the advice works.
func TestAFileThatCannotBeKept(t *testing.T) {
	stock := stocktest.New(t)
	stock.Configure("snapshot.max-new-file-size = 0")
	dir := filepath.Join(t.TempDir(), "r")
	must := func(args ...string) (out, errs string) {
		t.Helper()
		out, errs, code := say(t, stock, dir, args...)
		if code != 0 {
			t.Fatalf("jj %s: %d\n%s%s", strings.Join(args, " "), code, out, errs)
		}
		return out, errs
	}
	if _, errs, code := say(t, stock, filepath.Dir(dir), "git", "init", "r"); code != 0 {
		t.Fatal(errs)
	}
	big := filepath.Join(dir, "big.bin")
	if err := os.WriteFile(big, []byte("small\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	must("commit", "-m", "small")
	grow(t, big, repo.LargestFile+1)
	grow(t, filepath.Join(dir, "new.bin"), repo.LargestFile+2)
	if err := os.WriteFile(filepath.Join(dir, "other"), []byte("kept\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, errs := must("st")
	for _, want := range []string{"big.bin: 2.0GiB (2147483649 bytes)", "new.bin: 2.0GiB", "jj file untrack big.bin"} {
		if !strings.Contains(errs, want) {
			t.Errorf("st does not say %q:\n%s", want, errs)
		}
	}
	if !strings.Contains(out, "A other") || strings.Contains(out, "M big.bin") || strings.Contains(out, "? big.bin") {
		t.Errorf("st shows\n%s", out)
	}
	if out, _ := must("file", "show", "big.bin"); out != "small\n" {
		t.Errorf("what was kept is %q", out)
	}
	must("new", "root()", "-m", "elsewhere")
	if st, err := os.Stat(big); err != nil || st.Size() != repo.LargestFile+1 {
		t.Errorf("what nobody else has was taken away: %v", err)
	}
	must("new", "description(substring:'small')+", "-m", "back")
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.bin\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	must("file", "untrack", "big.bin")
	if _, errs := must("st"); strings.Contains(errs, ".bin") {
		t.Errorf("after the advice:\n%s", errs)
	}
	if out, _ := must("file", "list"); strings.Contains(out, "big.bin") {
		t.Errorf("still tracked:\n%s", out)
	}
}

// A conflict of large files is described, and ends by choosing a side or by putting
// a file in its place, however large.
func TestAConflictOfLargeFiles(t *testing.T) {
	stock := stocktest.New(t)
	stock.Configure("snapshot.max-new-file-size = 0")
	dir := filepath.Join(t.TempDir(), "r")
	must := func(args ...string) (out string) {
		t.Helper()
		out, errs, code := say(t, stock, dir, args...)
		if code != 0 {
			t.Fatalf("jj %s: %d\n%s%s", strings.Join(args, " "), code, out, errs)
		}
		return out
	}
	if _, errs, code := say(t, stock, filepath.Dir(dir), "git", "init", "r"); code != 0 {
		t.Fatal(errs)
	}
	big := filepath.Join(dir, "big")
	put := func(c string) {
		t.Helper()
		if err := os.WriteFile(big, []byte(strings.Repeat(c+"\n", repo.LargeFile/2+1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	conflicted := func(want bool) {
		t.Helper()
		if out := must("log", "--no-graph", "-r", "@", "-T", "conflict"); (out == "true") != want {
			t.Errorf("in conflict: %s", out)
		}
	}
	put("o")
	must("commit", "-m", "origin")
	put("a")
	must("describe", "-m", "ours")
	must("new", "@-", "-m", "theirs")
	put("b")
	must("new", "subject(ours)", "subject(theirs)", "-m", "both")
	conflicted(true)
	if data, err := os.ReadFile(big); err != nil || !strings.HasPrefix(string(data), "Conflict:\n") || len(data) > 1000 {
		t.Errorf("shown in %d bytes: %v", len(data), err)
	}
	must("resolve", "--tool", ":theirs", "big")
	conflicted(false)
	if data, err := os.ReadFile(big); err != nil || !strings.HasPrefix(string(data), "b\n") {
		t.Errorf("theirs is %.20q: %v", data, err)
	}
	must("undo")
	conflicted(true)
	put("c")
	conflicted(false)
	if out := must("file", "show", "big"); !strings.HasPrefix(out, "c\n") {
		t.Errorf("what was put in its place is %.20q", out)
	}
}
