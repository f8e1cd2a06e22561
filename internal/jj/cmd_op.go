// `jj operation log`, `restore`, `revert` and `integrate`, as jj 0.45.1 has them: --what says whether the repository,
// what is known of remotes, or both go back.

package jj

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/render"
	"tandem/internal/repo/template"
	"tandem/internal/repo/text"
)

func operationCommand() *command {
	what := opt{id: "what", long: "what", value: "WHAT", many: true, values: []string{"repo", "remote-tracking"}}
	shown := append(logDiffOpts(), opt{id: "show-changes-in", long: "show-changes-in", value: "REVSETS", blank: true, diff: true})
	opPos := opt{id: "op", pos: true, value: "OPERATION", required: true}
	return &command{
		name: "operation", alias: []string{"op"},
		subs: []*command{
			{name: "abandon", opts: []opt{opPos}, run: runOpAbandon},
			{name: "diff", opts: append([]opt{
				{id: "operation", long: "operation", alias: []string{"op"}, value: "OPERATION"},
				{id: "from", long: "from", short: "f", value: "FROM", conflicts: []string{"operation"}},
				{id: "to", long: "to", short: "t", value: "TO", conflicts: []string{"operation"}},
				{id: "no-graph", long: "no-graph", short: "G"},
				{id: "patch", long: "patch", short: "p"},
			}, shown...), run: runOpDiff},
			{name: "integrate", opts: []opt{opPos}, run: runOpIntegrate},
			{name: "log", opts: append([]opt{
				{id: "limit", long: "limit", short: "n", value: "LIMIT", check: checkCount},
				{id: "reversed", long: "reversed"},
				{id: "no-graph", long: "no-graph", short: "G"},
				{id: "template", long: "template", short: "T", value: "TEMPLATE"},
				{id: "op-diff", long: "op-diff", short: "d"},
				{id: "patch", long: "patch", short: "p"},
			}, shown...), run: runOpLog},
			{name: "restore", opts: []opt{opPos, what}, run: runOpRestore},
			{name: "revert", opts: []opt{{id: "op", pos: true, value: "OPERATION"}, what}, run: runOpRevert},
			{name: "show", opts: append([]opt{
				{id: "op", pos: true, value: "OPERATION"},
				{id: "no-graph", long: "no-graph", short: "G"},
				{id: "template", long: "template", short: "T", value: "TEMPLATE"},
				{id: "patch", long: "patch", short: "p"},
				{id: "no-op-diff", long: "no-op-diff", conflicts: []string{"patch", diffFormats}},
			}, shown...), run: runOpShow},
		},
	}
}

func whatOf(p *parsed) (local, remotes bool) {
	if !p.has("what") {
		return true, true
	}
	return slices.Contains(p.all("what"), "repo"), slices.Contains(p.all("what"), "remote-tracking")
}

func runOpRestore(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	o, err := w.ops.resolve(ctx, p.str("op"), w.repo)
	if err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	local, remotes := whatOf(p)
	if err := t.restoreView(ctx, o, local, remotes); err != nil {
		return err
	}
	if err := w.print.sayOp(ctx, "Restored to operation: ", o); err != nil {
		return err
	}
	return t.finish(ctx, "restore to operation "+o.ID.Hex())
}

func runOpRevert(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	text := "@"
	if v, ok := p.get("op"); ok {
		text = v
	}
	o, err := w.ops.resolve(ctx, text, w.repo)
	if err != nil {
		return err
	}
	switch len(o.Parents) {
	case 0:
		return userf("Cannot revert root operation")
	case 1:
	default:
		return userf("Cannot revert a merge operation")
	}
	at, err := w.store.At(ctx, o.ID)
	if err != nil {
		return err
	}
	before, err := w.store.At(ctx, o.Parents[0])
	if err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	if err := t.Merge(ctx, at, before); err != nil {
		return err
	}
	local, remotes := whatOf(p)
	if err := t.takeView(ctx, t.View, local, remotes); err != nil {
		return err
	}
	if err := w.print.sayOp(ctx, "Reverted operation: ", o); err != nil {
		return err
	}
	return t.finish(ctx, "revert operation "+o.ID.Hex())
}

func runOpLog(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openForOps(ctx)
	if err != nil {
		return err
	}
	l, err := w.print.language(ctx)
	if err != nil {
		return err
	}
	tmpl, err := w.print.templateOpt(l, p, "op_log", l.Operation)
	if err != nil {
		return err
	}
	symbol, err := w.print.template(l, w.conf.Str("templates.op_log_node"), l.Operation)
	if err != nil {
		return err
	}
	d, err := w.print.logDiffer(p)
	if err != nil {
		return err
	}
	wrap, err := w.conf.Bool("ui.log-word-wrap")
	if err != nil {
		return err
	}
	limit := -1
	if s, ok := p.get("limit"); ok {
		limit, _ = strconv.Atoi(s)
	}
	var ops []*repo.Operation
	if limit != 0 {
		err = repo.WalkOperations(ctx, w.store, []repo.OperationID{w.repo.Operation.ID}, func(o *repo.Operation) (bool, error) {
			ops = append(ops, o)
			return len(ops) != limit, nil
		})
		if err != nil {
			return err
		}
	}
	s := &opShower{pr: w.print, tmpl: tmpl, wrap: wrap}
	if p.has("op-diff") || d != nil {
		s.diff = func(o *text.Text, op *repo.Operation, width int) error {
			if len(op.Parents) > 1 {
				return nil
			}
			return w.print.showOp(ctx, o, op, p, d, width, "op_log")
		}
	}
	w.ui.page(ctx)
	return s.run(ops, symbol, p.has("no-graph"), p.has("reversed"))
}

// openForOps opens the workspace; operations can be listed even where the
// working copy must not be touched.
func (e *env) openForOps(ctx context.Context) (*session, error) {
	if e.global.atOp != "" || e.global.ignoreWorkingCopy {
		return e.openNoSnapshot(ctx)
	}
	return e.open(ctx)
}

type opShower struct {
	pr   *printer
	tmpl *template.Renderer
	wrap bool
	diff func(o *text.Text, op *repo.Operation, width int) error
}

func (s *opShower) text(op *repo.Operation, width int) (*text.Text, error) {
	o := s.pr.ui.newText()
	o.Push("op_log")
	o.Push("operation")
	err := s.tmpl.Render(o, op)
	o.PopN(2)
	if err == nil && s.wrap {
		wrapped := s.pr.ui.newText()
		o.Wrap(wrapped, width)
		o = wrapped
	}
	if err == nil && s.diff != nil {
		err = s.diff(o, op, width)
	}
	return o, err
}

func (s *opShower) run(ops []*repo.Operation, symbol *template.Renderer, plain, reversed bool) error {
	pr := s.pr
	if plain {
		for i := range ops {
			at := i
			if reversed {
				at = len(ops) - 1 - i
			}
			o, err := s.text(ops[at], pr.ui.width())
			if err != nil {
				return err
			}
			if err := pr.ui.print(o); err != nil {
				return err
			}
		}
		return nil
	}
	byID := map[repo.OperationID]*repo.Operation{}
	var nodes []render.Node[repo.OperationID]
	for _, op := range ops {
		byID[op.ID] = op
		n := render.Node[repo.OperationID]{ID: op.ID}
		for _, q := range op.Parents {
			n.Edges = append(n.Edges, render.Edge[repo.OperationID]{To: q})
		}
		nodes = append(nodes, n)
	}
	if reversed {
		nodes = render.Reverse(nodes)
	}
	g := render.NewGraph[repo.OperationID](pr.conf.Str("ui.graph.style"))
	if g == nil {
		return pr.wrongStyle()
	}
	for _, n := range nodes {
		op := byID[n.ID]
		o, err := s.text(op, max(0, pr.ui.width()-g.Width(n.ID, n.Edges)))
		if err != nil {
			return err
		}
		sym, err := pr.coloured(symbol, op, "op_log", "operation", "node")
		if err != nil {
			return err
		}
		var b strings.Builder
		if err := pr.ui.colours.WriteTo(&b, o); err != nil {
			return err
		}
		pr.ui.printf("%s", g.Row(n.ID, n.Edges, sym, b.String()))
	}
	return nil
}

func runOpIntegrate(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return err
	}
	o, err := w.ops.resolve(ctx, p.str("op"), w.repo)
	if err != nil {
		return err
	}
	if err := w.store.PublishHead(o.ID, o.Parents...); err != nil {
		return err
	}
	who, err := w.identity()
	if err != nil {
		return err
	}
	_, merged, err := w.store.Head(ctx, who, repo.MergeOptions{Workspace: w.name, Attributes: map[string]string{"args": w.commandLine()}})
	if err != nil {
		return err
	}
	if merged > 1 {
		w.ui.statusf("The specified operation has been integrated with other existing operations.\n")
	}
	return nil
}
