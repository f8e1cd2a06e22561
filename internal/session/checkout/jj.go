package checkout

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/fault"
)

// jj runs tandem's own jj.
func (t Tools) jj(ctx context.Context, dir string, args ...string) (string, error) {
	return t.run(ctx, dir, t.Self, append([]string{"jj", "--color=never", "--no-pager", "--quiet"}, args...)...)
}

func (t Tools) addWorkspace(ctx context.Context, folder, name string) (Checkout, error) {
	c := Checkout{Kind: Workspace, Name: name}
	root, err := t.jj(ctx, folder, "root")
	if err != nil {
		return c, fault.New(fault.Conflict, "session.checkout", "%s is in no jj repository", folder).
			WithNext("use --worktree for a git repository, or make it one: tandem jj git init --colocate")
	}
	if c.Repo, err = filepath.EvalSymlinks(root); err != nil {
		return c, err
	}
	if c.Path, err = beside(c.Repo, name); err != nil {
		return c, err
	}
	if _, err := t.jj(ctx, c.Repo, "workspace", "add", "--name", name, c.Path); err != nil {
		return c, err
	}
	if c.Base, err = t.jj(ctx, c.Path, "log", "--no-graph", "-r", "@-", "-T", "commit_id ++ '\n'"); err != nil {
		return c, err
	}
	c.Base, _, _ = strings.Cut(c.Base, "\n")
	c.Folder, err = below(c.Repo, c.Path, folder)
	return c, err
}

// done are the commits of a workspace: what stands on its base, without those of other workspaces and empty ones that say nothing.
func (c Checkout) done() string {
	return "(" + c.Base + "..@) ~ ::(working_copies() ~ @) ~ (empty() & description(exact:''))"
}

func (t Tools) keepWorkspace(ctx context.Context, c Checkout) (Kept, error) {
	k := Kept{Checkout: c}
	heads, err := t.jj(ctx, c.Path, "log", "--no-graph", "-r", c.done(), "-T", "change_id.shortest(8) ++ '\n'") // takes the files in
	if err != nil {
		return k, err
	}
	if all := strings.Fields(heads); len(all) > 0 {
		k.Commits, k.Head, k.Next = len(all), all[0], "tandem jj -R "+c.Repo+" new @ "+all[0]
	}
	if _, err := t.jj(ctx, c.Repo, "workspace", "forget", c.Name); err != nil {
		return k, err
	}
	return k, os.RemoveAll(c.Path)
}

func (t Tools) discardWorkspace(ctx context.Context, c Checkout) error {
	if c.there() == nil {
		if _, err := t.jj(ctx, c.Path, "abandon", "-r", "("+c.Base+"..@) ~ ::(working_copies() ~ @)"); err != nil {
			return err
		}
	}
	known, err := t.jj(ctx, c.Repo, "workspace", "list", "-T", "name ++ '\n'")
	if err != nil {
		return err
	}
	for _, name := range strings.Fields(known) {
		if name == c.Name {
			if _, err := t.jj(ctx, c.Repo, "workspace", "forget", c.Name); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(c.Path)
}
