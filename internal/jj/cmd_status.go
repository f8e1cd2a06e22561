// `jj status`, as jj 0.45.1 has it: headings, the summary and hints in stock jj's order; editors and prompts read them.

package jj

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/text"
	"tandem/internal/repo/workcopy"
)

func statusCommand() *command {
	return &command{
		name: "status",
		opts: []opt{{id: "pos", pos: true, many: true, value: "FILESETS"}},
		run:  runStatus,
	}
}

func runStatus(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return err
	}
	var stats workcopy.SnapshotStats
	if !w.atOp && !w.global.ignoreWorkingCopy {
		if stats, err = w.snapshotFresh(ctx); err != nil {
			return err
		}
		w.print.warnUntracked(stats)
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	c, err := w.wcCommit(ctx)
	if err != nil {
		return err
	}
	w.ui.page(ctx)
	o := w.ui.newText()
	if c == nil {
		o.Str("No working copy.\n")
	} else if err := w.print.statusOf(ctx, o, c, set, stats); err != nil {
		return err
	}
	w.print.statusRefs(o)
	return w.ui.print(o)
}

func (pr *printer) statusOf(ctx context.Context, o *text.Text, c *repo.Commit, set *fileset.Set, stats workcopy.SnapshotStats) error {
	from, err := repo.ParentTree(ctx, pr.store, pr.repo.Index, c)
	if err != nil {
		return err
	}
	if err := pr.warnUnmatched(ctx, set, c.Tree); err != nil {
		return err
	}
	changed := !from.SameIDs(c.Tree)
	if !changed && len(stats.Untracked) == 0 {
		o.Str("The working copy has no changes.\n")
	} else {
		if changed {
			d, err := pr.newDiffer([]string{"summary"}, nil)
			if err != nil {
				return err
			}
			diff := pr.ui.newText()
			if err := d.patch(ctx, diff, c, set, pr.ui.width()); err != nil {
				return err
			}
			if diff.Len() > 0 {
				o.Str("Working copy changes:\n")
				o.Append(diff)
			}
		}
		if err := pr.untrackedList(ctx, o, c.Tree, set, stats); err != nil {
			return err
		}
	}
	o.Str("Working copy  (@) : ")
	if err := pr.summary(ctx, o, c); err != nil {
		return err
	}
	o.Str("\n")
	parents, err := pr.commits(ctx, c.Parents)
	if err != nil {
		return err
	}
	for _, q := range parents {
		o.Str("Parent commit (@-): ")
		if err := pr.summary(ctx, o, q); err != nil {
			return err
		}
		o.Str("\n")
	}
	return pr.statusConflicts(ctx, o, c, parents, set)
}

func (pr *printer) untrackedList(ctx context.Context, o *text.Text, tree repo.MergedTree, set *fileset.Set,
	stats workcopy.SnapshotStats) error {
	var paths []repo.Path
	for _, u := range stats.Untracked {
		if set.Match(u.Path) {
			paths = append(paths, u.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	slices.SortFunc(paths, repo.ComparePaths)
	o.Str("Untracked paths:\n")
	shown := map[repo.Path]bool{}
	for _, p := range paths {
		at, slash := p, ""
		parts := p.Components()
		for i := 1; i < len(parts); i++ {
			dir := repo.Path(strings.Join(parts[:i], "/"))
			v, err := repo.ValueAt(ctx, pr.store, tree, dir)
			if err != nil {
				return err
			}
			if t, ok := v.AsResolved(); ok && !t.IsTree() {
				at, slash = dir, "/"
				break
			}
		}
		if shown[at] {
			continue
		}
		shown[at] = true
		o.Push("diff")
		o.Label("untracked", "? "+pr.paths().Format(at)+slash+"\n")
		o.Pop()
	}
	return nil
}

func (pr *printer) statusConflicts(ctx context.Context, o *text.Text, c *repo.Commit, parents []*repo.Commit, set *fileset.Set) error {
	if !c.Tree.HasConflict() {
		for _, q := range parents {
			if q.Tree.HasConflict() {
				pr.headed(o, "hint", "Hint: ", "Conflict in parent commit has been resolved in working copy.\n")
				break
			}
		}
		return nil
	}
	pr.headed(o, "warning", "Warning: ", "There are unresolved conflicts at these paths:\n")
	if err := pr.conflictedPaths(ctx, o, c.Tree, set); err != nil {
		return err
	}
	fixed, err := pr.revs.immutableExpr()
	if err != nil {
		return err
	}
	x := revset.Minus(revset.And(revset.Ancestors(revset.Parents(revset.Commits(c.ID))), revset.WithConflicts()), fixed)
	ids, err := pr.revs.revRepo(ctx, pr.repo, nil).IDs(ctx, x)
	if err != nil {
		return err
	}
	t, err := pr.conflictHintText(ctx, ids)
	if err == nil && t != nil {
		o.Append(t)
	}
	return err
}

func (pr *printer) headed(o *text.Text, label, heading, message string) {
	o.Push(label)
	o.Label("heading", heading)
	o.Str(message)
	o.Pop()
}

func (pr *printer) statusRefs(o *text.Text) {
	var local, remote []string
	for _, n := range slices.Sorted(maps.Keys(pr.repo.View.Bookmarks)) {
		if len(pr.repo.View.Bookmarks[n]) > 1 {
			local = append(local, revset.FormatSymbol(n))
		}
	}
	for _, r := range slices.Sorted(maps.Keys(pr.repo.View.Remotes)) {
		bs := pr.repo.View.Remotes[r].Bookmarks
		for _, n := range slices.Sorted(maps.Keys(bs)) {
			if len(bs[n].Target) > 1 {
				remote = append(remote, revset.FormatRemote(n, r))
			}
		}
	}
	list := func(title, advice string, names []string) {
		if len(names) == 0 {
			return
		}
		pr.headed(o, "warning", "Warning: ", title+"\n")
		for _, n := range names {
			o.Str("  ")
			o.Label("bookmark", n)
			o.Str("\n")
		}
		pr.headed(o, "hint", "Hint: ", advice+"\n")
	}
	list("These bookmarks have conflicts:", "Use `jj bookmark list` to see details. Use `jj bookmark set <name> -r <rev>` to resolve.", local)
	list("These remote bookmarks have conflicts:", "Use `jj bookmark list` to see details. "+
		"Resolve by fetching an updated bookmark from the remote.", remote)
}

// conflictedPaths lists conflicts with how many sides they have.
func (pr *printer) conflictedPaths(ctx context.Context, o *text.Text, tree repo.MergedTree, match repo.Matcher) error {
	type item struct {
		path string
		v    repo.Merge[repo.TreeValue]
	}
	var items []item
	longest := 0
	err := repo.Conflicts(ctx, pr.store, tree, match, func(p repo.Path, v repo.Merge[repo.TreeValue]) error {
		s := pr.paths().Format(p)
		longest = max(longest, len(s))
		items = append(items, item{s, v.Simplify()})
		return nil
	})
	if err != nil {
		return err
	}
	for _, it := range items {
		o.Printf("%-*s ", min(longest, 32)+3, it.path)
		describeSides(o, it.v)
		o.Str("\n")
	}
	return nil
}

func describeSides(o *text.Text, v repo.Merge[repo.TreeValue]) {
	sides, gone := v.Sides(), 0
	for _, t := range v.Adds() {
		if t.IsAbsent() {
			gone++
		}
	}
	seen := map[string]string{}
	if gone > 0 {
		word := " deletion"
		if gone > 1 {
			word = " deletions"
		}
		seen[itoa(gone)+word] = "normal"
	}
	for _, t := range v {
		switch t.Kind {
		case repo.Executable:
			seen["an executable"] = "difficult"
		case repo.Symlink:
			seen["a symlink"] = "difficult"
		case repo.Subtree:
			seen["a directory"] = "difficult"
		case repo.Submodule:
			seen["a git submodule"] = "difficult"
		}
	}
	o.Push("conflict_description")
	label := "normal"
	if sides > 2 {
		label = "difficult"
	}
	o.Label(label, itoa(sides)+"-sided")
	o.Str(" conflict")
	names := slices.Sorted(maps.Keys(seen))
	for i, n := range names {
		switch {
		case i == 0:
			o.Str(" including ")
		case i == len(names)-1:
			o.Str(" and ")
		default:
			o.Str(", ")
		}
		o.Label(seen[n], n)
	}
	o.Pop()
}
