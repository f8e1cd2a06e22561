package jj

import (
	"context"
	"strings"

	"tandem/internal/repo"
)

// selector chooses part of a change: the files given, or what a diff editor
// leaves.
type selector struct {
	tb   *toolbox
	tool *diffTool // nil without interaction
}

func (tb *toolbox) selector(tool string, interactive bool) (*selector, error) {
	s := &selector{tb: tb}
	if tool == "" && !interactive {
		return s, nil
	}
	var err error
	s.tool, err = tb.diffEditor(tool)
	return s, err
}

// choose returns the left tree with the chosen changes of the right one.
func (s *selector) choose(ctx context.Context, left, right repo.Labelled, match repo.Matcher,
	instructions func() (string, error)) (repo.MergedTree, error) {
	picked, err := restoreTree(ctx, s.tb.store, right, left, match)
	if err != nil || s.tool == nil {
		return picked, err
	}
	if picked.SameIDs(left.Tree) {
		s.tb.ui.warnf("Empty diff - won't run diff editor.")
		return picked, nil
	}
	text, err := instructions()
	if err != nil {
		return left.Tree, err
	}
	return s.tool.edit(ctx, left.Tree, picked, match, text)
}

// chooseOf is choose among what a commit changes against its parents' tree.
func (s *selector) chooseOf(ctx context.Context, c *repo.Commit, parent repo.MergedTree, match repo.Matcher,
	instructions func() (string, error)) (repo.MergedTree, error) {
	parents, err := s.tb.commits(ctx, c.Parents)
	if err != nil {
		return parent, err
	}
	left, right := repo.Labelled{Tree: parent, Label: repo.ConflictLabelFor(parents)}, repo.Labelled{Tree: c.Tree, Label: c.ConflictLabel()}
	return s.choose(ctx, left, right, match, instructions)
}

// restoreTree is dest with the files that match taken from src.
func restoreTree(ctx context.Context, st repo.Store, src, dest repo.Labelled, match repo.Matcher) (repo.MergedTree, error) {
	if _, all := match.(repo.Everything); all {
		return src.Tree, nil
	}
	if a, ok := match.(interface{ IsAll() bool }); ok && a.IsAll() {
		return src.Tree, nil
	}
	ed := repo.EditTree(st, dest.Tree)
	differ := pathSet{}
	err := repo.DiffTrees(ctx, st, src.Tree, dest.Tree, match, func(p repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		ed.Set(p, before)
		differ[p] = true
		return nil
	})
	if err != nil {
		return dest.Tree, err
	}
	if src.Tree.IDs.IsResolved() && dest.Tree.IDs.IsResolved() {
		return ed.Write(ctx)
	}
	// Conflicts on either side keep their labels when the files move in a merge:
	// dest, less its own files, with those of src.
	const base = "base files for restore"
	labels := make(repo.Merge[string], len(dest.Tree.Labels))
	for i, l := range dest.Tree.Labels {
		if l != "" && !strings.HasPrefix(l, base) {
			l = base + " (from " + l + ")"
		}
		labels[i] = l
	}
	old, err := onlyFiles(ctx, st, repo.MergedTree{IDs: dest.Tree.IDs, Labels: repo.MakeLabels(labels)}, differ)
	if err != nil {
		return dest.Tree, err
	}
	now, err := onlyFiles(ctx, st, src.Tree, differ)
	if err != nil {
		return dest.Tree, err
	}
	return repo.MergeMergedTrees(ctx, st, repo.Labelled{Tree: dest.Tree, Label: dest.Label + " (restore destination)"},
		repo.Labelled{Tree: old, Label: base + " (from " + dest.Label + ")"},
		repo.Labelled{Tree: now, Label: "restored files (from " + src.Label + ")"})
}

// onlyFiles is a tree with some of its files alone.
func onlyFiles(ctx context.Context, st repo.Store, t repo.MergedTree, files pathSet) (repo.MergedTree, error) {
	none := make(repo.Merge[repo.TreeID], len(t.IDs))
	for i := range none {
		none[i] = repo.EmptyTreeID
	}
	ed, found := repo.EditTree(st, repo.MergedTree{IDs: none, Labels: t.Labels}), false
	err := repo.WalkTree(ctx, st, t, files, func(p repo.Path, v repo.Merge[repo.TreeValue]) error {
		ed.Set(p, v)
		found = true
		return nil
	})
	if err != nil || !found {
		return repo.EmptyTree(), err
	}
	return ed.Write(ctx)
}

// pathSet matches just these files.
type pathSet map[repo.Path]bool

// Match says whether the file is one of them.
func (s pathSet) Match(p repo.Path) bool { return s[p] }

// Visit says whether one of them is below a directory.
func (s pathSet) Visit(dir repo.Path) bool {
	for p := range s {
		if dir.Contains(p) {
			return true
		}
	}
	return false
}

// summaryText is a commit's one line without colours.
func (pr *printer) summaryText(ctx context.Context, c *repo.Commit) (string, error) {
	o := pr.ui.newText()
	err := pr.summary(ctx, o, c)
	return o.String(), err
}
