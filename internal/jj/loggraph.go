// The graph of a log, as jj 0.45.1 draws it.

package jj

import (
	"context"
	"fmt"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/template"
	"tandem/internal/repo/text"
)

// logKey is a commit in the graph, or the gap above it.
type logKey struct {
	pos    repo.Pos
	elided bool
}

func (s *shower) graph(ctx context.Context, rr *revset.Repo, x *revset.Expr, ps []repo.Pos, limit int, reversed bool,
	seen func(*repo.Commit) error) error {
	pr := s.pr
	nodes, err := pr.logNodes(ctx, rr, x, ps)
	if err != nil {
		return err
	}
	nodes = nodes[:min(limit, len(nodes))]
	if reversed {
		nodes = render.Reverse(nodes)
	}
	g := render.NewGraph[logKey](pr.conf.Str("ui.graph.style"))
	if g == nil {
		return pr.wrongStyle()
	}
	elide, err := pr.conf.Bool("ui.log-synthetic-elided-nodes")
	if err != nil {
		return err
	}
	l, err := pr.language(ctx)
	if err != nil {
		return err
	}
	symbol, err := pr.template(l, pr.conf.Str("templates.log_node"), l.CommitOpt)
	if err != nil {
		return err
	}
	pr.ui.page(ctx)
	i := -1
	for c, err := range pr.ahead(ctx, len(nodes), func(i int) repo.CommitID { return rr.Index.ID(nodes[i].ID) }) {
		if err != nil {
			return err
		}
		i++
		n := nodes[i]
		if err := seen(c); err != nil {
			return err
		}
		edges, gaps := logEdges(n, elide)
		key := logKey{n.ID, false}
		width := max(0, pr.ui.width()-g.Width(key, edges))
		o, err := s.text(c, width)
		if err != nil {
			return err
		}
		if s.diff != nil {
			if err := s.diff.patch(ctx, o, c, s.match, width); err != nil {
				return err
			}
		}
		if err := pr.graphRow(g, key, edges, symbol, c, o); err != nil {
			return err
		}
		for _, to := range gaps {
			o := pr.ui.newText()
			o.Label("elided", "(elided revisions)\n")
			below := []render.Edge[logKey]{{To: logKey{to, false}}}
			if err := pr.graphRow(g, logKey{to, true}, below, symbol, nil, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// linked are commits with their edges to each other.
func linked(rr *revset.Repo, ps []repo.Pos) []render.Node[repo.Pos] {
	links := rr.Links(ps)
	nodes := make([]render.Node[repo.Pos], len(ps))
	for i, q := range ps {
		nodes[i].ID = q
		for _, l := range links[i] {
			kind := render.Direct
			switch {
			case l.Missing:
				kind = render.Missing
			case l.Indirect:
				kind = render.Indirect
			}
			nodes[i].Edges = append(nodes[i].Edges, render.Edge[repo.Pos]{To: l.To, Kind: kind})
		}
	}
	return nodes
}

// logNodes are the selected commits with their edges, branches together.
func (pr *printer) logNodes(ctx context.Context, rr *revset.Repo, x *revset.Expr, ps []repo.Pos) ([]render.Node[repo.Pos], error) {
	nodes := linked(rr, ps)
	prio, err := pr.revs.compile(pr.conf.Str("revsets.log-graph-prioritize"))
	if err != nil {
		return nil, err
	}
	first, err := rr.Positions(ctx, prio)
	if err != nil {
		return nil, err
	}
	in := repo.NewPosSet(rr.Index.Len())
	for _, q := range ps {
		in.Add(q)
	}
	var heads []repo.Pos
	for _, q := range first {
		if in.Has(q) {
			heads = append(heads, q)
		}
	}
	return render.Group(nodes, heads), nil
}

func logEdges(n render.Node[repo.Pos], elide bool) (edges []render.Edge[logKey], gaps []repo.Pos) {
	var lost *render.Edge[logKey]
	for _, e := range n.Edges {
		switch {
		case e.Kind == render.Missing:
			lost = &render.Edge[logKey]{To: logKey{e.To, false}, Kind: render.Missing}
		case e.Kind == render.Indirect && elide:
			gaps = append(gaps, e.To)
			edges = append(edges, render.Edge[logKey]{To: logKey{e.To, true}})
		default:
			edges = append(edges, render.Edge[logKey]{To: logKey{e.To, false}, Kind: e.Kind})
		}
	}
	if lost != nil {
		edges = append(edges, *lost)
	}
	return edges, gaps
}

// graphRow draws a node; self is nil for a gap.
func (pr *printer) graphRow(g *render.Graph[logKey], key logKey, edges []render.Edge[logKey], symbol *template.Renderer, c *repo.Commit,
	o *text.Text) error {
	var self any
	if c != nil {
		self = c
	}
	sym, err := pr.coloured(symbol, self, "log", "commit", "node")
	if err != nil {
		return err
	}
	var b strings.Builder
	if err := pr.ui.colours.WriteTo(&b, o); err != nil {
		return err
	}
	pr.ui.printf("%s", g.Row(key, edges, sym, b.String()))
	return nil
}

// coloured renders a template to a string with colours.
func (pr *printer) coloured(r *template.Renderer, self any, labels ...string) (string, error) {
	o := pr.ui.newText()
	for _, l := range labels {
		o.Push(l)
	}
	if err := r.Render(o, self); err != nil {
		return "", err
	}
	o.PopN(len(labels))
	var b strings.Builder
	err := pr.ui.colours.WriteTo(&b, o)
	return b.String(), err
}

// wrongStyle is the error for a way to draw graphs that does not exist.
func (pr *printer) wrongStyle() error {
	if _, _, err := pr.conf.String("ui.graph.style"); err != nil {
		return pr.conf.Mistyped("ui.graph.style", fmt.Errorf("wanted string or table"))
	}
	return pr.conf.Mistyped("ui.graph.style", fmt.Errorf("unknown variant `%s`, expected one of `ascii`, `ascii-large`, `curved`, `square`",
		pr.conf.Str("ui.graph.style")))
}
