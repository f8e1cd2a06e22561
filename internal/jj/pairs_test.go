package jj

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tandem/internal/repo/stocktest"
)

// TestPairsAgainstStock plays the scripts of testdata/pairs twice: once with
// stock jj and once here. What is printed, the exit codes and the files have to
// be the same. A line is one of
//
//	jj WORD…                 a command, in both copies
//	git WORD…                git beside it
//	write PATH "text\n"      a file; append, rm, mkdir, chmod, symlink likewise
//	cd DIR                   where the next lines happen
//	config "a.b = 1"         settings from here on
//	env K=V  stdin "text"    of the next command
//
// Words are quoted as in Go or in single quotes.
func TestPairsAgainstStock(t *testing.T) {
	scripts, err := filepath.Glob("testdata/pairs/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			p := &play{t: t, stock: stocktest.New(t), path: gitPath(t), homes: [2]string{t.TempDir(), t.TempDir()},
				roots: [2]string{real(t, t.TempDir()), real(t, t.TempDir())}}
			for i, line := range strings.Split(string(data), "\n") {
				if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
					continue
				}
				p.at = fmt.Sprintf("%s:%d", path, i+1)
				p.line(t.Context(), words(t, line))
			}
		})
	}
}

func real(t *testing.T, dir string) string {
	out, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// play is one script under way in two folders, the first of them stock jj's.
type play struct {
	t         *testing.T
	stock     *stocktest.JJ
	roots     [2]string
	homes     [2]string
	dir, at   string
	env       []string
	stdin     string
	path      string // where commands find other programs
	unsettled bool
}

// gitPath is the search path of commands. Stock jj fetches only with git 2.41
// or later; an older one is put behind a script that leaves the new option out.
func gitPath(t *testing.T) string {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	if out, _ := exec.Command(git, "fetch", "-h").CombinedOutput(); strings.Contains(string(out), "--porcelain") {
		return path
	}
	dir := t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\n"+
		"for a; do shift; [ \"$a\" = --porcelain ] && [ \"$fetch\" ] && a=--quiet; [ \"$a\" = fetch ] && fetch=1; set -- \"$@\" \"$a\"; "+
		"done\nexec %s \"$@\"\n", git)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir + string(os.PathListSeparator) + path
}

func (p *play) paths(name string) [2]string {
	return [2]string{filepath.Join(p.roots[0], p.dir, name), filepath.Join(p.roots[1], p.dir, name)}
}

func (p *play) line(ctx context.Context, w []string) {
	p.t.Helper()
	switch w[0] {
	case "jj":
		p.run(ctx, w[1:])
	case "cd":
		p.dir = filepath.Join(p.dir, w[1])
	case "config":
		p.stock.Configure(w[1])
	case "env":
		p.env = append(p.env, w[1:]...)
	case "stdin":
		p.stdin = w[1]
	default:
		for i, path := range p.paths(w[1]) {
			if err := p.change(w, path, i); err != nil {
				p.t.Fatalf("%s: %v", p.at, err)
			}
		}
	}
}

func (p *play) change(w []string, path string, i int) error {
	switch w[0] {
	case "write":
		stocktest.Write(p.t, path, w[2])
		return nil
	case "append":
		old, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, append(old, w[2]...), 0o644)
		}
		return err
	case "rm":
		return os.RemoveAll(path)
	case "mkdir":
		return os.MkdirAll(path, 0o755)
	case "chmod":
		return os.Chmod(path, 0o755)
	case "symlink":
		return os.Symlink(w[2], path)
	case "git":
		cmd := exec.Command("git", w[1:]...)
		cmd.Dir, cmd.Env = filepath.Join(p.roots[i], p.dir), append(p.stock.Env(),
			"GIT_AUTHOR_NAME=g", "GIT_AUTHOR_EMAIL=g@example.com", "GIT_COMMITTER_NAME=g", "GIT_COMMITTER_EMAIL=g@example.com",
			"GIT_AUTHOR_DATE=2001-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2001-01-01T00:00:00Z")
		out, err := cmd.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("git %s: %w: %s", strings.Join(w[1:], " "), err, out)
		}
		return err
	}
	return fmt.Errorf("what is %q?", w[0])
}

func (p *play) run(ctx context.Context, args []string) {
	p.t.Helper()
	dirs := p.paths("")
	at := func(i int) []string {
		var out []string
		for _, a := range args {
			out = append(out, strings.ReplaceAll(a, "$ROOT", p.roots[i]))
		}
		return out
	}
	env := func(i int) []string {
		out := []string{"COLUMNS=100", "PATH=" + p.path, "HOME=" + p.homes[i]}
		for _, e := range p.env {
			out = append(out, strings.ReplaceAll(e, "$ROOT", p.roots[i]))
		}
		return out
	}
	show := func(i int, out, errs string, code int) string {
		return strings.ReplaceAll(fmt.Sprintf("%s--- stderr\n%s--- exit %d\n", out, errs, code), p.roots[i], "$ROOT")
	}
	out, errs, code := p.stock.Exec(dirs[0], env(0), p.stdin, at(0)...)
	want := show(0, out, errs, code)
	var o, e strings.Builder
	code = Main(ctx, at(1), IO{Stdin: strings.NewReader(p.stdin), Stdout: &o, Stderr: &e, Env: append(p.stock.Env(), env(1)...), Dir: dirs[1]})
	got := show(1, o.String(), e.String(), code)
	p.env, p.stdin = nil, ""
	if got != want && !strings.Contains(want, "panicked at") {
		p.t.Errorf("%s: jj %s\nstock:\n%s\nours:\n%s", p.at, strings.Join(args, " "), want, got)
	}
	if a, b := files(p.t, p.roots[0]), files(p.t, p.roots[1]); a != b && !p.unsettled {
		p.unsettled = true // say it once
		p.t.Errorf("%s: files differ after jj %s\nstock:\n%s\nours:\n%s", p.at, strings.Join(args, " "), a, b)
	}
}

// words cuts a line: bare, "as in Go" or 'as it stands'.
func words(t *testing.T, line string) []string {
	var out []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		word, joined := "", true
		for joined && line != "" {
			switch line[0] {
			case '"':
				q, err := strconv.QuotedPrefix(line)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				s, _ := strconv.Unquote(q)
				word, line = word+s, line[len(q):]
			case '\'':
				s, rest, ok := strings.Cut(line[1:], "'")
				if !ok {
					t.Fatalf("%s: no end of quote", line)
				}
				word, line = word+s, rest
			default:
				n := strings.IndexAny(line, " \"'")
				if n < 0 {
					n = len(line)
				}
				word, line = word+line[:n], line[n:]
			}
			joined = line != "" && line[0] != ' '
		}
		out = append(out, word)
	}
	return out
}
