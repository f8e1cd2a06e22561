// `jj squash`, as jj 0.45.1 has it: a source that is emptied is abandoned unless --keep-emptied; both descriptions are
// joined in an editor when neither is empty.

package jj

import (
	"context"
	"fmt"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
)

func squashCommand() *command {
	return &command{
		name: "squash",
		opts: []opt{
			{id: "revision", long: "revision", short: "r", value: "REVSET",
				conflicts: []string{"from", "into", "onto", "insert-after", "insert-before"}},
			{id: "from", long: "from", short: "f", value: "REVSETS", many: true},
			{id: "into", long: "into", short: "t", alias: []string{"to"}, value: "REVSET"},
			{id: "onto", long: "onto", short: "o", alias: []string{"destination", "d"}, value: "REVSETS", many: true, conflicts: []string{"into"}},
			{id: "insert-after", long: "insert-after", short: "A", alias: []string{"after"}, value: "REVSETS", many: true,
				conflicts: []string{"onto", "into"}},
			{id: "insert-before", long: "insert-before", short: "B", alias: []string{"before"}, value: "REVSETS", many: true,
				conflicts: []string{"onto", "into"}},
			{id: "message", long: "message", short: "m", value: "MESSAGE", many: true},
			{id: "use-destination-message", long: "use-destination-message", short: "u", conflicts: []string{"message"}},
			{id: "editor", long: "editor"},
			{id: "interactive", long: "interactive", short: "i"},
			{id: "tool", long: "tool", value: "NAME"},
			{id: "pos", pos: true, many: true, value: "FILESETS"},
			{id: "keep-emptied", long: "keep-emptied", short: "k"},
		},
		run: runSquash,
	}
}

// squash is one run of the command.
type squash struct {
	w       *session
	p       *parsed
	t       *tx
	sources []*repo.Commit
	dest    *repo.Commit
	insert  bool
	rebased int
}

func runSquash(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	s := &squash{w: w, p: p, insert: p.has("onto") || p.has("insert-after") || p.has("insert-before")}
	if err := s.resolve(ctx); err != nil {
		return err
	}
	var ids []repo.CommitID
	for _, c := range s.sources {
		ids = append(ids, c.ID)
	}
	check := ids
	title := fmt.Sprintf("squash %d commits", len(ids))
	if s.dest != nil {
		check = append(slices.Clone(ids), s.dest.ID)
		title = "squash commits into " + s.dest.ID.Hex()
	} else if len(ids) == 1 {
		title = "squash commit " + ids[0].Hex()
	} else if len(ids) > 1 {
		title = fmt.Sprintf("squash commit %s and %d more", ids[0].Hex(), len(ids)-1)
	}
	if err := w.revs.checkRewritable(ctx, check...); err != nil {
		return err
	}
	if s.t, err = w.begin(); err != nil {
		return err
	}
	if s.insert {
		if err := s.insertDestination(ctx); err != nil {
			return err
		}
	}
	if err := s.run(ctx); err != nil {
		return err
	}
	return s.t.finish(ctx, title)
}

func (s *squash) resolve(ctx context.Context) error {
	w, p := s.w, s.p
	if p.has("from") || p.has("into") || s.insert {
		texts := p.all("from")
		if len(texts) == 0 {
			texts = []string{"@"}
		}
		cs, err := w.revs.evalCommits(ctx, texts...)
		if err != nil {
			return err
		}
		if !s.insert {
			into := "@"
			if v, ok := p.get("into"); ok {
				into = v
			}
			if s.dest, err = w.revs.single(ctx, into); err != nil {
				return err
			}
			cs = slices.DeleteFunc(cs, func(c *repo.Commit) bool { return c.ID == s.dest.ID })
		}
		slices.Reverse(cs)
		s.sources = cs
		return nil
	}
	text := "@"
	if v, ok := p.get("revision"); ok {
		text = v
	}
	c, err := w.revs.single(ctx, text)
	if err != nil {
		if ce, ok := err.(*cmdError); ok && len(ce.hints) > 0 && ce.hints[0].rich != nil {
			ce.hinted("--revision must resolve to a single revision. Use --from and --into instead if you want to squash multiple revisions.")
		}
		return err
	}
	if len(c.Parents) != 1 {
		return userf("Cannot squash merge commits without a specified destination").hinted("Use `--into` to specify which parent to squash into")
	}
	s.sources = []*repo.Commit{c}
	s.dest, err = w.store.Commit(ctx, c.Parents[0])
	return err
}

// insertDestination makes an empty commit to squash into.
func (s *squash) insertDestination(ctx context.Context) error {
	t, p := s.t, s.p
	parents, children, err := s.w.revs.location(ctx, p.all("onto"), p.all("insert-after"), p.all("insert-before"), "squashed commit")
	if err != nil {
		return err
	}
	pcs, err := s.w.commits(ctx, parents)
	if err != nil {
		return err
	}
	tree, err := repo.ParentsTree(ctx, t.Store, t.Index, pcs)
	if err != nil {
		return err
	}
	if s.dest, err = t.Write(ctx, t.NewCommit(parents, tree)); err != nil {
		return err
	}
	now := map[repo.CommitID]*repo.Commit{}
	err = t.TransformDescendants(ctx, children, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		ps := newIDSet()
		for _, q := range m.Parents {
			if slices.Contains(parents, q) {
				ps.add(s.dest.ID)
			} else {
				ps.add(q)
			}
		}
		if slices.Contains(children, m.Old.ID) {
			ps.add(s.dest.ID)
		}
		m.Parents = ps.list
		c, err := m.Rebase(ctx, repo.RebaseOptions{})
		now[m.Old.ID] = c
		s.rebased++
		return err
	})
	for i, c := range s.sources {
		if n := now[c.ID]; n != nil {
			s.sources[i] = n
		}
	}
	return err
}

// chosen is a source with the part of it that is moved.
type chosen struct {
	c              *repo.Commit
	parent, picked repo.MergedTree
	abandon        bool
}

func (s *squash) run(ctx context.Context) error {
	w, t, p := s.w, s.t, s.p
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	sel, err := w.tools.selector(p.str("tool"), p.has("interactive"))
	if err != nil {
		return err
	}
	var picks []chosen
	var trees []repo.MergedTree
	for _, c := range s.sources {
		parent, err := repo.ParentTree(ctx, t.Store, t.Index, c)
		if err != nil {
			return err
		}
		picked, err := sel.chooseOf(ctx, c, parent, set, func() (string, error) { return s.instructions(ctx, c) })
		if err != nil {
			return err
		}
		trees = append(trees, picked)
		pk := chosen{c: c, parent: parent, picked: picked}
		pk.abandon = !p.has("keep-emptied") && picked.SameIDs(c.Tree)
		if pk.abandon || !picked.SameIDs(parent) {
			picks = append(picks, pk)
		}
	}
	if err := w.warnUnmatched(ctx, set, trees...); err != nil {
		return err
	}
	if len(picks) == 0 {
		return s.nothing(ctx, sel)
	}
	return s.combine(ctx, picks)
}

func (s *squash) instructions(ctx context.Context, c *repo.Commit) (string, error) {
	a, err := s.w.print.summaryText(ctx, c)
	if err != nil {
		return "", err
	}
	o := s.w.ui.newText()
	if err := s.t.summary(ctx, o, s.dest); err != nil {
		return "", err
	}
	return "You are moving changes from: " + a + "\ninto commit: " + o.String() + "\n\n" +
		"The left side of the diff shows the contents of the parent commit. The\n" +
		"right side initially shows the contents of the commit you're moving\n" +
		"changes from.\n\n" +
		"Adjust the right side until the diff shows the changes you want to move\n" +
		"to the destination. If you don't make any changes, then all the changes\n" +
		"from the source will be moved into the destination.\n", nil
}

func (s *squash) nothing(ctx context.Context, sel *selector) error {
	if sel.tool != nil {
		return userf("No changes selected")
	}
	if err := s.say(ctx, s.dest, s.rebased); err != nil {
		return err
	}
	args := s.p.all("pos")
	if len(args) == 1 && !s.p.has("revision") && !s.p.has("from") && !s.p.has("into") {
		if _, err := revset.Compile(args[0], s.w.revs.scope()); err == nil {
			s.w.ui.warnf("The argument %q is being interpreted as a fileset expression. To specify a revset, pass -r %q instead.", args[0], args[0])
		}
	}
	return nil
}

func (s *squash) say(ctx context.Context, c *repo.Commit, rebased int) error {
	if s.insert {
		o := s.w.ui.newText()
		o.Str("Created new commit ")
		if err := s.t.summary(ctx, o, c); err != nil {
			return err
		}
		o.Str("\n")
		s.w.ui.status(o)
	}
	if rebased > 0 {
		s.w.ui.statusf("Rebased %d descendant commits.\n", rebased)
	}
	return nil
}

// labelled is the change of a source as two terms of a merge.
func (t *tx) labelled(ctx context.Context, k chosen) (before, after repo.Labelled, err error) {
	return t.labelledAs(ctx, k, "parents of squashed revision", "selected changes for squash", "squashed revision")
}

func (t *tx) labelledAs(ctx context.Context, k chosen, parents, selected, whole string) (before, after repo.Labelled, err error) {
	label, err := render.ParentsLabel(ctx, t.Store, k.c)
	if err != nil {
		return before, after, err
	}
	before = repo.Labelled{Tree: k.parent, Label: label + " (" + parents + ")"}
	after = repo.Labelled{Tree: k.picked, Label: selected + " (from " + k.c.ConflictLabel() + ")"}
	if k.picked.SameIDs(k.c.Tree) {
		after.Label = k.c.ConflictLabel() + " (" + whole + ")"
	}
	return before, after, nil
}

func (s *squash) combine(ctx context.Context, picks []chosen) error {
	t := s.t
	var abandoned []*repo.Commit
	preds := []repo.CommitID{s.dest.ID}
	terms := []repo.Labelled{}
	for _, k := range picks {
		before, after, err := t.labelled(ctx, k)
		if err != nil {
			return err
		}
		terms = append(terms, before, after)
		preds = append(preds, k.c.ID)
		if k.abandon {
			t.Abandon(k.c)
			abandoned = append(abandoned, k.c)
			continue
		}
		d, err := t.Rewrite(ctx, k.c)
		if err != nil {
			return err
		}
		if d.Tree, err = repo.MergeMergedTrees(ctx, t.Store, repo.Labelled{Tree: k.c.Tree, Label: k.c.ConflictLabel()}, after,
			before); err != nil {
			return err
		}
		if _, err := t.Write(ctx, d); err != nil {
			return err
		}
	}
	dest := s.dest
	if slices.ContainsFunc(s.sources, func(c *repo.Commit) bool { return t.Index.IsAncestor(c.ID, s.dest.ID) }) {
		_, err := t.RebaseDescendants(ctx, repo.RebaseOptions{Rebased: func(old, now *repo.Commit) {
			if old.ID == s.dest.ID && now != nil {
				dest = now
			}
		}})
		if err != nil {
			return err
		}
	}
	tree, err := repo.MergeMergedTrees(ctx, t.Store, append([]repo.Labelled{{Tree: dest.Tree,
		Label: s.dest.ConflictLabel() + " (squash destination)"}}, terms...)...)
	if err != nil {
		return err
	}
	d, err := t.Rewrite(ctx, dest)
	if err != nil {
		return err
	}
	d.Tree, d.Predecessors = tree, preds
	if d.Description, err = s.describe(ctx, d, abandoned); err != nil {
		return err
	}
	if s.insert {
		d.Predecessors = slices.DeleteFunc(preds, func(id repo.CommitID) bool { return id == s.dest.ID })
	}
	c, err := t.Write(ctx, d)
	if err != nil {
		return err
	}
	n, err := t.RebaseDescendants(ctx, repo.RebaseOptions{})
	if err != nil {
		return err
	}
	return s.say(ctx, c, n)
}
