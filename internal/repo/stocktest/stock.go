package stocktest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tandem/internal/repo"
	"tandem/internal/testenv"
)

// JJ runs stock jj in a folder with the environment that makes it
// deterministic: each command has its own second and its own seed.
type JJ struct {
	t    testing.TB
	bin  string
	home string
	// N is the number of the last command; it decides time and chance.
	N int
}

// New finds stock jj and gives it an empty home.
func New(t testing.TB) *JJ {
	t.Helper()
	s := &JJ{t: t, bin: testenv.Tool(t, "jj"), home: t.TempDir()}
	// Nothing is immutable, so that random commands get further.
	Write(t, filepath.Join(s.home, "config.toml"), "revset-aliases.\"immutable_heads()\" = \"none()\"\n")
	return s
}

func (s *JJ) env() []string {
	when := s.when().Format(time.RFC3339)
	return []string{
		"HOME=" + s.home, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"JJ_CONFIG=" + filepath.Join(s.home, "config.toml"),
		"GIT_CONFIG_SYSTEM=/dev/null", "GIT_CONFIG_GLOBAL=/dev/null",
		"JJ_USER=Test User", "JJ_EMAIL=test.user@example.com",
		"JJ_OP_HOSTNAME=host.example.com", "JJ_OP_USERNAME=test-username", "JJ_TZ_OFFSET_MINS=660",
		fmt.Sprintf("JJ_RANDOMNESS_SEED=%d", s.N), "JJ_TIMESTAMP=" + when, "JJ_OP_TIMESTAMP=" + when,
	}
}

// Env is the environment of the last command, for running ours beside it.
func (s *JJ) Env() []string { return s.env() }

// Try runs a command and gives its output and whether it succeeded.
func (s *JJ) Try(dir string, args ...string) (string, bool) {
	s.N++
	cmd := exec.Command(s.bin, args...)
	cmd.Dir = dir
	cmd.Env = s.env()
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

// Exec runs a command with more in its environment and on its standard input,
// and gives apart what it printed, and its exit code.
func (s *JJ) Exec(dir string, more []string, stdin string, args ...string) (out, errs string, code int) {
	s.N++
	cmd := exec.Command(s.bin, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, append(s.env(), more...), strings.NewReader(stdin)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		s.t.Fatal(err)
	}
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

// Configure adds lines to the settings of all commands from now on.
func (s *JJ) Configure(lines string) {
	s.t.Helper()
	path := filepath.Join(s.home, "config.toml")
	old, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	Write(s.t, path, string(old)+lines+"\n")
}

// Run runs a command that must succeed.
func (s *JJ) Run(dir string, args ...string) string {
	s.t.Helper()
	out, ok := s.Try(dir, args...)
	if !ok {
		s.t.Fatalf("jj %s: %s", strings.Join(args, " "), out)
	}
	return out
}

// Git runs git in a folder; it must succeed.
func (s *JJ) Git(dir string, args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(s.env(), "GIT_AUTHOR_NAME=g", "GIT_AUTHOR_EMAIL=g@example.com", "GIT_COMMITTER_NAME=g",
		"GIT_COMMITTER_EMAIL=g@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// Write makes a file and the folders above it.
func Write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// History makes a repository with most of what a view can hold: a conflict, a
// divergent change, bookmarks and tags, a second workspace, hidden commits.
func (s *JJ) History(colocate bool) string {
	dir := filepath.Join(s.t.TempDir(), "r")
	flag := "--no-colocate"
	if colocate {
		flag = "--colocate"
	}
	s.Run(filepath.Dir(dir), "git", "init", flag, dir)
	Write(s.t, filepath.Join(dir, "a"), "one\ntwo\nthree\n")
	Write(s.t, filepath.Join(dir, "d", "x.c"), "x\n")
	Write(s.t, filepath.Join(dir, "d.y"), "sorts oddly\n")
	s.Run(dir, "describe", "-m", "first\n\nwith a body")
	s.Run(dir, "bookmark", "create", "main", "-r", "@")
	s.Run(dir, "new", "-m", "left")
	Write(s.t, filepath.Join(dir, "a"), "one\nLEFT\nthree\n")
	s.Run(dir, "new", "main", "-m", "right")
	Write(s.t, filepath.Join(dir, "a"), "one\nRIGHT\nthree\n")
	s.Run(dir, "new", "subject(left)", "subject(right)", "-m", "merge")
	s.Run(dir, "tag", "set", "v1", "-r", "main")
	s.Run(dir, "workspace", "add", filepath.Join(filepath.Dir(dir), "second"))
	s.Run(dir, "describe", "main", "-m", "first, rewritten")
	s.Run(dir, "--at-op", "@-", "describe", "main", "-m", "first, raced")
	s.Run(dir, "log")
	return dir
}

func (s *JJ) when() time.Time {
	return time.Date(2001, 2, 3, 4, 5, 6, 0, time.FixedZone("", 7*3600)).Add(time.Duration(s.N) * time.Second)
}

// Identity is what stock jj would write as in its next command.
func (s *JJ) Identity() *repo.Identity {
	s.N++
	when := s.when()
	now := func() repo.Timestamp { return repo.Timestamp{Millis: when.UnixMilli(), Offset: 7 * 60} }
	return &repo.Identity{
		Name: "Test User", Email: "test.user@example.com", Hostname: "host.example.com", Username: "test-username",
		Now: now, OpNow: now, NewChangeID: repo.SeededChangeIDs(uint64(s.N)),
	}
}

// CopyDir copies a folder, symlinks and modes included.
func CopyDir(t testing.TB, from string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copy %s: %v: %s", from, err, out)
	}
	return to
}

// TryGit runs git and gives its output, whether or not it succeeded.
func (s *JJ) TryGit(dir string, args ...string) string {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	date := s.when().Format(time.RFC3339)
	cmd.Env = append(s.env(), "GIT_AUTHOR_NAME=g", "GIT_AUTHOR_EMAIL=g@example.com", "GIT_AUTHOR_DATE="+date,
		"GIT_COMMITTER_NAME=g", "GIT_COMMITTER_EMAIL=g@example.com", "GIT_COMMITTER_DATE="+date)
	out, _ := cmd.Output()
	return string(out)
}

// Fsck is what git's check of a repository says.
func (s *JJ) Fsck(gitDir string) string {
	cmd := exec.Command("git", "--git-dir", gitDir, "fsck", "--full", "--no-dangling")
	cmd.Env = s.env()
	out, _ := cmd.CombinedOutput()
	return string(out)
}
