// `jj evolog`, as jj 0.45.1 has it: predecessors come from the operations; an operation that recorded none, as those of
// an older jj, ends the walk.

package jj

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
	"tandem/internal/repo/text"
)

func evologCommand() *command {
	opts := []opt{
		{id: "revisions", long: "revisions", short: "r", alias: []string{"revision"}, value: "REVSETS", many: true},
		{id: "limit", long: "limit", short: "n", value: "LIMIT", check: checkCount},
		{id: "reversed", long: "reversed"},
		{id: "no-graph", long: "no-graph", short: "G"},
		{id: "template", long: "template", short: "T", value: "TEMPLATE"},
		{id: "patch", long: "patch", short: "p"},
	}
	return &command{
		name: "evolog", alias: []string{"evolution-log"},
		opts: append(opts, logDiffOpts()...),
		run:  runEvolog,
	}
}

// evolution lists the versions that commits came from, latest first.
func (st *state) evolution(ctx context.Context, start []repo.CommitID) ([]render.EvolutionEntry, error) {
	var out []render.EvolutionEntry
	visit := slices.Clone(start)
	emit := func(id repo.CommitID, op *repo.Operation) error {
		c, err := st.store.Commit(ctx, id)
		if err != nil {
			return err
		}
		e := render.EvolutionEntry{Commit: c, Operation: op}
		if op != nil {
			if e.Predecessors, err = st.commits(ctx, op.Predecessors[id]); err != nil {
				return err
			}
		}
		out = append(out, e)
		return nil
	}
	err := repo.WalkOperations(ctx, st.store, []repo.OperationID{st.repo.Operation.ID}, func(op *repo.Operation) (bool, error) {
		if op.Predecessors == nil {
			return false, nil
		}
		var made []repo.CommitID
		for i := 0; i < len(visit); {
			prev, ok := op.Predecessors[visit[i]]
			switch {
			case !ok:
				i++
			case slices.Contains(made, visit[i]):
				visit = slices.Delete(visit, i, i+1)
			default:
				made = append(made, visit[i])
				visit = slices.Replace(visit, i, i+1, prev...)
			}
		}
		order, err := newestFirst(made, op.Predecessors)
		if err != nil {
			return false, err
		}
		for _, id := range order {
			if err := emit(id, op); err != nil {
				return false, err
			}
		}
		return len(visit) > 0, nil
	})
	if err != nil {
		return nil, err
	}
	for _, id := range visit {
		if err := emit(id, nil); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newestFirst puts commits before the ones they replace within one operation.
func newestFirst(ids []repo.CommitID, prev map[repo.CommitID][]repo.CommitID) ([]repo.CommitID, error) {
	if len(ids) < 2 {
		return ids, nil
	}
	var out []repo.CommitID
	state := map[repo.CommitID]int{}
	var walk func(id repo.CommitID) error
	walk = func(id repo.CommitID) error {
		switch state[id] {
		case 1:
			return fmt.Errorf("Predecessors cycle detected around commit %s", id.Hex())
		case 2:
			return nil
		}
		state[id] = 1
		for _, p := range prev[id] {
			if err := walk(p); err != nil {
				return err
			}
		}
		state[id] = 2
		if _, ok := prev[id]; ok {
			out = append(out, id)
		}
		return nil
	}
	for _, id := range slices.Backward(ids) {
		if err := walk(id); err != nil {
			return nil, err
		}
	}
	slices.Reverse(out)
	return out, nil
}

func runEvolog(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	texts := p.all("revisions")
	if len(texts) == 0 {
		texts = []string{"@"}
	}
	x, err := w.revs.compileAll(texts)
	if err != nil {
		return err
	}
	ids, err := w.revs.ids(ctx, x)
	if err != nil {
		return err
	}
	d, err := w.print.logDiffer(p)
	if err != nil {
		return err
	}
	l, err := w.print.language(ctx)
	if err != nil {
		return err
	}
	tmpl, err := w.print.templateOpt(l, p, "evolog", l.Evolution)
	if err != nil {
		return err
	}
	symbol, err := w.print.template(l, w.conf.Str("templates.log_node"), l.CommitOpt)
	if err != nil {
		return err
	}
	entries, err := w.evolution(ctx, ids)
	if err != nil {
		return err
	}
	limit := len(entries)
	if s, ok := p.get("limit"); ok {
		n, _ := strconv.Atoi(s)
		limit = min(limit, n)
	}
	show := func(en render.EvolutionEntry, width int) (*text.Text, error) {
		o := w.ui.newText()
		o.Push("evolog")
		err := tmpl.Render(o, en)
		o.Pop()
		if err == nil && d != nil {
			err = d.interDiff(ctx, o, l, en.Predecessors, en.Commit, repo.Everything{}, width)
		}
		return o, err
	}
	w.ui.page(ctx)
	if p.has("no-graph") {
		entries = entries[:limit]
		if p.has("reversed") {
			slices.Reverse(entries)
		}
		for _, en := range entries {
			o, err := show(en, w.ui.width())
			if err != nil {
				return err
			}
			if err := w.ui.print(o); err != nil {
				return err
			}
		}
		return nil
	}
	byID := map[repo.CommitID]render.EvolutionEntry{}
	var nodes []render.Node[repo.CommitID]
	for _, en := range entries {
		byID[en.Commit.ID] = en
		n := render.Node[repo.CommitID]{ID: en.Commit.ID}
		for _, q := range en.Predecessors {
			n.Edges = append(n.Edges, render.Edge[repo.CommitID]{To: q.ID})
		}
		nodes = append(nodes, n)
	}
	nodes = render.Group(nodes, nil)
	nodes = nodes[:min(limit, len(nodes))]
	if p.has("reversed") {
		nodes = render.Reverse(nodes)
	}
	g := render.NewGraph[repo.CommitID](w.conf.Str("ui.graph.style"))
	if g == nil {
		return w.print.wrongStyle()
	}
	for _, n := range nodes {
		en := byID[n.ID]
		o, err := show(en, max(0, w.ui.width()-g.Width(n.ID, n.Edges)))
		if err != nil {
			return err
		}
		sym, err := w.print.coloured(symbol, en.Commit, "evolog", "commit", "node")
		if err != nil {
			return err
		}
		var b strings.Builder
		if err := w.ui.colours.WriteTo(&b, o); err != nil {
			return err
		}
		w.ui.printf("%s", g.Row(n.ID, n.Edges, sym, b.String()))
	}
	return nil
}

// interDiff shows how a commit differs from earlier versions of it.
func (d *differ) interDiff(ctx context.Context, o *text.Text, l *render.Lang, from []*repo.Commit, to *repo.Commit,
	match repo.Matcher, width int) error {
	if err := d.descriptionDiff(o, from, to); err != nil {
		return err
	}
	df, err := l.InterDiff(ctx, from, to, match)
	if err != nil {
		return err
	}
	return d.show(ctx, o, df, width)
}

func interdiffCommand() *command {
	opts := []opt{
		{id: "from", long: "from", short: "f", value: "REVSET", group: "to_diff"},
		{id: "to", long: "to", short: "t", value: "REVSET", group: "to_diff"},
		{id: "pos", pos: true, many: true, value: "FILESETS"},
	}
	return &command{
		name:   "interdiff",
		groups: []group{{id: "to_diff", required: true, multiple: true}},
		opts:   append(opts, diffFormatOpts()...),
		run: func(ctx context.Context, e *env, p *parsed) error {
			w, err := e.open(ctx)
			if err != nil {
				return err
			}
			from, err := w.revs.single(ctx, p.or("from", "@"))
			if err != nil {
				return err
			}
			to, err := w.revs.single(ctx, p.or("to", "@"))
			if err != nil {
				return err
			}
			set, err := w.revs.fileArgs(p.all("pos"))
			if err != nil {
				return err
			}
			var trees []repo.MergedTree
			for _, c := range []*repo.Commit{from, to} {
				pt, err := repo.ParentTree(ctx, w.store, w.repo.Index, c)
				if err != nil {
					return err
				}
				trees = append(trees, pt, c.Tree)
			}
			if err := w.warnUnmatched(ctx, set, trees...); err != nil {
				return err
			}
			d, err := w.print.differFor(p)
			if err != nil {
				return err
			}
			l, err := w.print.language(ctx)
			if err != nil {
				return err
			}
			w.ui.page(ctx)
			o := w.ui.newText()
			if err := d.interDiff(ctx, o, l, []*repo.Commit{from}, to, set, w.ui.width()); err != nil {
				return err
			}
			return w.ui.print(o)
		},
	}
}

// descriptionDiff shows how the description changed, in the formats that show
// contents.
func (d *differ) descriptionDiff(o *text.Text, from []*repo.Commit, to *repo.Commit) error {
	terms := repo.Merge[string]{""}
	if len(from) > 0 {
		terms = nil
		for i, c := range from {
			if i > 0 {
				terms = append(terms, "")
			}
			terms = append(terms, c.Description)
		}
		terms = terms.Simplify()
	}
	before, ok := terms.AsResolved()
	if ok && before == to.Description {
		return nil
	}
	if !ok {
		fc := &repo.FileConflict{}
		for _, t := range terms {
			fc.Contents = append(fc.Contents, []byte(t))
		}
		style, err := d.pr.markerStyle()
		if err != nil {
			return err
		}
		before = string(fc.Materialize(style, repo.MarkerLen(fc.Contents)))
	}
	o.Push("diff")
	defer o.Pop()
	for _, f := range d.formats {
		opts, err := d.opts(f)
		if err != nil {
			return err
		}
		df := &render.Diff{Opts: opts}
		switch f {
		case "git":
			o.Label("file_header", "diff --git a/JJ-COMMIT-DESCRIPTION b/JJ-COMMIT-DESCRIPTION\n--- JJ-COMMIT-DESCRIPTION\n"+
				"+++ JJ-COMMIT-DESCRIPTION\n")
			df.UnifiedText(o, []byte(before), []byte(to.Description))
		case "color-words":
			o.Label("header", "Modified commit description:\n")
			df.WordsText(o, []byte(before), []byte(to.Description))
		}
	}
	return nil
}
