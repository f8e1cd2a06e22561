package since_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/session/since"
)

func run(t *testing.T, dir, in string, args ...string) string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@b"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s\n%s", args, err, out, in)
	}
	return string(out)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// whole is the patch of everything that changed.
func whole(t *testing.T, base *since.Base, kept map[string][]byte) (string, []string) {
	t.Helper()
	now, err := since.Look(t.Context(), base.Folder, base, func(p string) bool { return filepath.Base(p) == "secret" })
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	names := base.Changed(now)
	for _, name := range names {
		p, err := base.Patch(t.Context(), now, name, func(h string) ([]byte, bool) { b, ok := kept[h]; return b, ok })
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(p)
	}
	return out.String(), names
}

// Random files are changed at random; the patch makes the old state the new one, by git itself, in a repository, below its root and in
// none.
func TestGitAppliesWhatChanged(t *testing.T) {
	for _, place := range []string{"repository", "below", "none"} {
		t.Run(place, func(t *testing.T) {
			r := rand.New(rand.NewPCG(rand.Uint64(), 1))
			top := t.TempDir()
			folder := top
			if place == "below" {
				folder = filepath.Join(top, "sub", "dir")
			}
			text := func() string {
				var b strings.Builder
				for range r.IntN(40) {
					b.WriteString(strings.Repeat("line", r.IntN(3)) + string(rune('a'+r.IntN(5))) + "\n")
				}
				if r.IntN(4) == 0 {
					b.WriteString("no end")
				}
				if r.IntN(6) == 0 {
					b.WriteString("\x00\x01binary")
				}
				return b.String()
			}
			names := []string{"a.txt", "b/c.txt", "b/d e.txt", "x\ty", "empty", "gone.txt"}
			for _, name := range names {
				write(t, folder, name, text())
			}
			write(t, folder, "secret", "hush")
			if place != "none" {
				write(t, top, ".gitignore", "*.o\n")
				run(t, top, "", "git", "init", "-q")
				run(t, top, "", "git", "add", "-A")
				run(t, top, "", "git", "commit", "-qm", "one")
			}
			write(t, folder, "dirty.txt", text()) // was not committed when it began
			base, err := since.Look(t.Context(), folder, nil, func(p string) bool { return filepath.Base(p) == "secret" })
			if err != nil {
				t.Fatal(err)
			}
			kept, err := base.Kept(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if place != "none" && len(kept) != 1 {
				t.Errorf("%d contents are kept although the repository has them", len(kept))
			}
			was := filepath.Join(t.TempDir(), "was")
			run(t, top, "", "cp", "-a", top, was)
			for _, name := range append(names, "dirty.txt", "new.txt", "b/new too.txt", "out.o", "secret") {
				write(t, folder, name, text())
			}
			os.Remove(filepath.Join(folder, "gone.txt"))
			os.Chmod(filepath.Join(folder, "a.txt"), 0o755)
			os.Symlink("a.txt", filepath.Join(folder, "link"))
			patch, changed := whole(t, base, kept)
			for _, name := range changed {
				if name == "secret" || place != "none" && name == "out.o" {
					t.Errorf("%s is shown", name)
				}
			}
			run(t, was, patch, "git", "apply", "--whitespace=nowarn", "-")
			for _, name := range append(changed, "a.txt") {
				a, _ := os.ReadFile(filepath.Join(folder, filepath.FromSlash(name)))
				rel, _ := filepath.Rel(top, folder)
				b, _ := os.ReadFile(filepath.Join(was, rel, filepath.FromSlash(name)))
				if string(a) != string(b) {
					t.Errorf("%s differs after the patch:\n%q\n%q\n%s", name, a, b, patch)
				}
			}
		})
	}
}

// What nobody touched is not shown, and a folder that is gone is an error.
func TestNothingChanged(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a", "x\n")
	base, err := since.Look(t.Context(), dir, nil, func(string) bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	if patch, names := whole(t, base, nil); patch != "" || len(names) != 0 {
		t.Errorf("%v\n%s", names, patch)
	}
	if _, err := since.Look(t.Context(), filepath.Join(dir, "none"), nil, nil); err == nil {
		t.Error("there is no such folder")
	}
}

// Whoever changes a file and wants no trace of it sets its time back, lets the repository's own list ignore it, or an ignore file that
// ignores itself: each is seen.
func TestNothingHidesAChange(t *testing.T) {
	for name, hide := range map[string]struct {
		do   func(dir string)
		want string
	}{
		"the time is set back": {func(dir string) {
			st, err := os.Stat(filepath.Join(dir, "lib.txt"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, "lib.txt", "bad\n")
			if err := os.Chtimes(filepath.Join(dir, "lib.txt"), st.ModTime(), st.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, "lib.txt"},
		"the repository's own list": {func(dir string) {
			write(t, dir, ".git/info/exclude", "evil.sh\n")
			write(t, dir, "evil.sh", "evil\n")
		}, "evil.sh"},
		"an ignore file that ignores itself": {func(dir string) {
			write(t, dir, "sub/.gitignore", "*\n")
			write(t, dir, "sub/evil.sh", "evil\n")
		}, "sub/.gitignore"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run(t, dir, "", "git", "init", "-q")
			write(t, dir, "lib.txt", "was\n")
			base, err := since.Look(t.Context(), dir, nil, func(string) bool { return false })
			if err != nil {
				t.Fatal(err)
			}
			hide.do(dir)
			if _, names := whole(t, base, nil); !slices.Contains(names, hide.want) {
				t.Errorf("%s changed, and the look names %v", hide.want, names)
			}
		})
	}
}
