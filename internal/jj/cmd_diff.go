// `jj diff` and `jj interdiff`, as jj 0.45.1 has them: of revisions against their parents, or between two. Several
// revisions have to be connected.

package jj

import (
	"context"
	"tandem/internal/repo"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
)

func diffCommand() *command {
	opts := []opt{
		{id: "revisions", long: "revisions", short: "r", alias: []string{"revision"}, value: "REVSETS", many: true},
		{id: "from", long: "from", short: "f", value: "REVSET", conflicts: []string{"revisions"}},
		{id: "to", long: "to", short: "t", value: "REVSET", conflicts: []string{"revisions"}},
		{id: "pos", pos: true, many: true, value: "FILESETS"},
		{id: "template", long: "template", short: "T", value: "TEMPLATE", conflicts: []string{"short-format", "long-format", "tool"}, diff: true},
	}
	return &command{
		name: "diff",
		opts: append(opts, diffFormatOpts()...),
		run:  runDiff,
	}
}

func runDiff(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	s, err := w.revs.diffSides(ctx, p)
	if err != nil {
		return err
	}
	from, to := s.from, s.to
	copies, err := render.CopiesBetween(ctx, w.store, s.parents, s.heads, set)
	if err != nil {
		return err
	}
	df := &render.Diff{Store: w.store, From: from, To: to, Match: set, Copies: copies, Paths: w.paths()}
	w.ui.page(ctx)
	o := w.ui.newText()
	if p.has("template") {
		l, err := w.print.language(ctx)
		if err != nil {
			return err
		}
		r, err := w.print.template(l, p.str("template"), l.TreeDiffEntry)
		if err != nil {
			return err
		}
		es, err := df.Entries(ctx)
		if err != nil {
			return err
		}
		o.Push("diff")
		for _, en := range es {
			if err := r.Render(o, en); err != nil {
				return err
			}
		}
		o.Pop()
	} else {
		d, err := w.print.differFor(p)
		if err != nil {
			return err
		}
		if err := d.show(ctx, o, df, w.ui.width()); err != nil {
			return err
		}
	}
	if err := w.ui.print(o); err != nil {
		return err
	}
	return w.warnUnmatched(ctx, set, from, to)
}

// diffSides are the two sides of a diff: the trees, and the commits they are
// made of, among which copies are looked for.
type diffSides struct {
	from, to       repo.MergedTree
	parents, heads []*repo.Commit
}

func (rs *revisions) diffSides(ctx context.Context, p *parsed) (s diffSides, err error) {
	if p.has("from") || p.has("to") {
		at := func(id string) (*repo.Commit, error) {
			if s, ok := p.get(id); ok {
				return rs.single(ctx, s)
			}
			return rs.single(ctx, "@")
		}
		a, err := at("from")
		if err != nil {
			return s, err
		}
		b, err := at("to")
		if err != nil {
			return s, err
		}
		return diffSides{a.Tree, b.Tree, []*repo.Commit{a}, []*repo.Commit{b}}, nil
	}
	texts := p.all("revisions")
	if len(texts) == 0 {
		texts = []string{"@"}
	}
	x, err := rs.compileAll(texts)
	if err != nil {
		return s, err
	}
	rr := rs.rev(ctx)
	ids, err := rr.IDs(ctx, x)
	if err != nil {
		return s, err
	}
	set := revset.Commits(ids...)
	gaps, err := rr.IDs(ctx, revset.Minus(revset.Range(revset.Roots(set), revset.Heads(set)), set))
	if err != nil {
		return s, err
	}
	if len(gaps) > 0 {
		return s, userf("Cannot diff revsets with gaps in.").hinted("Revision %s would need to be in the set.", gaps[0].Hex()[:12])
	}
	heads, err := rr.IDs(ctx, revset.Heads(set))
	if err != nil {
		return s, err
	}
	roots, err := rr.IDs(ctx, revset.Roots(set))
	if err != nil {
		return s, err
	}
	hc, err := rs.commits(ctx, heads)
	if err != nil {
		return s, err
	}
	rc, err := rs.commits(ctx, roots)
	if err != nil {
		return s, err
	}
	seen := map[repo.CommitID]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	var parents []*repo.Commit
	for _, c := range rc {
		ps, err := rs.commits(ctx, c.Parents)
		if err != nil {
			return s, err
		}
		for _, q := range ps {
			if !seen[q.ID] {
				seen[q.ID] = true
				parents = append(parents, q)
			}
		}
	}
	tree := func(cs []*repo.Commit) (repo.MergedTree, error) {
		if len(cs) == 0 {
			return repo.EmptyTree(), nil
		}
		return repo.ParentsTree(ctx, rs.store, rs.repo.Index, cs)
	}
	s.parents, s.heads = parents, hc
	if s.from, err = tree(parents); err != nil {
		return s, err
	}
	s.to, err = tree(hc)
	return s, err
}
