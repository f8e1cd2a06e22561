package gitstore

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// stock runs stock jj in a folder with the environment that makes it
// deterministic: each command has its own second and its own seed.
type stock struct {
	t    testing.TB
	bin  string
	home string
	n    int
}

func newStock(t testing.TB) *stock {
	t.Helper()
	tools := os.Getenv("TANDEM_TEST_TOOLS")
	if tools == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			t.Fatal(err)
		}
		tools = filepath.Join(home, ".cache", "tandem-test")
	}
	bin := filepath.Join(tools, "jj-0.45.1", "bin", "jj")
	if _, err := os.Stat(bin); err != nil {
		t.Fatalf("stock jj 0.45.1 is not at %s: run make test-tools", bin)
	}
	return &stock{t: t, bin: bin, home: t.TempDir()}
}

func (s *stock) env() []string {
	when := time.Date(2001, 2, 3, 4, 5, 6, 0, time.FixedZone("", 7*3600)).Add(time.Duration(s.n) * time.Second).Format(time.RFC3339)
	return []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"JJ_CONFIG=" + filepath.Join(s.home, "config.toml"),
		"GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		"JJ_USER=Test User", "JJ_EMAIL=test.user@example.com",
		"JJ_OP_HOSTNAME=host.example.com", "JJ_OP_USERNAME=test-username", "JJ_TZ_OFFSET_MINS=660",
		fmt.Sprintf("JJ_RANDOMNESS_SEED=%d", s.n), "JJ_TIMESTAMP=" + when, "JJ_OP_TIMESTAMP=" + when,
	}
}

// try runs a command and gives its output and whether it succeeded.
func (s *stock) try(dir string, args ...string) (string, bool) {
	s.n++
	cmd := exec.Command(s.bin, args...)
	cmd.Dir = dir
	cmd.Env = s.env()
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// run runs a command that must succeed.
func (s *stock) run(dir string, args ...string) string {
	s.t.Helper()
	out, ok := s.try(dir, args...)
	if !ok {
		s.t.Fatalf("jj %s: %s", strings.Join(args, " "), out)
	}
	return out
}

// git runs git in a folder; it must succeed.
func (s *stock) git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(s.env(), "GIT_AUTHOR_NAME=g", "GIT_AUTHOR_EMAIL=g@example.com", "GIT_COMMITTER_NAME=g", "GIT_COMMITTER_EMAIL=g@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// history makes a repository with most of what a view can hold: a conflict, a
// divergent change, bookmarks and tags, a second workspace, hidden commits.
func (s *stock) history(colocate bool) string {
	dir := filepath.Join(s.t.TempDir(), "r")
	flag := "--no-colocate"
	if colocate {
		flag = "--colocate"
	}
	s.run(filepath.Dir(dir), "git", "init", flag, dir)
	write(s.t, filepath.Join(dir, "a"), "one\ntwo\nthree\n")
	write(s.t, filepath.Join(dir, "d", "x.c"), "x\n")
	write(s.t, filepath.Join(dir, "d.y"), "sorts oddly\n")
	s.run(dir, "describe", "-m", "first\n\nwith a body")
	s.run(dir, "bookmark", "create", "main", "-r", "@")
	s.run(dir, "new", "-m", "left")
	write(s.t, filepath.Join(dir, "a"), "one\nLEFT\nthree\n")
	s.run(dir, "new", "main", "-m", "right")
	write(s.t, filepath.Join(dir, "a"), "one\nRIGHT\nthree\n")
	s.run(dir, "new", "subject(left)", "subject(right)", "-m", "merge")
	s.run(dir, "tag", "set", "v1", "-r", "main")
	s.run(dir, "workspace", "add", filepath.Join(filepath.Dir(dir), "second"))
	s.run(dir, "describe", "--ignore-immutable", "main", "-m", "first, rewritten")
	s.run(dir, "--at-op", "@-", "describe", "--ignore-immutable", "main", "-m", "first, raced")
	s.run(dir, "log")
	return dir
}
