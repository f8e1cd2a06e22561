package builtin

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/testenv"
)

// What a tool shows as a diff is one: git apply makes the file of it, whatever changed. It was "@@ line 1 @@" with a stray - for new files.
func TestGitTakesTheDiff(t *testing.T) {
	git := testenv.Tool(t, "git")
	long := strings.Repeat("line\n", 20)
	for name, c := range map[string]struct {
		before, after   string
		existed, exists bool
	}{
		"new":               {"", "one\ntwo\n", false, true},
		"new, without end":  {"", "one", false, true},
		"gone":              {"one\ntwo\n", "", true, false},
		"middle":            {long + "x\n" + long, long + "y\nz\n" + long, true, true},
		"first":             {"x\n" + long, "y\n" + long, true, true},
		"last, without end": {long + "x", long + "y", true, true},
		"end is added":      {"x", "x\n", true, true},
		"emptied":           {"x\n", "", true, true},
		"filled":            {"", "x\n", true, true},
		"only removed":      {long + "x\n" + long + "y\n", long + long + "y\n", true, true},
		"with CR":           {"a\r\nb\r\n", "a\r\nc\r\n", true, true},
	} {
		dir := testenv.Dir(t)
		path := filepath.Join(dir, "sub", "f.txt")
		if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if c.existed {
			if err := os.WriteFile(path, []byte(c.before), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		text := diff(dir, path, []byte(c.before), []byte(c.after), c.existed, c.exists)
		cmd := exec.Command(git, "apply", "-")
		cmd.Dir, cmd.Env, cmd.Stdin = dir, testenv.Env(t, "GIT_CEILING_DIRECTORIES=/"), strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: git apply: %v %s\n%s", name, err, out, text)
			continue
		}
		if got, err := os.ReadFile(path); string(got) != c.after || (err == nil) != c.exists {
			t.Errorf("%s: it makes %q (%v) of\n%s", name, got, err, text)
		}
	}
}
