package host

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"

	"tandem/internal/fault"
)

// safeGit is git in the server's repository, with the server's own credentials
// and settings. It runs no program that the repository's configuration names:
// whoever may write in its folder, an agent perhaps, would have it run outside
// of every sandbox. What the server's user has configured for itself counts.
func (s *served) safeGit(ctx context.Context, args ...string) (*exec.Cmd, error) {
	own, err := ownConfig(ctx)
	if err != nil {
		return nil, err
	}
	line := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.alternateRefsCommand=true", "-c",
		"submodule.recurse=false",
		"-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "credential.helper="} // forgets all that came before
	for _, c := range own {
		if strings.HasPrefix(c.key, "credential.") && strings.HasSuffix(c.key, ".helper") {
			line = append(line, "-c", c.key+"="+c.value)
		}
	}
	cmd := exec.CommandContext(ctx, "git", append(append(line, "--git-dir", s.store.GitDir()), args...)...)
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	// These variables win over the repository's settings of the same meaning.
	for _, v := range []struct{ name, value string }{
		{"GIT_SSH_COMMAND", first(own.last("core.sshcommand"), quoted(os.Getenv("GIT_SSH")), "ssh")},
		{"GIT_ASKPASS", first(own.last("core.askpass"), os.Getenv("SSH_ASKPASS"))},
		{"GIT_PROXY_COMMAND", ""},
		{"GIT_ALLOW_PROTOCOL", allProtocols},
	} {
		if _, ok := os.LookupEnv(v.name); !ok {
			cmd.Env = append(cmd.Env, v.name+"="+v.value)
		}
	}
	cmd.WaitDelay = gitDelay
	return cmd, nil
}

// allProtocols are those that need no program of somebody's choice.
const allProtocols = "file:git:http:https:ssh"

// refuseUnsafe refuses to work in a repository whose own configuration has git
// run a program or write a file outside of it, where no setting of ours wins:
// newer versions of git ask a program which objects to keep, and what a remote
// says can be written to any file as its cookies.
func (s *served) refuseUnsafe(ctx context.Context) error {
	cmd, err := s.safeGit(ctx, "config", "--show-scope", "--name-only", "--get-regexp", `^(gc\.recentobjectshook|http\.(.*\.)?savecookies)$`)
	if err != nil {
		return err
	}
	said, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if exit.ExitCode() == 1 {
			return nil // there is no such setting
		}
		return fault.New(fault.Conflict, "repo.git", "git cannot read its configuration: %s", clip(strings.TrimSpace(string(exit.Stderr)))).
			WithNext("see what is wrong, in the served folder: git config --list")
	}
	if err != nil {
		return ended(err)
	}
	for line := range strings.Lines(string(said)) {
		scope, key, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if scope == "local" || scope == "worktree" {
			return fault.New(fault.Conflict, "repo.git", "the repository's configuration sets %s, with which git could do harm here", clip(key)).
				WithNext("see whose it is (git config --show-origin --get-all %s), and take it away: git config --unset-all %[1]s", quoted(key))
		}
	}
	return nil
}

type gitConfig []struct{ key, value string }

func (c gitConfig) last(key string) (value string) {
	for _, s := range c {
		if s.key == key {
			value = s.value
		}
	}
	return value
}

// ownConfig is what git is told on this machine and by this user, in order,
// whatever repository it works in.
func ownConfig(ctx context.Context) (out gitConfig, err error) {
	for _, scope := range []string{"--system", "--global"} {
		said, err := exec.CommandContext(ctx, "git", "config", scope, "--includes", "--list", "-z").Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			continue // there is no such file
		}
		if err != nil {
			return nil, ended(err)
		}
		for _, entry := range bytes.Split(said, []byte{0}) {
			if key, value, ok := strings.Cut(string(entry), "\n"); ok {
				out = append(out, struct{ key, value string }{key, value})
			}
		}
	}
	return out, nil
}

// ended is how a git ended. One that ended well has done its work, even if
// something that it started goes on.
func ended(err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return fault.New(fault.Conflict, "repo.git", "git is not installed here, and this is its work").WithNext("install git")
	case errors.Is(err, exec.ErrWaitDelay):
		return nil
	}
	return err
}

func first(of ...string) string {
	for _, s := range of {
		if s != "" {
			return s
		}
	}
	return ""
}

// quoted is a path as a word of a shell's line.
func quoted(path string) string {
	if path == "" {
		return ""
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
