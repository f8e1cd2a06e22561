package jj

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tandem/internal/repo/stocktest"
)

// say runs a command here, with no stock jj to hand it to.
func say(t *testing.T, stock *stocktest.JJ, dir string, args ...string) (out, errs string, code int) {
	t.Helper()
	var o, e strings.Builder
	env := append(stock.Env(), "PATH=/usr/bin:/bin")
	code = Main(t.Context(), args, IO{Stdin: strings.NewReader(""), Stdout: &o, Stderr: &e, Env: env, Dir: dir})
	return o.String(), e.String(), code
}

// TestDebug tells on standard error what runs, and nothing more on standard
// output.
func TestDebug(t *testing.T) {
	stock := stocktest.New(t)
	stock.Configure("ui.editor = ['true', 'word']")
	dir := t.TempDir()
	say(t, stock, dir, "git", "init", "r")
	plain, none, _ := say(t, stock, filepath.Join(dir, "r"), "log")
	out, errs, code := say(t, stock, filepath.Join(dir, "r"), "--debug", "log")
	if code != 0 || out != plain || none != "" {
		t.Errorf("--debug changes what is said: %d %q, %q", code, out, none)
	}
	for _, want := range []string{`command line ["--debug" "log"]`, "workspace " + filepath.Join(dir, "r"), "loaded operation",
		"settings of "} {
		if !strings.Contains(errs, want) {
			t.Errorf("%q is not told:\n%s", want, errs)
		}
	}
	if _, errs, _ = say(t, stock, filepath.Join(dir, "r"), "--debug", "describe"); !strings.Contains(errs, `run ["true" "word" `) {
		t.Errorf("the editor's command line is not told:\n%s", errs)
	}
}

// TestOtherObjectNames: a repository whose objects have SHA-256 names is refused
// in words, and is left alone.
func TestOtherObjectNames(t *testing.T) {
	stock := stocktest.New(t)
	dir := t.TempDir()
	if out, err := exec.Command("git", "init", "-q", "--object-format=sha256", filepath.Join(dir, "g")).CombinedOutput(); err != nil {
		t.Fatalf("git: %v: %s", err, out)
	}
	stock.Run(dir, "git", "init", "--object-hash", "sha256", "theirs")
	for _, c := range []struct {
		in   string
		args []string
	}{
		{"g", []string{"git", "init", "--colocate"}},
		{"g", []string{"git", "init", "--git-repo", ".", "../made"}},
		{"theirs", []string{"st"}},
		{".", []string{"git", "init", "--object-hash", "sha256", "new"}},
	} {
		_, errs, code := say(t, stock, filepath.Join(dir, c.in), c.args...)
		if code != 1 || !strings.Contains(errs, "SHA-256 is not supported yet") || !strings.Contains(errs, "Install jj 0.45") {
			t.Errorf("jj %s: %d %s", strings.Join(c.args, " "), code, errs)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "g", ".jj")); err == nil {
		t.Error("something was made in a repository that was refused")
	}
}

// TestTopics: each word of `jj help -k` has its page.
func TestTopics(t *testing.T) {
	stock := stocktest.New(t)
	want := "bookmarks config filesets glossary revsets templates tutorial"
	if got := strings.Join(topics(), " "); got != want {
		t.Errorf("topics are %s", got)
	}
	for _, name := range topics() {
		out, errs, code := say(t, stock, t.TempDir(), "help", "-k", name)
		if code != 0 || errs != "" || !strings.HasPrefix(out, "# ") || len(out) < 500 {
			t.Errorf("%s: %d %q %.50q", name, code, errs, out)
		}
	}
}

// FuzzArgs reads command lines: each is taken or refused in words.
func FuzzArgs(f *testing.F) {
	for _, s := range []string{"log -r @ -n 3", "rebase -s a -d b -- x", "bookmark set -r @ x y", "--config a=b st", "log --limt", "-h",
		"help -k x", "file chmod z f", "git push --named a=b -t x", "-", "--"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		p, err := parse(commandTree(), strings.Fields(line))
		if err != nil && err.Error() == "" {
			t.Fatal("an error without words")
		}
		if long, ok := p.helpWanted(); err == nil && ok {
			helpFor(p.path, long, 80)
		}
	})
}
