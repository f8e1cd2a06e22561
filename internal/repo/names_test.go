package repo

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Names that some system takes for a repository's folder are refused on all; git's
// own check of trees is the oracle for its half of them.
func TestNamesThatHideARepository(t *testing.T) {
	dir := t.TempDir()
	git := func(in []byte, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
		cmd.Stdin = bytes.NewReader(in)
		out, err := cmd.CombinedOutput()
		if err != nil && args[0] != "fsck" {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git(nil, "init", "--quiet", ".")
	blob := strings.TrimSpace(git([]byte("x"), "hash-object", "-w", "--stdin"))
	hidden := []string{".git", ".GIT", ".gIt", ".git\u200c", ".g\u200dit", "\ufeff.git", ".gi\u206ft", ".g\u202eit", "git~1", "GIT~1",
		"git~1.", ".git.", ".git ", ".git . .",
		`.git\hooks\x`, `a\.git`, `a\GIT~1\x`, ".git::$INDEX_ALLOCATION", ".git:x", "git~1:x", ".git...:alternate"}
	for _, name := range append(hidden, ".gitignore", ".gitmodules", ".github", "git", "git~2", "git~10", "x.git", ".git-x", ".gitx.",
		"a:.git", "jj", `a\b`, "ключ", "~", "a ", "a.") {
		tree := strings.TrimSpace(git(fmt.Appendf(nil, "100644 blob %s\t%s\x00", blob, name), "mktree", "-z"))
		said := strings.Contains(git(nil, "fsck", "--no-dangling", tree), "hasDotgit")
		if got := CheckName(name) != ""; got != said {
			t.Errorf("%q: refused here %v, by git %v", name, got, said)
		}
		if err := os.Remove(fmt.Sprintf("%s/.git/objects/%s/%s", dir, tree[:2], tree[2:])); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{".jj", ".JJ", ".j\u200cj", "jj~1", ".jj.", ".jj ", `.jj\repo`, ".jj:x", "", ".", "..", "a/b", "a\x00"} {
		if CheckName(name) == "" {
			t.Errorf("%q is allowed", name)
		}
	}
}
