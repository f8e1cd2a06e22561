// What changed between two operations, as jj 0.45.1 shows it.

package jj

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/text"
)

// opDiff shows what changed between two states of the repository.
type opDiff struct {
	pr       *printer
	from, to *repo.Repo
	all      *repo.Repo // to, with an index that knows the commits of both
	lang     *render.Lang
	in       string // the revset of changes to show
	fromArg  bool   // in was given on the command line
	labels   []string
	differ   *differ
	plain    bool
	width    int
}

// newOpDiff prepares the comparison.
func (pr *printer) newOpDiff(ctx context.Context, from, to *repo.Repo, p *parsed, d *differ, labels ...string) (*opDiff, error) {
	who, err := pr.identity()
	if err != nil {
		return nil, err
	}
	t := to.Begin(who)
	if err := t.AddHeads(ctx, from.View.HeadIDs()); err != nil {
		return nil, err
	}
	all := &repo.Repo{Store: to.Store, Operation: to.Operation, View: to.View, Index: t.Index}
	l, err := pr.newLang(ctx, all)
	if err != nil {
		return nil, err
	}
	x := &opDiff{pr: pr, from: from, to: to, all: all, lang: l, labels: labels, differ: d, plain: p.has("no-graph"), width: pr.ui.width()}
	x.in, x.fromArg = p.get("show-changes-in")
	if !x.fromArg {
		x.in = pr.conf.Str("revsets.op-diff-changes-in")
	}
	return x, nil
}

// modified is a commit that appeared, with what it replaces, or one that went.
type modified struct {
	commit *repo.Commit
	before []*repo.Commit
	gone   bool
}

type commitsDiff struct {
	changes        map[repo.CommitID]*modified
	hidden, elided int // newly visible and newly hidden commits that are not shown
}

func (x *opDiff) commits(ctx context.Context) (*commitsDiff, error) {
	pr := x.pr
	e, err := revset.Compile(x.in, pr.revs.scope())
	if err != nil {
		if x.fromArg {
			return nil, userf("Invalid `--show-changes-in` expression: %s", x.in).because(err)
		}
		return nil, configf(err, "Invalid `revsets.op-diff-changes-in`")
	}
	inFrom, err := pr.revs.revRepo(ctx, x.from, pr.revs.newPrefixes(ctx, x.from)).Set(ctx, e)
	if err != nil {
		return nil, &unresolved{err}
	}
	inTo, err := pr.revs.revRepo(ctx, x.to, pr.revs.newPrefixes(ctx, x.to)).Set(ctx, e)
	if err != nil {
		return nil, &unresolved{err}
	}
	rr := pr.revs.revRepo(ctx, x.all, nil)
	old, now := revset.Commits(x.from.View.HeadIDs()...), revset.Commits(x.to.View.HeadIDs()...)
	appeared, err := rr.IDs(ctx, revset.Range(old, now))
	if err != nil {
		return nil, err
	}
	gone, err := rr.IDs(ctx, revset.Range(now, old))
	if err != nil {
		return nil, err
	}
	out := &commitsDiff{changes: map[repo.CommitID]*modified{}}
	abandoned := map[repo.CommitID]bool{}
	byChange := map[repo.ChangeID]repo.CommitID{}
	for _, id := range gone {
		if p, ok := x.from.Index.Pos(id); !ok || !inFrom.Has(p) {
			out.elided++
			continue
		}
		c, err := pr.store.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		if _, ok := byChange[c.ChangeID]; !ok {
			byChange[c.ChangeID] = id
		}
		abandoned[id] = true
	}
	olds, err := pr.ops.predecessorsBetween(ctx, x.to.Operation, x.from.Operation)
	if err != nil {
		return nil, err
	}
	for _, id := range appeared {
		if p, ok := x.to.Index.Pos(id); !ok || !inTo.Has(p) {
			out.hidden++
			continue
		}
		c, err := pr.store.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		prev, ok := olds[id]
		if !ok {
			if id, ok := byChange[c.ChangeID]; ok {
				prev = []repo.CommitID{id}
			}
		}
		m := &modified{commit: c}
		for _, id := range prev {
			delete(abandoned, id)
		}
		if m.before, err = pr.commits(ctx, prev); err != nil {
			return nil, err
		}
		out.changes[id] = m
	}
	for id := range abandoned {
		c, err := pr.store.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		out.changes[id] = &modified{commit: c, gone: true}
	}
	return out, nil
}

// unresolved is a revset that one of the states does not understand.
type unresolved struct{ error }

// show writes the comparison.
func (x *opDiff) show(ctx context.Context, o *text.Text) error {
	diff, err := x.commits(ctx)
	if u, ok := err.(*unresolved); ok {
		o.Str("\n")
		o.Label("warning", "Warning: Could not resolve revset expression for elision: "+u.Error()+"\n")
		o.Str("   (Use --show-changes-in=all() to see all changes)\n")
	} else if err != nil {
		return err
	} else if len(diff.changes) > 0 || diff.hidden > 0 || diff.elided > 0 {
		if err := x.showCommits(ctx, o, diff); err != nil {
			return err
		}
	}
	return x.showRefs(ctx, o)
}

func (x *opDiff) showCommits(ctx context.Context, o *text.Text, diff *commitsDiff) error {
	o.Str("\nChanged commits:\n")
	rr := x.pr.revs.revRepo(ctx, x.all, nil)
	ps, err := rr.Positions(ctx, revset.Commits(slices.Collect(maps.Keys(diff.changes))...))
	if err != nil {
		return err
	}
	if x.plain {
		for _, p := range ps {
			if err := x.change(ctx, o, diff.changes[x.all.Index.ID(p)], x.width); err != nil {
				return err
			}
		}
	} else if err := x.graph(ctx, o, rr, ps, diff); err != nil {
		return err
	}
	var parts []string
	if diff.hidden > 0 {
		parts = append(parts, fmt.Sprintf("%d newly added", diff.hidden))
	}
	if diff.elided > 0 {
		parts = append(parts, fmt.Sprintf("%d newly removed", diff.elided))
	}
	if len(parts) > 0 {
		o.Str("   (Elided " + strings.Join(parts, " and ") + " revisions)\n")
	}
	return nil
}

func (x *opDiff) graph(ctx context.Context, o *text.Text, rr *revset.Repo, ps []repo.Pos, diff *commitsDiff) error {
	g := render.NewGraph[repo.Pos](x.pr.conf.Str("ui.graph.style"))
	if g == nil {
		return x.pr.wrongStyle()
	}
	for _, n := range render.Group(linked(rr, ps), nil) {
		n.Edges = slices.DeleteFunc(n.Edges, func(e render.Edge[repo.Pos]) bool { return e.Kind == render.Missing })
		t := x.pr.ui.newText()
		if err := x.change(ctx, t, diff.changes[x.all.Index.ID(n.ID)], max(0, x.width-g.Width(n.ID, n.Edges))); err != nil {
			return err
		}
		var b strings.Builder
		if err := x.pr.ui.colours.WriteTo(&b, t); err != nil {
			return err
		}
		o.Raw(g.Row(n.ID, n.Edges, "○", b.String()))
	}
	return nil
}

func (x *opDiff) summary(o *text.Text, c *repo.Commit) error {
	r, err := x.pr.template(x.lang, x.pr.conf.Str("templates.commit_summary"), x.lang.Commit)
	if err != nil {
		return err
	}
	for _, l := range x.labels {
		o.Push(l)
	}
	o.Push("commit")
	err = r.Render(o, c)
	o.PopN(len(x.labels) + 1)
	return err
}

// mark writes the plus or minus before a line.
func mark(o *text.Text, added bool) {
	o.Push("diff")
	if added {
		o.Label("added", "+")
	} else {
		o.Label("removed", "-")
	}
	o.Pop()
	o.Str(" ")
}

func (x *opDiff) change(ctx context.Context, o *text.Text, m *modified, width int) error {
	line := func(c *repo.Commit, added bool) error {
		mark(o, added)
		if err := x.summary(o, c); err != nil {
			return err
		}
		o.Str("\n")
		return nil
	}
	if err := line(m.commit, !m.gone); err != nil {
		return err
	}
	for _, c := range m.before {
		if err := line(c, false); err != nil {
			return err
		}
	}
	switch {
	case x.differ == nil:
		return nil
	case m.gone:
		return x.differ.patch(ctx, o, m.commit, repo.Everything{}, width)
	}
	return x.differ.interDiff(ctx, o, x.lang, m.before[:min(1, len(m.before))], m.commit, repo.Everything{}, width)
}
