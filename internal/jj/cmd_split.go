// `jj split`, as jj 0.45.1 has it: the chosen part first, then the rest, in a row or side by side. Where bookmarks stay
// is said by `split.legacy-bookmark-behavior`.

package jj

import (
	"context"
	"slices"

	"tandem/internal/repo"
)

func splitCommand() *command {
	opts := []opt{
		{id: "interactive", long: "interactive", short: "i"},
		{id: "tool", long: "tool", value: "NAME"},
		{id: "revision", long: "revision", short: "r", value: "REVSET"},
	}
	opts = append(opts, destinationOpts("")...)
	for i := range opts {
		if opts[i].id == "onto" || opts[i].id == "insert-after" || opts[i].id == "insert-before" {
			opts[i].conflicts = append(opts[i].conflicts, "parallel")
		}
	}
	return &command{
		name: "split",
		opts: append(opts,
			opt{id: "message", long: "message", short: "m", value: "MESSAGE", many: true},
			opt{id: "editor", long: "editor"},
			opt{id: "parallel", long: "parallel", short: "p"},
			opt{id: "pos", pos: true, many: true, value: "FILESETS"}),
		run: runSplit,
	}
}

type split struct {
	w                 *session
	t                 *tx
	p                 *parsed
	k                 chosen
	moved             bool
	parents, children []repo.CommitID
}

func runSplit(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	s := &split{w: w, p: p, moved: p.has("onto") || p.has("insert-after") || p.has("insert-before")}
	text := "@"
	if v, ok := p.get("revision"); ok {
		text = v
	}
	if s.k.c, err = w.revs.single(ctx, text); err != nil {
		return err
	}
	if err := w.revs.checkRewritable(ctx, s.k.c.ID); err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	sel, err := w.tools.selector(p.str("tool"), p.has("interactive") || !p.has("pos"))
	if err != nil {
		return err
	}
	if s.moved {
		if s.parents, s.children, err = w.revs.location(ctx, p.all("onto"), p.all("insert-after"), p.all("insert-before"),
			"split-out commit"); err != nil {
			return err
		}
	}
	if s.k.parent, err = repo.ParentTree(ctx, w.store, w.repo.Index, s.k.c); err != nil {
		return err
	}
	if err := w.warnUnmatched(ctx, set, s.k.parent, s.k.c.Tree); err != nil {
		return err
	}
	if s.t, err = w.begin(); err != nil {
		return err
	}
	s.k.picked, err = sel.chooseOf(ctx, s.k.c, s.k.parent, set, func() (string, error) {
		one, err := w.print.summaryText(ctx, s.k.c)
		return "You are splitting a commit into two: " + one + "\n\n" +
			"The diff initially shows the changes in the commit you're splitting.\n\n" +
			"Adjust the right side until it shows the contents you want to split into the\nnew commit.\n" +
			"The changes that are not selected will replace the original commit.\n", err
	})
	if err != nil {
		return err
	}
	if s.k.picked.SameIDs(s.k.c.Tree) {
		w.ui.warnf("All changes have been selected, so the original revision will become empty.")
	} else if s.k.picked.SameIDs(s.k.parent) {
		w.ui.warnf("No changes have been selected, so the new revision will be empty.")
	}
	return s.run(ctx)
}

func (s *split) run(ctx context.Context) error {
	w, t := s.w, s.t
	first, err := s.first(ctx)
	if err != nil {
		return err
	}
	second, err := s.second(ctx, first)
	if err != nil {
		return err
	}
	n := 0
	if s.moved {
		first, second, n, err = s.moveFirst(ctx, first, second)
	} else {
		n, err = s.descendants(ctx, first, second)
	}
	if err != nil {
		return err
	}
	o := w.ui.newText()
	if n > 0 {
		o.Printf("Rebased %d descendant commits.\n", n)
	}
	o.Str("Selected changes : ")
	if err := t.summary(ctx, o, first); err != nil {
		return err
	}
	o.Str("\nRemaining changes: ")
	if err := t.summary(ctx, o, second); err != nil {
		return err
	}
	o.Str("\n")
	w.ui.status(o)
	return t.finish(ctx, "split commit "+s.k.c.ID.Hex())
}

func (s *split) first(ctx context.Context) (*repo.Commit, error) {
	t, p := s.t, s.p
	d, err := t.Rewrite(ctx, s.k.c)
	if err != nil {
		return nil, err
	}
	d.Tree = s.k.picked
	if s.moved {
		d.AsNew()
		t.Renew(d)
	}
	edit := !p.has("message") || p.has("editor")
	if p.has("message") {
		d.Description = joinParagraphs(p.all("message"))
	}
	if d.Description != "" || edit {
		if d.Description, err = t.withTrailers(ctx, d); err != nil {
			return nil, err
		}
	}
	if edit {
		text, err := t.descriptionText(ctx, "Enter a description for the selected changes.", d)
		if err != nil {
			return nil, err
		}
		if d.Description, err = s.w.editDescription(ctx, text); err != nil {
			return nil, err
		}
	}
	return t.Write(ctx, d)
}

func (s *split) second(ctx context.Context, first *repo.Commit) (*repo.Commit, error) {
	t, p := s.t, s.p
	d, err := t.Rewrite(ctx, s.k.c)
	if err != nil {
		return nil, err
	}
	if p.has("parallel") {
		before, after, err := t.labelledAs(ctx, s.k, "parents of split revision", "selected changes for split", "split revision")
		if err != nil {
			return nil, err
		}
		if d.Tree, err = repo.MergeMergedTrees(ctx, t.Store,
			repo.Labelled{Tree: s.k.c.Tree, Label: "split revision (" + s.k.c.ConflictLabel() + ")"}, after, before); err != nil {
			return nil, err
		}
	} else {
		d.Parents = []repo.CommitID{first.ID}
	}
	edit := p.has("editor")
	if !s.moved {
		d.AsNew()
		t.Renew(d)
	}
	if s.k.c.Description != "" {
		edit = edit || !p.has("message")
	}
	if edit {
		if d.Description, err = t.withTrailers(ctx, d); err != nil {
			return nil, err
		}
		text, err := t.descriptionText(ctx, "Enter a description for the remaining changes.", d)
		if err != nil {
			return nil, err
		}
		if d.Description, err = s.w.editDescription(ctx, text); err != nil {
			return nil, err
		}
	}
	return t.Write(ctx, d)
}

// descendants moves what stood on the commit onto its parts.
func (s *split) descendants(ctx context.Context, first, second *repo.Commit) (int, error) {
	t := s.t
	legacy, err := s.w.conf.Bool("split.legacy-bookmark-behavior")
	if err != nil {
		return 0, err
	}
	if legacy {
		t.SetRewritten(s.k.c.ID, second.ID)
	}
	parallel := s.p.has("parallel")
	n := 0
	err = t.TransformDescendants(ctx, []repo.CommitID{s.k.c.ID}, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		n++
		from, to := first.ID, []repo.CommitID{second.ID}
		if parallel {
			to = []repo.CommitID{first.ID, second.ID}
			if legacy {
				from = second.ID
			}
		}
		now := newIDSet()
		for _, q := range m.Parents {
			if q == from {
				now.add(to...)
			} else {
				now.add(q)
			}
		}
		m.Parents = now.list
		_, err := m.Rebase(ctx, repo.RebaseOptions{})
		return err
	})
	if err != nil {
		return 0, err
	}
	var names []string
	for name, id := range t.Base().View.Workspaces {
		if id == s.k.c.ID {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if err := t.Edit(ctx, name, second); err != nil {
			return 0, err
		}
	}
	return n, nil
}

// moveFirst puts the selected part where it was asked for.
func (s *split) moveFirst(ctx context.Context, first, second *repo.Commit) (*repo.Commit, *repo.Commit, int, error) {
	t := s.t
	now := map[repo.CommitID]repo.CommitID{s.k.c.ID: second.ID}
	err := t.TransformDescendants(ctx, []repo.CommitID{s.k.c.ID}, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		c, err := m.Rebase(ctx, repo.RebaseOptions{})
		if err == nil {
			now[m.Old.ID] = c.ID
		}
		return err
	})
	if err != nil {
		return nil, nil, 0, err
	}
	follow := func(ids []repo.CommitID) []repo.CommitID {
		out := slices.Clone(ids)
		for i, id := range out {
			if n, ok := now[id]; ok {
				out[i] = n
			}
		}
		return out
	}
	m, err := t.planMove(ctx, []repo.CommitID{first.ID}, false, follow(s.parents), follow(s.children))
	if err != nil {
		return nil, nil, 0, err
	}
	moved := map[repo.CommitID]*repo.Commit{}
	err = t.TransformDescendants(ctx, m.startIDs(), m.planned, repo.RebaseOptions{}, func(mv *repo.Move) error {
		if !mv.ParentsChanged() {
			return nil
		}
		c, err := mv.Rebase(ctx, repo.RebaseOptions{})
		if err == nil && c != nil {
			moved[mv.Old.ID] = c
		}
		return err
	})
	if err != nil {
		return nil, nil, 0, err
	}
	fresh := 1
	if c := moved[first.ID]; c != nil {
		first = c
		fresh++
	}
	if c := moved[second.ID]; c != nil {
		second = c
	}
	twice := 0
	for _, id := range now {
		if moved[id] != nil {
			twice++
		}
	}
	return first, second, len(now) + len(moved) - fresh - twice, nil
}
