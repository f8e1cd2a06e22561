// Programs that show differences, as jj 0.45.1 starts them: by folder or by file, and their exit codes are only warned
// about.

package jj

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
	"tandem/internal/repo/text"
)

// showTool lets a program show a difference: all files at once in two folders,
// or one pair after the other.
func (d *differ) showTool(ctx context.Context, o *text.Text, df *render.Diff, width int) error {
	pr := d.pr
	tmp, err := os.MkdirTemp(pr.tempDir(), "jj-diff-")
	if err != nil {
		return err
	}
	defer removeAll(tmp)
	style, err := pr.markerStyle()
	if err != nil {
		return err
	}
	if d.tool.style != nil {
		style = *d.tool.style
	}
	entries, err := df.Entries(ctx)
	if err != nil {
		return err
	}
	if !d.tool.diffFiles {
		var paths []repo.Path
		err := repo.DiffTrees(ctx, pr.store, df.From, df.To, df.Match, func(p repo.Path, _, _ repo.Merge[repo.TreeValue]) error {
			paths = append(paths, p)
			return nil
		})
		if err != nil {
			return err
		}
		for name, tree := range map[string]repo.MergedTree{"left": df.From, "right": df.To} {
			if _, err := pr.tools.writeSide(ctx, filepath.Join(tmp, name), tree, paths, style); err != nil {
				return err
			}
			readOnly(filepath.Join(tmp, name))
		}
		return d.invokeTool(ctx, o, tmp, "left", "right", width)
	}
	for _, e := range entries {
		left, err := d.writeOne(ctx, tmp, "left", e.Source(), e.Before, df.From.Labels, style)
		if err != nil {
			return err
		}
		right, err := d.writeOne(ctx, tmp, "right", e.Path, e.After, df.To.Labels, style)
		if err != nil {
			return err
		}
		if err := d.invokeTool(ctx, o, tmp, left, right, width); err != nil {
			return err
		}
	}
	return nil
}

// writeOne puts one file, or what stands for it, below a folder.
func (d *differ) writeOne(ctx context.Context, tmp, side string, path repo.Path, v repo.Merge[repo.TreeValue], labels repo.Labels,
	style repo.MarkerStyle) (string, error) {
	name := filepath.Join(side, filepath.FromSlash(string(path)))
	if err := os.MkdirAll(filepath.Join(tmp, filepath.Dir(name)), 0o777); err != nil {
		return "", err
	}
	var b bytes.Buffer
	if repo.IsPresent(v) {
		if err := d.pr.writeFile(ctx, &b, path, v, labels, style); err != nil {
			return "", err
		}
	}
	root, err := os.OpenRoot(tmp)
	if err != nil {
		return "", err
	}
	defer root.Close()
	return name, root.WriteFile(name, b.Bytes(), 0o666)
}

// invokeTool runs the program once and takes over what it prints.
func (d *differ) invokeTool(ctx context.Context, o *text.Text, tmp, left, right string, width int) error {
	pr, t := d.pr, d.tool
	dir := tmp
	if t.diffElsewhere {
		dir, left, right = pr.io.Dir, filepath.Join(tmp, left), filepath.Join(tmp, right)
	}
	cmd := pr.ui.command(ctx, t.program, interpolate(t.diffArgs,
		map[string]string{"left": left, "right": right, "width": strconv.Itoa(width)})...)
	cmd.Stderr, cmd.Env, cmd.Dir = pr.io.Stderr, pr.io.Env, dir
	out, err := cmd.Output()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		return userf("Failed to generate diff").because(userf("Error executing '%s' (run with --debug to see the exact invocation)", t.program).
			because(osCause(err)))
	}
	o.Raw(string(out))
	if code := cmd.ProcessState.ExitCode(); !slices.Contains(t.diffCodes, code) {
		pr.ui.warnf("Tool exited with exit status: %d (run with --debug to see the exact invocation).", code)
	}
	return nil
}
