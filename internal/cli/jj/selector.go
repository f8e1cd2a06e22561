package jj

import (
	"tandem/internal/repo"
)

// selector chooses part of a change: the files given, or what a diff editor
// leaves.
type selector struct {
	w    *wsEnv
	tool *diffTool // nil without interaction
}

func (w *wsEnv) selector(tool string, interactive bool) (*selector, error) {
	s := &selector{w: w}
	if tool == "" && !interactive {
		return s, nil
	}
	var err error
	s.tool, err = w.diffEditor(tool)
	return s, err
}

// choose returns the left tree with the chosen changes of the right one.
func (s *selector) choose(left, right repo.MergedTree, match repo.Matcher, instructions func() (string, error)) (repo.MergedTree, error) {
	picked, err := restoreTree(s.w.store, right, left, match)
	if err != nil || s.tool == nil {
		return picked, err
	}
	if picked.SameIDs(left) {
		s.w.ui.warnf("Empty diff - won't run diff editor.")
		return picked, nil
	}
	text, err := instructions()
	if err != nil {
		return left, err
	}
	return s.tool.edit(left, picked, match, text)
}

// restoreTree is dest with the files that match taken from src.
func restoreTree(st repo.Store, src, dest repo.MergedTree, match repo.Matcher) (repo.MergedTree, error) {
	if _, all := match.(repo.Everything); all {
		return src, nil
	}
	if a, ok := match.(interface{ IsAll() bool }); ok && a.IsAll() {
		return src, nil
	}
	ed := repo.EditTree(st, dest)
	n := 0
	err := repo.DiffTrees(st, src, dest, match, func(p repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		ed.Set(p, before)
		n++
		return nil
	})
	if err != nil || n == 0 {
		return dest, err
	}
	return ed.Write()
}

// summaryText is a commit's one line without colours.
func (w *wsEnv) summaryText(c *repo.Commit) (string, error) {
	o := w.ui.newText()
	err := w.summary(o, c)
	return o.String(), err
}
