package builtin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testenv"
	"tandem/internal/tool"
)

// The diff that a person approves has the file's own line numbers and context, and git takes it for what it is.
func TestTheDiffOfAnAskIsAPatch(t *testing.T) {
	for name, x := range map[string]struct{ before, after string }{
		"in the middle": {"1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"}, "new": {"", "a\nb\n"},
		"no end of line": {"a\nb", "a\nc"},
		"gone":           {"a\n", ""}, "at the end": {"a\nb\n", "a\nb\nc"}, "at the start": {"b\n", "a\nb\n"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, []byte(x.before), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "--unidiff-zero", "-p0")
		cmd.Dir, cmd.Env = dir, testenv.Env(t)
		cmd.Stdin = strings.NewReader(tool.Unified("f", x.before, x.after))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v %s\n%s", name, err, out, tool.Unified("f", x.before, x.after))
		}
		if got, _ := os.ReadFile(file); string(got) != x.after {
			t.Errorf("%s: %q became %q", name, x.before, got)
		}
	}
	if got := tool.Unified("f", "1\n2\n3\n4\n5\n", "1\n2\n3\n4\nfive\n"); !strings.Contains(got, "@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n") {
		t.Errorf("line numbers and context are not the file's:\n%s", got)
	}
}
