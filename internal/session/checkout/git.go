package checkout

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/fault"
)

// branchOf is the branch of a session's worktree.
func branchOf(name string) string { return "tandem/" + name }

// git runs git in a repository without hooks, monitors, filters and merge drivers of its own configuration.
// Filters of the person's (large files) work.
func (t Tools) git(ctx context.Context, dir string, args ...string) (string, error) {
	set := []string{"--no-pager", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "commit.gpgsign=false",
		"-c", "core.commitGraph=false", "-c", "advice.graftFileDeprecated=false", "-c", "submodule.recurse=false"}
	// Nothing is configured where this fails, and the command that follows says what is wrong. Where it was given up, something may be.
	own, err := Tools{Env: t.Env}.run(ctx, dir, "git", "-c", "core.fsmonitor=false", "config", "--list", "--show-scope", "--name-only")
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if fault.Is(err, fault.Unavailable) || fault.Is(err, fault.Exhausted) {
		return "", err
	}
	for line := range strings.SplitSeq(own, "\n") {
		scope, key, _ := strings.Cut(line, "\t")
		if scope != "local" && scope != "worktree" {
			continue
		}
		switch {
		case strings.HasPrefix(key, "filter.") && strings.HasSuffix(key, ".required"),
			strings.HasPrefix(key, "merge.") && strings.HasSuffix(key, ".driver"): // what it would merge is a conflict then
			set = append(set, "-c", key+"=false")
		case strings.HasPrefix(key, "filter."):
			set = append(set, "-c", key+"=")
		}
	}
	return t.run(ctx, dir, "git", append(set, args...)...)
}

func (t Tools) addWorktree(ctx context.Context, folder, name string) (Checkout, error) {
	c := Checkout{Kind: Worktree, Name: branchOf(name)}
	var err error
	if c.Repo, err = t.git(ctx, folder, "rev-parse", "--show-toplevel"); err != nil {
		return c, fault.New(fault.Conflict, "session.checkout", "%s is in no git repository", folder).
			WithNext("leave --worktree out, or make it one: git init")
	}
	if c.Base, err = t.git(ctx, c.Repo, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		return c, fault.New(fault.Conflict, "session.checkout", "the repository %s has no commit yet", c.Repo).
			WithNext("make the first one, then open the session again")
	}
	if c.Path, err = beside(c.Repo, name); err != nil {
		return c, err
	}
	if _, err := t.git(ctx, c.Repo, "worktree", "add", "-q", "-b", c.Name, c.Path, "HEAD"); err != nil {
		return c, err
	}
	if c.Folder, err = below(c.Repo, c.Path, folder); err != nil {
		err = errors.Join(err, t.discardWorktree(context.WithoutCancel(ctx), c))
	}
	return c, err
}

// TakeUnused takes a worktree away that was begun for a name, and in which nothing was done: it stands on exactly that name's branch, which
// holds nothing that the repository's own does not, and has no changes. A crash can leave one that nobody wrote down, also half made.
func (t Tools) TakeUnused(ctx context.Context, repo, name string) error {
	c := Checkout{Kind: Worktree, Repo: repo, Path: repo + "-" + name, Name: branchOf(name)}
	at := t.Tip(ctx, repo, refOf(c.Name))
	if at == "" {
		return nil
	}
	all, err := t.git(ctx, repo, "worktree", "list", "--porcelain")
	if err != nil {
		return err
	}
	stays := fault.New(fault.Conflict, "session.checkout", "the branch %s is used", c.Name).
		WithNext("look at it: git -C %s log %s", repo, c.Name)
	if !t.Holds(ctx, repo, "HEAD", at) {
		return stays
	}
	for one := range strings.SplitSeq(all, "\n\n") {
		lines := strings.Split(one, "\n")
		if !slices.Contains(lines, "branch "+refOf(c.Name)) {
			continue
		}
		if lines[0] != "worktree "+c.Path {
			return stays
		}
		if slices.Contains(lines, "locked initializing") || c.there() != nil { // it was being made
			break
		}
		if dirty, err := t.git(ctx, c.Path, "status", "--porcelain", "--ignore-submodules=all"); err != nil || dirty != "" {
			return stays
		}
	}
	return t.discardWorktree(ctx, c)
}

func (t Tools) keepWorktree(ctx context.Context, c Checkout) (Kept, error) {
	k := Kept{Checkout: c}
	dirty, err := t.git(ctx, c.Path, "status", "--porcelain", "--ignore-submodules=all")
	if err != nil {
		return k, err
	}
	if dirty != "" {
		if err := t.addAll(ctx, c.Path, "HEAD"); err != nil {
			return k, err
		}
		if _, err := t.commit(ctx, c.Path, "What "+strings.TrimPrefix(c.Name, "tandem/")+" had not committed"); err != nil {
			return k, err
		}
	}
	if k.Head, err = t.git(ctx, c.Path, "rev-parse", "HEAD"); err != nil {
		return k, err
	}
	if on, err := t.git(ctx, c.Path, "symbolic-ref", "--quiet", "--short", "HEAD"); err != nil || on != c.Name {
		// The agent stands elsewhere: its branch goes along where nothing of it is lost by that.
		if _, err := t.git(ctx, c.Path, "merge-base", "--is-ancestor", c.Name, "HEAD"); err != nil {
			return k, fault.New(fault.Conflict, "session.keep", "%s does not stand on its branch %s, and that has commits of its own", c.Path,
				c.Name).
				WithNext("look at it, and put it on one branch: git -C %s log --oneline --graph HEAD %s", c.Path, c.Name)
		}
		if _, err := t.git(ctx, c.Path, "switch", "-q", "-C", c.Name); err != nil {
			return k, err
		}
	}
	n, err := t.git(ctx, c.Path, "rev-list", "--count", c.Base+"..HEAD")
	if err != nil {
		return k, err
	}
	if k.Commits, err = strconv.Atoi(n); err != nil {
		return k, err
	}
	if _, err := t.git(ctx, c.Repo, "worktree", "remove", "--force", c.Path); err != nil {
		return k, err
	}
	if k.Commits == 0 {
		k.Head = ""
		_, err = t.git(ctx, c.Repo, "branch", "-q", "-D", c.Name)
		return k, err
	}
	k.Next = "git -C " + c.Repo + " merge " + c.Name
	return k, nil
}

// commit commits in the person's name, or in ours where nobody said theirs.
func (t Tools) commit(ctx context.Context, dir, message string) (string, error) {
	args := []string{"commit", "-q", "--no-verify", "-m", message}
	if _, err := t.git(ctx, dir, "var", "GIT_COMMITTER_IDENT"); err != nil {
		args = append([]string{"-c", "user.name=tandem", "-c", "user.email=tandem@localhost"}, args...)
	}
	return t.git(ctx, dir, args...)
}

func (t Tools) discardWorktree(ctx context.Context, c Checkout) error {
	if c.there() == nil {
		if _, err := t.git(ctx, c.Repo, "worktree", "remove", "--force", "--force", c.Path); err != nil {
			return err
		}
	} else if _, err := t.git(ctx, c.Repo, "worktree", "prune"); err != nil {
		return err
	}
	if _, err := t.git(ctx, c.Repo, "rev-parse", "--verify", "--quiet", "refs/heads/"+c.Name); err != nil {
		return nil // gone already
	}
	_, err := t.git(ctx, c.Repo, "branch", "-q", "-D", c.Name)
	return err
}
