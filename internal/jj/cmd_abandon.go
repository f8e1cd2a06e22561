// `jj abandon`, as jj 0.45.1 has it: descendants go onto the parents of what is abandoned, bookmarks there are deleted,
// or moved with --retain-bookmarks.

package jj

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

func abandonCommand() *command {
	return &command{
		name: "abandon",
		opts: []opt{
			posRevs("REVSETS"),
			{id: "opt", short: "r", value: "REVSETS", many: true, hidden: true},
			{id: "retain-bookmarks", long: "retain-bookmarks"},
			{id: "restore-descendants", long: "restore-descendants"},
		},
		run: runAbandon,
	}
}

func runAbandon(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	texts := append(append([]string(nil), p.all("pos")...), p.all("opt")...)
	if len(texts) == 0 {
		texts = []string{"@"}
	}
	x, err := w.revs.compileAll(texts)
	if err != nil {
		return err
	}
	all, err := w.revs.ids(ctx, x)
	if err != nil {
		return err
	}
	var ids []repo.CommitID
	for _, id := range all {
		if w.repo.IsVisible(id) {
			ids = append(ids, id)
		}
	}
	if err := w.revs.checkRewritable(ctx, ids...); err != nil {
		return err
	}
	if n := len(all) - len(ids); n > 0 {
		w.ui.statusf("Skipping %d revisions that are already hidden.\n", n)
	}
	if len(ids) == 0 {
		w.ui.statusf("No revisions to abandon.\n")
		return nil
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	restore := p.has("restore-descendants")
	rebased := 0
	o := repo.RebaseOptions{DeleteAbandonedBookmarks: !p.has("retain-bookmarks")}
	err = t.TransformDescendants(ctx, ids, nil, o, func(m *repo.Move) error {
		if slices.Contains(ids, m.Old.ID) {
			t.AbandonTo(m.Old.ID, m.Parents)
			return nil
		}
		rebased++
		if restore {
			d, err := m.Reparent(ctx)
			if err != nil {
				return err
			}
			_, err = t.Write(ctx, d)
			return err
		}
		_, err := m.Rebase(ctx, repo.RebaseOptions{})
		return err
	})
	if err != nil {
		return err
	}
	deleted := t.deletedBookmarks()
	out := w.ui.newText()
	out.Printf("Abandoned %d commits:\n", len(ids))
	cs, err := w.commits(ctx, ids)
	if err != nil {
		return err
	}
	if err := w.print.commitList(ctx, out, cs); err != nil {
		return err
	}
	if len(deleted) > 0 {
		out.Printf("Deleted bookmarks: %s\n", symbols(deleted))
	}
	if rebased > 0 {
		how := ""
		if restore {
			how = " (while preserving their content)"
		}
		out.Printf("Rebased %d descendant commits%s onto parents of abandoned commits.\n", rebased, how)
	}
	w.ui.status(out)
	title := "abandon commit " + ids[0].Hex()
	if len(ids) > 1 {
		title += fmt.Sprintf(" and %d more", len(ids)-1)
	}
	if err := t.finish(ctx, title); err != nil {
		return err
	}
	w.hintDeleted(deleted)
	return nil
}

func symbols(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = revset.FormatSymbol(n)
	}
	return strings.Join(out, ", ")
}

// deletedBookmarks lists the local bookmarks the transaction removed.
func (t *tx) deletedBookmarks() []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(t.Base().View.Bookmarks)) {
		if _, ok := t.View.Bookmarks[name]; !ok {
			out = append(out, name)
		}
	}
	return out
}

// hintDeleted says how to delete bookmarks on remotes too.
func (st *state) hintDeleted(names []string) {
	for _, n := range names {
		for remote, rv := range st.repo.View.Remotes {
			if ref, ok := rv.Bookmarks[n]; ok && ref.Tracked && remote != repo.GitRemote {
				st.ui.hintf("Deleted bookmarks can be pushed by name or all at once with `jj git push --deleted`.")
				return
			}
		}
	}
}
