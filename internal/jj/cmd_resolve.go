// `jj resolve`, as jj 0.45.1 has it: files in conflict are handed to a merge tool of `merge-tools`, or listed; what the
// tool leaves may have markers again.

package jj

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/repo"
)

func resolveCommand() *command {
	return &command{
		name: "resolve",
		opts: []opt{
			{id: "revision", long: "revision", short: "r", value: "REVSET"},
			{id: "list", long: "list", short: "l"},
			{id: "tool", long: "tool", value: "NAME", conflicts: []string{"list"}},
			{id: "pos", pos: true, many: true, value: "FILESETS"},
		},
		run: runResolve,
	}
}

type conflicted struct {
	path repo.Path
	v    repo.Merge[repo.TreeValue]
	file *repo.FileConflict
}

func runResolve(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	c, err := w.revs.single(ctx, p.or("revision", "@"))
	if err != nil {
		return err
	}
	var list []conflicted
	err = repo.Conflicts(ctx, w.store, c.Tree, set, func(q repo.Path, v repo.Merge[repo.TreeValue]) error {
		list = append(list, conflicted{path: q, v: v})
		return nil
	})
	if err != nil {
		return err
	}
	if err := w.warnUnmatched(ctx, set, c.Tree); err != nil {
		return err
	}
	if len(list) == 0 {
		if p.has("pos") {
			return clif("No conflicts found at the given path(s)")
		}
		return clif("No conflicts found at this revision")
	}
	if p.has("list") {
		o := w.ui.newText()
		if err := w.print.conflictedPaths(ctx, o, c.Tree, set); err != nil {
			return err
		}
		return w.ui.print(o)
	}
	if err := w.revs.checkRewritable(ctx, c.ID); err != nil {
		return err
	}
	tl, err := w.tools.toolFor(p.str("tool"), "merge-editor")
	if err != nil {
		return err
	}
	if !tl.builtin && tl.side == 0 && len(tl.mergeArgs) == 0 {
		return userf("The tool `%s` cannot be used as a merge tool with `jj resolve`", tl.name).
			hinted("To use `%s` as a merge tool, the config `merge-tools.%s.merge-args` must be defined (see docs for details)", tl.name, tl.name)
	}
	tree, partial, err := w.tools.resolveFiles(ctx, tl, c.Tree, list)
	if err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	d, err := t.Rewrite(ctx, c)
	if err != nil {
		return err
	}
	d.Tree = tree
	now, err := t.Write(ctx, d)
	if err != nil {
		return err
	}
	if err := t.finish(ctx, "Resolve conflicts in commit "+c.ID.Hex()); err != nil {
		return err
	}
	if w.repo.View.Workspaces[w.name] != now.ID && now.Tree.HasConflict() && !w.ui.quiet {
		w.ui.warnf("After this operation, some files at this revision still have conflicts:")
		o := w.ui.newText()
		if err := w.print.conflictedPaths(ctx, o, now.Tree, repo.Everything{}); err != nil {
			return err
		}
		w.ui.status(o)
	}
	return partial
}

func resolveError(err error) *cmdError { return userf("Failed to resolve conflicts").because(err) }

// resolveFiles runs the tool on each file; partial is the error that stopped
// it after the first.
func (tb *toolbox) resolveFiles(ctx context.Context, tl *tool, tree repo.MergedTree, list []conflicted) (out repo.MergedTree,
	partial, err error) {
	for i := range list {
		k := &list[i]
		if tl.side > 0 { // whose content is taken as it is
			k.file = repo.FileConflictOf(k.v, tree.Labels)
		} else if k.file, err = repo.ReadFileConflict(ctx, tb.store, k.v, tree.Labels); err != nil {
			return out, nil, err
		}
		summary := strings.TrimRight(repo.DescribeConflict(k.v, tree.Labels), "\n")
		switch {
		case k.file == nil:
			return out, nil, resolveError(fmt.Errorf("Only conflicts that involve normal files (not symlinks, etc.) are supported. "+
				"Conflict summary for %q:\n%s", string(k.path), summary))
		case k.file.IDs.Sides() > 2:
			return out, nil, resolveError(fmt.Errorf("The conflict at %q has %d sides. At most 2 sides are supported.", string(k.path),
				k.file.IDs.Sides())).
				hinted("Edit the conflict markers manually to resolve this.")
		case executableConflict(k.v):
			return out, nil, resolveError(fmt.Errorf("%q has conflicts in executable bit\n%s", string(k.path), summary)).
				hinted("Use `jj file chmod` to update the executable bit.")
		}
	}
	if tl.builtin {
		out, err = tb.pickSides(ctx, tree, list)
		return out, nil, err
	}
	ed := repo.EditTree(tb.store, tree)
	for i, k := range list {
		if tl.side > 0 {
			ed.Set(k.path, k.value(k.file.IDs.Add(tl.side-1)))
			continue
		}
		tb.ui.statusf("Resolving conflicts in: %s\n", tb.paths().Format(k.path))
		v, err := tb.resolveFile(ctx, tl, k)
		if err != nil {
			if i == 0 {
				return out, nil, resolveError(err)
			}
			partial = userf("Stopped due to error after resolving %d conflicts", i).because(err)
			break
		}
		ed.Set(k.path, v)
	}
	out, err = ed.Write(ctx)
	return out, partial, err
}

func executableConflict(v repo.Merge[repo.TreeValue]) bool {
	kinds := repo.MapMerge(v, func(t repo.TreeValue) repo.Kind { return t.Kind })
	k, ok := kinds.Trivial()
	if ok && k != repo.Absent {
		return false
	}
	// A deleted side does not decide about the bit; those that are there do.
	var seen []repo.Kind
	for _, x := range kinds {
		if x != repo.Absent && !slices.Contains(seen, x) {
			seen = append(seen, x)
		}
	}
	return len(seen) > 1
}

// value is a resolved file with the conflict's mode.
func (k conflicted) value(id repo.FileID) repo.Merge[repo.TreeValue] {
	if id == "" {
		return repo.Resolved(repo.TreeValue{})
	}
	kind := repo.File
	if k.file.Executable {
		kind = repo.Executable
	}
	return repo.Resolved(repo.TreeValue{Kind: kind, ID: string(id)})
}

func (tb *toolbox) resolveFile(ctx context.Context, tl *tool, k conflicted) (repo.Merge[repo.TreeValue], error) {
	markerLen := repo.MinMarkerLen
	if tl.editsMarkers || slices.ContainsFunc(tl.mergeArgs, func(a string) bool { return strings.Contains(a, "$marker_length") }) {
		markerLen = repo.MarkerLen(k.file.Contents)
	}
	var initial []byte
	if tl.editsMarkers {
		style, err := tb.markerStyle()
		if err != nil {
			return nil, err
		}
		if tl.style != nil {
			style = *tl.style
		}
		initial = k.file.Materialize(style, markerLen)
	}
	tmp, err := os.MkdirTemp(tb.tempDir(), "jj-resolve-")
	if err != nil {
		return nil, err
	}
	defer removeAll(tmp)
	vars := map[string]string{"marker_length": strconv.Itoa(markerLen), "path": string(k.path)}
	for role, data := range map[string][]byte{"left": k.file.Contents[0], "base": k.file.Contents[1], "right": k.file.Contents[2],
		"output": initial} {
		name := filepath.Join(tmp, role+"_"+path.Base(string(k.path)))
		mode := os.FileMode(0o444)
		if role == "output" {
			mode = 0o644
		}
		if err := os.WriteFile(name, data, mode); err != nil {
			return nil, err
		}
		vars[role] = name
	}
	code, err := tb.runTool(ctx, tl, interpolate(tl.mergeArgs, vars))
	if err != nil {
		return nil, err
	}
	conflict := code != 0 && slices.Contains(tl.conflictCodes, code)
	if code != 0 && !conflict {
		return nil, toolAborted(code)
	}
	data, err := os.ReadFile(vars["output"])
	if err != nil {
		return nil, err
	}
	if len(data) == 0 || string(data) == string(initial) {
		return nil, fmt.Errorf("The output file is either unchanged or empty after the editor quit (run with --debug to see the exact " +
			"invocation).")
	}
	if !tl.editsMarkers && !conflict {
		id, err := tb.store.PutFile(ctx, data)
		return k.value(id), err
	}
	ids, ok := repo.FileIDs(k.v)
	if !ok {
		return nil, fmt.Errorf("the conflict is not between files")
	}
	now, err := repo.UpdateConflict(ctx, tb.store, ids, data, markerLen)
	if err != nil {
		return nil, err
	}
	if id, ok := now.AsResolved(); ok {
		if conflict {
			return nil, fmt.Errorf("Tool exited with exit status: %d, but did not produce valid conflict markers (run with --debug to see the "+
				"exact invocation)", code)
		}
		return k.value(id), nil
	}
	return withIDs(k.v, now), nil
}
