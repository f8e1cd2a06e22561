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
	line := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "core.alternateRefsCommand=true", "-c", "submodule.recurse=false",
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
		{"GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh"},
	} {
		if _, ok := os.LookupEnv(v.name); !ok {
			cmd.Env = append(cmd.Env, v.name+"="+v.value)
		}
	}
	cmd.WaitDelay = gitDelay
	return cmd, nil
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
			return nil, noGit(err)
		}
		for _, entry := range bytes.Split(said, []byte{0}) {
			if key, value, ok := strings.Cut(string(entry), "\n"); ok {
				out = append(out, struct{ key, value string }{key, value})
			}
		}
	}
	return out, nil
}

func noGit(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fault.New(fault.Conflict, "repo.git", "git is not installed here, and this is its work").WithNext("install git")
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
