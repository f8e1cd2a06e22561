package jj

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the generated files")

// run runs one command line without a stock jj in reach.
func run(t *testing.T, dir string, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	env := []string{
		"HOME=" + filepath.Join(dir, "..", "home"), "PATH=/usr/bin:/bin", "JJ_CONFIG=",
		"JJ_USER=Ann", "JJ_EMAIL=ann@example.com", "GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_GLOBAL=" + os.DevNull,
	}
	code := Main(t.Context(), args, IO{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Env: env, Dir: dir})
	return out.String(), code
}

func TestUnknownThingsAreNamed(t *testing.T) {
	dir := t.TempDir()
	if out, code := run(t, dir, "git", "init", "--no-colocate"); code != 0 {
		t.Fatal(out)
	}
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"bench"}, "`jj bench` is not supported yet", 1},
		{[]string{"nonsense"}, "unrecognized subcommand 'nonsense'", 2},
		{[]string{"log", "--nonsense"}, "unexpected argument '--nonsense' found", 2},
		{[]string{"log", "-r", "nonsense()"}, "Function `nonsense` doesn't exist", 1},
		{[]string{"log", "-T", "nonsense"}, "Keyword `nonsense` doesn't exist", 1},
	} {
		out, code := run(t, dir, c.args...)
		if code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("jj %s: %d\n%s", strings.Join(c.args, " "), code, out)
		}
	}
}

func TestNothingIsWrittenOutsideTheRepository(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "repo")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"git", "init"}, {"commit", "-m", "one"}, {"log"}, {"bookmark", "create", "main", "-r", "@-"}, {"undo"},
		{"op", "log"}} {
		if out, code := run(t, dir, args...); code != 0 {
			t.Fatalf("jj %s: %s", strings.Join(args, " "), out)
		}
	}
	entries, err := os.ReadDir(top)
	if err != nil || len(entries) != 1 {
		t.Errorf("there is more than the repository: %v, %v", entries, err)
	}
}

// absent lists the commands that are handed to stock jj.
func absent(c *command, path string) (out []string) {
	for _, s := range c.subs {
		name := strings.TrimSpace(path + " " + s.name)
		if s.absent {
			out = append(out, name)
		}
		out = append(out, absent(s, name)...)
	}
	return out
}

// TestDocumentListsWhatIsMissing keeps docs/jj.md true.
func TestDocumentListsWhatIsMissing(t *testing.T) {
	const file, begin, end = "../../docs/jj.md", "<!-- missing: generated -->\n", "<!-- end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	have, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the list", file)
	}
	var want strings.Builder
	for _, name := range absent(commandTree(), "") {
		want.WriteString("- `jj " + name + "`\n")
	}
	if *update && have != want.String() {
		if err := os.WriteFile(file, []byte(head+begin+want.String()+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if have != want.String() {
		t.Errorf("docs/jj.md does not list what is missing: run make generate")
	}
}
