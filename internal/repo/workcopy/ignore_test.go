package workcopy

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tandem/internal/repo"
	"tandem/internal/repo/stocktest"
	"tandem/internal/testenv"
)

// tracked lists what a snapshot of a folder would track.
func tracked(t *testing.T, dir string) []string {
	t.Helper()
	s := repo.NewOverlay(nil)
	w, err := Init(dir, s, repo.RootOperationID, "default")
	if err != nil {
		t.Fatal(err)
	}
	l, err := w.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Discard()
	tree, _, err := l.Snapshot(t.Context(), SnapshotOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	err = repo.WalkTree(t.Context(), s, tree, repo.Everything{}, func(p repo.Path, _ repo.Merge[repo.TreeValue]) error {
		out = append(out, string(p))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(out)
	return out
}

func gitTracked(t *testing.T, dir string) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--others", "--exclude-standard")
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null"}
	text, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range strings.Split(string(text), "\x00") {
		if f != "" && !strings.HasPrefix(f, ".jj/") {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

var patternParts = []string{
	"a", "b", "c", "ab", "*", "**", "?", "/", "/", "!", "[ab]", "[!a]", "[^b]", "[a-c]", "[[:alpha:]]", "[]a]", "[a", `\*`, `\`, `\ `, " ",
	"#", "*.c", ".c", "a/b", "**/", "/**",
}

func randomIgnore(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		for range 1 + r.IntN(4) {
			b.WriteString(patternParts[r.IntN(len(patternParts))])
		}
		b.WriteString([]string{"\n", "\r\n", "/\n", " \n"}[r.IntN(4)])
	}
	return b.String()
}

// Files are ignored exactly when git ignores them.
func TestIgnoresAreGits(t *testing.T) {
	r := testenv.Random(t)
	names := []string{"a", "b", "c", "ab", "a.c", "#a", "!b", "a*", "a b", "a ", "]", "[a"}
	ignored := 0
	for range testenv.Rounds(600) {
		dir := t.TempDir()
		if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		os.RemoveAll(filepath.Join(dir, ".git", "info"))
		for range 12 {
			parts := []string{dir}
			for range 1 + r.IntN(3) {
				parts = append(parts, names[r.IntN(len(names))])
			}
			path := filepath.Join(parts...)
			if os.MkdirAll(filepath.Dir(path), 0o755) == nil {
				os.WriteFile(path, nil, 0o644)
			}
		}
		stocktest.Write(t, filepath.Join(dir, ".gitignore"), randomIgnore(r))
		if sub := filepath.Join(dir, "a"); r.IntN(2) == 0 {
			if st, err := os.Stat(sub); err == nil && st.IsDir() {
				stocktest.Write(t, filepath.Join(sub, ".gitignore"), randomIgnore(r))
			}
		}
		want := gitTracked(t, dir)
		got := tracked(t, dir)
		ignored += 12 - len(want)
		if !slices.Equal(got, want) {
			top, _ := os.ReadFile(filepath.Join(dir, ".gitignore"))
			sub, _ := os.ReadFile(filepath.Join(dir, "a", ".gitignore"))
			t.Fatalf("rules %q, in a %q:\nwe track  %q\ngit would %q", top, sub, got, want)
		}
	}
	if ignored == 0 {
		t.Error("nothing was ever ignored")
	}
}
