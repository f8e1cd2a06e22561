// Package checkout makes a checkout of a repository for one session alone, beside the repository, and takes it away again: git's
// worktrees, and jj's workspaces. What was done in it stays in the repository, as a branch or as commits, or goes with it.
//
// It runs git and tandem's own jj with the person's settings, and neither hooks nor filters that the repository itself names: an agent may
// have written those.
package checkout

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"tandem/internal/fault"
)

// Kind is what makes the checkout.
type Kind string

// The kinds.
const (
	Worktree  Kind = "worktree"  // git
	Workspace Kind = "workspace" // jj
)

// Checkout is one session's own.
type Checkout struct {
	Kind Kind   `json:"kind" jsonschema:"worktree (git) or workspace (jj)"`
	Repo string `json:"repo" jsonschema:"the repository's folder"`
	Path string `json:"path" jsonschema:"the checkout's folder, beside the repository"`
	// Folder is where the session works: the same place below the checkout as it would be below the repository.
	Folder string `json:"folder" jsonschema:"where the session works in it"`
	Name   string `json:"name" jsonschema:"the branch, or jj's name for the workspace"`
	Base   string `json:"base" jsonschema:"the commit that it began at"`
}

// Kept is what became of a checkout that is kept.
type Kept struct {
	Checkout
	Commits int    `json:"commits" jsonschema:"that it added to the repository; none when nothing was done"`
	Head    string `json:"head,omitempty" jsonschema:"the newest of them"`
	Next    string `json:"next,omitempty" jsonschema:"the command that brings them into your own checkout"`
}

// Tools are the programs that make checkouts.
type Tools struct {
	Self string   // tandem's own program, for jj
	Env  []string // of the person: where programs and settings are

	index string // git's index, where it is another than the checkout's
	whole bool   // what a program prints is returned with the blanks at its ends
	limit int    // how much a program may print; 0 is mostOutput
	cut   bool   // what it prints beyond that is left out, and is no failure
	// unsure says that exit code 1 is an answer, and no failure.
	unsure bool
	in     io.Reader // what it reads
	to     io.Writer // where what it prints goes, when it is not returned
}

const (
	most       = 2 * time.Minute
	mostOutput = 64 << 20
)

var plain = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// Add makes a checkout of the repository that holds folder. What is not committed there stays there.
func (t Tools) Add(ctx context.Context, kind Kind, folder, name string) (Checkout, error) {
	if !plain.MatchString(name) {
		return Checkout{}, fault.New(fault.Invalid, "session.checkout", "%.60q cannot name a checkout", name).
			WithNext("use letters, digits, - and _, at most 64")
	}
	if kind == Workspace {
		return t.addWorkspace(ctx, folder, name)
	}
	return t.addWorktree(ctx, folder, name)
}

// Keep takes the checkout's folder away and leaves what was done in the repository.
func (t Tools) Keep(ctx context.Context, c Checkout) (Kept, error) {
	if err := c.there(); err != nil {
		return Kept{}, err
	}
	if c.Kind == Workspace {
		return t.keepWorkspace(ctx, c)
	}
	return t.keepWorktree(ctx, c)
}

// Discard takes the checkout away with all that was done in it.
func (t Tools) Discard(ctx context.Context, c Checkout) error {
	if c.Kind == Workspace {
		return t.discardWorkspace(ctx, c)
	}
	return t.discardWorktree(ctx, c)
}

// there refuses a checkout whose folder is gone, or is something else by now.
func (c Checkout) there() error {
	st, err := os.Lstat(c.Path)
	if err != nil || !st.IsDir() {
		return fault.New(fault.Conflict, "session.keep", "%s is not there any more", c.Path).WithNext("its commits are in %s, on %s", c.Repo,
			c.Name)
	}
	return nil
}

// beside is the place of a new checkout: next to the repository, with the session's name.
func beside(repo, name string) (string, error) {
	path := repo + "-" + name
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		return "", fault.New(fault.Conflict, "session.checkout", "%s is there already", path).
			WithNext("take another name for the session, or move it away")
	}
	return path, nil
}

// below is where a session works in a checkout: as deep as its folder lies in the repository. A folder that is not in it yet is made.
func below(repo, path, folder string) (string, error) {
	rel, err := filepath.Rel(repo, folder)
	if err != nil || !filepath.IsLocal(rel) {
		return path, nil
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.MkdirAll(rel, 0o755); err != nil {
		return "", err
	}
	return filepath.Join(path, rel), nil
}

// run runs a program of the person's and returns what it printed; its complaint is the error.
func (t Tools) run(ctx context.Context, dir, program string, args ...string) (string, error) {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	out, complaint := bounded{most: cmp.Or(t.limit, mostOutput), full: cancel}, bounded{most: 64 << 10}
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, t.in, &out, &complaint, 2*time.Second
	cmd.Cancel = func() error { // git takes its locks away when it is asked to end; killed it leaves them, and nobody commits there any more
		if cmd.Process.Signal(syscall.SIGTERM) == nil {
			return nil
		}
		return cmd.Process.Kill() // no such signal here
	}
	if t.to != nil {
		cmd.Stdout = t.to
	}
	// An agent can write refs and objects of the repository: a commit is what its hash says, whatever else is told about it there.
	cmd.Env = []string{"GIT_TERMINAL_PROMPT=0", "GIT_EDITOR=true", "LC_ALL=C.UTF-8", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_GRAFT_FILE=" + os.DevNull}
	for _, kv := range t.Env {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "HOME", "PATH", "USER", "LOGNAME", "TMPDIR", "XDG_CONFIG_HOME", "JJ_CONFIG":
			cmd.Env = append(cmd.Env, kv)
		}
	}
	if t.index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+t.index)
	}
	if err := cmd.Run(); err != nil && !(out.over && t.cut) && !(t.unsure && cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 1) {
		if out.over {
			return "", fault.New(fault.Exhausted, "session.checkout", "%s prints more than %d bytes", filepath.Base(program), out.most)
		}
		if errors.Is(err, exec.ErrNotFound) {
			return "", fault.New(fault.Conflict, "session.checkout", "%s is not installed", program).WithNext("install it")
		}
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && whole.Err() == nil {
			return "", fault.New(fault.Unavailable, "session.checkout", "%s did not end within %s", filepath.Base(program), most).
				WithNext("see what keeps this machine busy, and say it again")
		}
		if whole.Err() != nil {
			return "", whole.Err()
		}
		if p := cmd.ProcessState; p != nil && !p.Exited() { // a signal ended it, and that is no word about the repository
			return "", fault.New(fault.Unavailable, "session.checkout", "%s was ended: %s", filepath.Base(program), p).
				WithNext("see what ends programs on this machine (too little memory, say), and say it again")
		}
		said := strings.TrimSpace(complaint.String())
		if said == "" && cmd.ProcessState == nil { // it did not begin: its folder is gone, say
			said = err.Error()
		}
		return "", fault.New(fault.Conflict, "session.checkout", "%s: %s", filepath.Base(program), said)
	}
	if t.whole {
		return out.String(), nil
	}
	return strings.TrimSpace(out.String()), nil
}

// bounded keeps the beginning of what is written to it, and says when there is more: nothing is gained by reading on.
type bounded struct {
	kept bytes.Buffer
	most int
	over bool
	full func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - b.kept.Len()
	if len(p) <= room {
		return b.kept.Write(p)
	}
	b.kept.Write(p[:room])
	if !b.over && b.full != nil {
		b.full()
	}
	b.over = true
	return len(p), nil
}

func (b *bounded) String() string { return b.kept.String() }
