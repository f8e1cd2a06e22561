// Runs of git that talk to a remote, whose words are passed on as jj 0.45.1 does: marked `git:` and `remote:`, errors
// kept.

package jj

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os/exec"
	"slices"
	"strings"

	"tandem/internal/repo/revset"
)

// gitSide is the git repository underneath: its program, remotes and settings,
// and the lock that keeps imports and exports of two commands apart.
type gitSide struct {
	*state
	locked bool
}

// gitResult is what a run of git gave.
type gitResult struct {
	ok       bool
	out, err string
}

// run runs git for something that talks to a remote. What it and the remote
// say is passed on, marked; errors are kept for the caller.
func (gs *gitSide) run(ctx context.Context, args []string) (*gitResult, error) {
	program := gs.conf.Str("git.executable-path")
	if program == "" {
		program = "git"
	}
	all := append([]string{"-c", "core.fsmonitor=false", "-c", "submodule.recurse=false", "--git-dir", gs.store.GitDir()}, args...)
	cmd := gs.ui.command(ctx, program, all...)
	cmd.Dir = gs.ws.root
	for _, e := range gs.io.Env {
		if !strings.HasPrefix(e, "LC_ALL=") && !strings.HasPrefix(e, "LANGUAGE=") && !strings.HasPrefix(e, "LC_MESSAGES=") {
			cmd.Env = append(cmd.Env, e)
		}
	}
	cmd.Env = append(cmd.Env, "LC_MESSAGES=C")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return nil, userf("Could not execute the git process, found in the OS path '%s'", program).because(err)
	}
	res := &gitResult{ok: err == nil, out: out.String()}
	res.err = gs.ui.sideband(errs.String())
	return res, nil
}

// sideband passes messages on and returns what is an error of git's own.
func (u *ui) sideband(s string) string {
	for s != "" {
		for _, p := range []string{"error: ", "fatal: ", "usage: ", "unknown option: "} {
			if strings.HasPrefix(s, p) {
				return s
			}
		}
		line, rest, _ := strings.Cut(s, "\n")
		s = rest
		mark := "git: "
		if m, ok := strings.CutPrefix(line, "remote: "); ok {
			mark, line = "remote: ", m
		}
		if i := strings.LastIndexByte(line, '\r'); i >= 0 {
			line = line[i+1:]
		}
		if line = strings.TrimRight(line, " "); line != "" {
			line += "        "
		}
		u.statusf("%s%s\n", mark, line)
	}
	return ""
}

// failure is the error of a run that went wrong altogether.
func (r *gitResult) failure() error {
	first, _, _ := strings.Cut(r.err, "\n")
	if s, ok := strings.CutPrefix(first, "fatal: '"); ok {
		if name, ok := strings.CutSuffix(s, "' does not appear to be a git repository"); ok {
			return userf("Could not find repository at '%s'", name)
		}
	}
	return userf("Git process failed: External git program failed:\n%s", r.err)
}

// pushStats says what a remote took.
type pushStats struct {
	pushed            map[string]bool
	rejected, refused map[string]string // by full name, with git's reason
}

func parsePush(r *gitResult) (*pushStats, error) {
	if !r.ok && !strings.Contains("\n"+r.err, "\nerror: failed to push some refs to ") {
		return nil, r.failure()
	}
	s := &pushStats{map[string]bool{}, map[string]string{}, map[string]string{}}
	if !strings.HasPrefix(r.out, "To ") {
		return nil, userf("Git process failed: Git push output unfamiliar:\n%s", strings.TrimRight(r.out, "\n"))
	}
	for _, line := range strings.Split(r.out, "\n")[1:] {
		if line == "Done" || line == "" {
			break
		}
		f := strings.Split(line, "\t")
		if len(f) != 3 {
			return nil, userf("Git process failed: git push said: %s", line)
		}
		_, name, _ := strings.Cut(f[1], ":")
		reason := ""
		if _, why, ok := strings.Cut(f[2], "] ("); ok {
			reason = strings.TrimSuffix(why, ")")
		}
		switch {
		case f[0] != "!":
			s.pushed[name] = true
		case strings.HasPrefix(f[2], "[remote rejected]"):
			s.refused[name] = reason
		default:
			s.rejected[name] = reason
		}
	}
	return s, nil
}

func (s *pushStats) say(u *ui) {
	list := func(m map[string]string) {
		t := u.newText()
		for _, name := range slices.Sorted(maps.Keys(m)) {
			t.Str("  ")
			t.Label("git_ref", revset.FormatSymbol(name))
			if m[name] != "" {
				t.Str(" (reason: " + m[name] + ")")
			}
			t.Str("\n")
		}
		u.colours.WriteTo(u.io.Stderr, t)
	}
	if len(s.rejected) > 0 {
		u.warnf("The following references unexpectedly moved on the remote:")
		list(s.rejected)
		u.hintf("Try fetching from the remote, then make the bookmark point to where you want it to be, and push again.")
	}
	if len(s.refused) > 0 {
		u.warnf("The remote rejected the following updates:")
		list(s.refused)
		u.hintf("Try checking if you have permission to push to all the bookmarks.")
	}
}
