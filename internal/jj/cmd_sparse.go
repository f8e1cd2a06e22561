// `jj sparse edit`, `list`, `reset` and `set`, as jj 0.45.1 has them: which paths are checked out; it makes no operation.

package jj

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/repo"
)

func sparseCommand() *command {
	path := func(s string) error {
		_, err := sparsePath(s)
		return err
	}
	return &command{
		name: "sparse",
		subs: []*command{
			{name: "edit", run: runSparseEdit},
			{name: "list", run: runSparseList},
			{name: "reset", run: func(ctx context.Context, e *env, p *parsed) error {
				return setSparse(ctx, e, func(*session, []repo.Path) ([]repo.Path, error) { return []repo.Path{""}, nil })
			}},
			{name: "set", opts: []opt{
				{id: "add", long: "add", value: "ADD", many: true, check: path},
				{id: "remove", long: "remove", value: "REMOVE", many: true, check: path, conflicts: []string{"clear"}},
				{id: "clear", long: "clear"},
			}, run: runSparseSet},
		},
	}
}

// sparsePath reads a path relative to the workspace.
func sparsePath(s string) (repo.Path, error) {
	if filepath.IsAbs(s) || s != "." && s != "" && !filepath.IsLocal(s) {
		return "", userf("Invalid component in repo-relative path %q", s)
	}
	s = filepath.ToSlash(filepath.Clean(s))
	if s == "." {
		s = ""
	}
	return repo.Path(s), nil
}

func runSparseList(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	for _, path := range w.wc.Sparse() {
		if path == "" {
			path = "."
		}
		w.ui.printf("%s\n", filepath.FromSlash(string(path)))
	}
	return nil
}

func runSparseSet(ctx context.Context, e *env, p *parsed) error {
	return setSparse(ctx, e, func(_ *session, old []repo.Path) ([]repo.Path, error) {
		var out []repo.Path
		if !p.has("clear") {
			out = slices.Clone(old)
			for _, s := range p.all("remove") {
				gone, _ := sparsePath(s)
				out = slices.DeleteFunc(out, func(x repo.Path) bool { return x == gone })
			}
		}
		for _, s := range p.all("add") {
			add, _ := sparsePath(s)
			out = append(out, add)
		}
		return out, nil
	})
}

func runSparseEdit(ctx context.Context, e *env, p *parsed) error {
	return setSparse(ctx, e, func(w *session, old []repo.Path) ([]repo.Path, error) {
		var b strings.Builder
		for _, path := range old {
			if path == "" {
				path = "."
			}
			b.WriteString(filepath.FromSlash(string(path)) + "\n")
		}
		content, err := w.editText(ctx, b.String(), ".jjsparse", "sparse patterns")
		if err != nil {
			return nil, err
		}
		var out []repo.Path
		for _, line := range strings.Split(content, "\n") {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "JJ:") {
				continue
			}
			path, err := sparsePath(line)
			if err != nil {
				return nil, userf("Failed to parse sparse pattern: %s", line).because(err)
			}
			out = append(out, path)
		}
		return out, nil
	})
}

// setSparse changes which paths are checked out.
func setSparse(ctx context.Context, e *env, change func(*session, []repo.Path) ([]repo.Path, error)) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	if w.atOp {
		return w.needsFiles()
	}
	c, err := w.wcCommit(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		return userf("Nothing checked out in this workspace")
	}
	locked, err := w.wc.Lock(ctx)
	if err != nil {
		return err
	}
	paths, err := change(w, w.wc.Sparse())
	if err != nil {
		locked.Discard()
		return err
	}
	slices.SortFunc(paths, repo.ComparePaths)
	paths = slices.Compact(paths)
	if locked.Style, err = w.markerStyle(); err != nil {
		locked.Discard()
		return err
	}
	if ctx, err = whole(ctx); err != nil {
		locked.Discard()
		return err
	}
	stats, err := locked.SetSparse(ctx, paths)
	if err != nil {
		locked.Discard()
		return internalf(err, "Failed to update working copy paths")
	}
	if err := locked.Finish(w.repo.Operation.ID); err != nil {
		return err
	}
	w.print.reportStats(stats, c)
	return nil
}
