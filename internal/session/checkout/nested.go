package checkout

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
)

// git looks into a repository inside the worktree with a second git, which obeys that repository's own configuration: its filters would run
// outside of every box. So nothing here lets git look into one.

// addAll puts all that is in a worktree into its index, but for repositories inside it. One that is neither ignored nor in the commit known
// is refused: what it holds would be lost.
func (t Tools) addAll(ctx context.Context, path, known string) error {
	inner, err := nested(path)
	if err != nil {
		return err
	}
	if len(inner) == 0 {
		_, err := t.git(ctx, path, "add", "-A")
		return err
	}
	links, err := t.links(ctx, path, known)
	if err != nil {
		return err
	}
	args := []string{"add", "-A", "--", ":(top)"}
	for _, in := range inner {
		if slices.Contains(links, in) {
			args = append(args, ":(top,literal,exclude)"+in)
			continue
		}
		// What is in the index is not ignored, so git does not look into what is.
		if _, err := t.git(ctx, path, "check-ignore", "-q", "--", in); err != nil {
			return isNested(path, in)
		}
	}
	_, err = t.git(ctx, path, args...)
	return err
}

// noNewLinks refuses a commit that points to repositories that its base does not point to.
func (t Tools) noNewLinks(ctx context.Context, path, base, head string) error {
	links, err := t.links(ctx, path, head)
	if err != nil || len(links) == 0 {
		return err
	}
	known, err := t.links(ctx, path, base)
	for _, l := range links {
		if err == nil && !slices.Contains(known, l) {
			return isNested(path, l)
		}
	}
	return err
}

func isNested(path, in string) error {
	return fault.New(fault.Conflict, "session.checkout", "%s is a repository of its own inside the checkout, and cannot be committed",
		filepath.Join(path, filepath.FromSlash(in))).WithNext("take its .git away or have git ignore it")
}

// nested are the folders below a worktree that are repositories, with slashes.
func nested(top string) (all []string, err error) {
	err = filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && at == top:
			return err
		case err != nil:
			return nil // git cannot read it either
		case !d.IsDir() || at == top:
			return nil
		case filepath.Dir(at) == top && d.Name() == ".git":
			return fs.SkipDir
		}
		if _, err := os.Lstat(filepath.Join(at, ".git")); err != nil {
			return nil
		}
		rel, err := filepath.Rel(top, at)
		if err != nil {
			return err
		}
		all = append(all, filepath.ToSlash(rel))
		return fs.SkipDir
	})
	return all, err
}

// links are the places where a commit points to other repositories.
func (t Tools) links(ctx context.Context, repo, commit string) (all []string, err error) {
	out, err := t.git(ctx, repo, "ls-tree", "-r", "-z", "--full-tree", commit)
	for line := range strings.SplitSeq(out, "\x00") {
		if at, name, ok := strings.Cut(line, "\t"); ok && strings.HasPrefix(at, "160000 ") {
			all = append(all, name)
		}
	}
	return all, err
}
