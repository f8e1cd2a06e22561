//go:build unix

package jj

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/repo/stocktest"
	"tandem/internal/testenv"
)

// seat is a shell in a real terminal, in a repository of its own.
type seat struct {
	t         *testing.T
	sock, dir string
	prompts   int
}

func newSeat(t *testing.T, settings string) *seat {
	t.Helper()
	tandem := testenv.Tandem(t)
	s := &seat{t: t, dir: filepath.Join(t.TempDir(), "r")}
	short, err := os.MkdirTemp("", "jj") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })
	s.sock = filepath.Join(short, "s")
	home := t.TempDir()
	stocktest.Write(t, filepath.Join(home, "config.toml"),
		"ui.color = \"never\"\nui.diff-editor = \":builtin\"\nui.merge-editor = \":builtin\"\n"+settings)
	if err := os.Symlink(tandem, filepath.Join(home, "jj")); err != nil {
		t.Fatal(err)
	}
	env := testenv.Env(t, "HOME="+home, "JJ_CONFIG="+filepath.Join(home, "config.toml"), "JJ_USER=T", "JJ_EMAIL=t@example.com", "PS1=ready> ",
		"TERM=xterm-256color",
		"JJ_EDITOR=true", "PATH="+home+string(os.PathListSeparator)+os.Getenv("PATH"))
	run := exec.Command(filepath.Join(home, "jj"), "git", "init", "--no-colocate", s.dir)
	run.Env = env
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command("tmux", "-S", s.sock, "-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", "24", "-c", s.dir, "sh")
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v: %s", err, out)
	}
	t.Cleanup(func() { s.tmux("kill-server") })
	return s
}

func (s *seat) tmux(args ...string) string {
	out, err := exec.Command("tmux", append([]string{"-S", s.sock}, args...)...).CombinedOutput()
	if err != nil && args[0] != "kill-server" {
		s.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// sees waits until the screen shows a text.
func (s *seat) sees(want string) string {
	s.t.Helper()
	screen := ""
	if !testenv.Within(90*time.Second, func() bool { screen = s.tmux("capture-pane", "-p"); return strings.Contains(screen, want) }) {
		s.t.Fatalf("%q does not appear:\n%s", want, screen)
	}
	return screen
}

func (s *seat) keys(keys ...string) { s.tmux(append([]string{"send-keys"}, keys...)...) }

// starts types a command that takes the screen.
func (s *seat) starts(line string) { s.keys("-l", line); s.keys("Enter") }

// does types a command and waits for its end; it gives what was printed since.
func (s *seat) does(line string) string {
	s.t.Helper()
	s.prompts++
	mark := fmt.Sprintf("done%d=", s.prompts)
	s.starts("clear; " + line + "; echo done" + fmt.Sprint(s.prompts) + "=$?")
	return s.sees("\n" + mark)
}

func (s *seat) read(name string) string {
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// TestPickingInATerminal splits, squashes and resolves with the editors that are
// built in, with keys in a real terminal.
func TestPickingInATerminal(t *testing.T) {
	s := newSeat(t, "")
	stocktest.Write(t, filepath.Join(s.dir, "a"), "one\ntwo\nthree\n")
	s.does("jj commit -m base")
	stocktest.Write(t, filepath.Join(s.dir, "a"), "ONE\ntwo\nTHREE\n")
	stocktest.Write(t, filepath.Join(s.dir, "b"), "new\n")

	s.starts("jj split -m first")
	s.sees("[ ] from line 1")
	s.keys("Down", "Space", "c") // the first stretch of a
	s.sees("Selected changes")
	if got := s.does("jj file show -r 'subject(first)' a"); !strings.Contains(got, "ONE\ntwo\nthree\n") {
		t.Errorf("split took something else:\n%s", got)
	}
	if got := s.does("jj diff -s -r 'subject(first)'"); strings.Contains(got, " b") {
		t.Errorf("split took b:\n%s", got)
	}

	s.starts("clear; jj squash -i; echo end=$?")
	s.sees("[ ] a")
	s.keys("q")
	s.sees("Failed to edit diff")
	s.sees("end=1")

	s.starts("clear; jj squash -i -m first; echo end2=$?")
	s.sees("[ ] a")
	s.keys("End", "Space", "c") // b alone
	s.sees("end2=0")
	if got := s.does("jj diff -s -r 'subject(first)'; jj diff -s"); !strings.Contains(got, "A b") || !strings.Contains(got, "M a\nM a\n") &&
		strings.Count(got, "M a") != 2 {
		t.Errorf("squash took something else:\n%s", got)
	}

	s.does("jj new 'subject(base)' -m side")
	stocktest.Write(t, filepath.Join(s.dir, "a"), "uno\ntwo\nthree\n")
	s.does("jj new @ 'subject(first)' -m merge")
	s.starts("clear; jj resolve; echo end3=$?")
	s.sees("conflict 1, side 1")
	s.keys("c")
	s.sees("choose something for conflict 1 first")
	s.keys("Down", "Space", "c")
	s.sees("end3=0")
	if got := s.read("a"); got != "uno\ntwo\nthree\n" {
		t.Errorf("resolved to %q", got)
	}

	s.starts("clear; jj diffedit -r 'subject(side)'; echo end4=$?")
	s.sees("[ ] a")
	s.keys("c") // nothing is taken: the commit becomes empty
	s.sees("end4=0")
	if got := s.does("jj log -r 'subject(side)' -T empty --no-graph"); !strings.Contains(got, "true") {
		t.Errorf("diffedit kept something:\n%s", got)
	}
}

// TestPagerInATerminal pages with the pager that is built in and with another
// program, and not where it is turned off.
func TestPagerInATerminal(t *testing.T) {
	s := newSeat(t, "ui.pager = \":builtin\"\n")
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "row %d\n", i)
	}
	stocktest.Write(t, filepath.Join(s.dir, "long"), many.String())
	stocktest.Write(t, filepath.Join(s.dir, "short"), "few\n")
	s.starts("clear; jj file show short; echo end=$?")
	if got := s.sees("end=0"); !strings.Contains(got, "few") || strings.Contains(got, "q quit") {
		t.Errorf("one page is paged:\n%s", got)
	}
	s.starts("clear; jj file show long; echo end2=$?")
	s.sees("line 1 of")
	s.keys("/", "r", "o", "w", "Space", "6", "6", "Enter")
	s.sees("line 67 of")
	s.keys("G")
	s.sees("row 99")
	s.keys("q")
	s.sees("end2=0")
	if got := s.does("jj --no-pager file show long"); !strings.Contains(got, "row 99\n") {
		t.Errorf("--no-pager pages:\n%s", got)
	}
	if got := s.does("jj --config ui.paginate=never file show long"); !strings.Contains(got, "row 99\n") {
		t.Errorf("ui.paginate = never pages:\n%s", got)
	}
	if got := s.does("jj --config 'ui.pager=[\"tail\", \"-n1\"]' file show long"); !strings.Contains(got, "row 99\n") ||
		strings.Contains(got, "row 98") {
		t.Errorf("another pager is not used:\n%s", got)
	}
	if got := s.does("jj --config ui.pager=not-there file show short"); !strings.Contains(got, "Failed to spawn pager 'not-there'") ||
		!strings.Contains(got, "few") {
		t.Errorf("a pager that is not there:\n%s", got)
	}
}
