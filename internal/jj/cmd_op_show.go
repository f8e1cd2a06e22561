// `jj operation show` and `diff`, as jj 0.45.1 has them: predecessors pair what was before with what is now.

package jj

import (
	"context"
	"maps"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/text"
)

// before is the repository as it was before an operation. The root has nothing
// before it.
func (l *opLog) before(ctx context.Context, op *repo.Operation) (*repo.Repo, error) {
	switch len(op.Parents) {
	case 0:
		return l.store.At(ctx, op.ID)
	case 1:
		return l.store.At(ctx, op.Parents[0])
	}
	return nil, missing("comparing with several operations at once")
}

func runOpShow(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openForOps(ctx)
	if err != nil {
		return err
	}
	op, err := w.ops.resolve(ctx, p.or("op", "@"), w.repo)
	if err != nil {
		return err
	}
	l, err := w.print.language(ctx)
	if err != nil {
		return err
	}
	tmpl, err := w.print.templateOpt(l, p, "op_show", l.Operation)
	if err != nil {
		return err
	}
	d, err := w.print.logDiffer(p)
	if err != nil {
		return err
	}
	o := w.ui.newText()
	o.Push("op_show")
	o.Push("operation")
	err = tmpl.Render(o, op)
	o.PopN(2)
	if err != nil {
		return err
	}
	if !p.has("no-op-diff") && len(op.Parents) < 2 {
		if err := w.print.showOp(ctx, o, op, p, d, w.ui.width(), "op_show"); err != nil {
			return err
		}
	}
	w.ui.page(ctx)
	return w.ui.print(o)
}

// showOp writes what one operation did.
func (pr *printer) showOp(ctx context.Context, o *text.Text, op *repo.Operation, p *parsed, d *differ, width int, label string) error {
	from, err := pr.ops.before(ctx, op)
	if err != nil {
		return err
	}
	to, err := pr.store.At(ctx, op.ID)
	if err != nil {
		return err
	}
	x, err := pr.newOpDiff(ctx, from, to, p, d, label)
	if err != nil {
		return err
	}
	x.width = width
	return x.show(ctx, o)
}

func runOpDiff(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openForOps(ctx)
	if err != nil {
		return err
	}
	var from, to *repo.Repo
	if p.has("from") || p.has("to") {
		a, err := w.ops.resolve(ctx, p.or("from", "@"), w.repo)
		if err != nil {
			return err
		}
		b, err := w.ops.resolve(ctx, p.or("to", "@"), w.repo)
		if err != nil {
			return err
		}
		if from, err = w.store.At(ctx, a.ID); err != nil {
			return err
		}
		if to, err = w.store.At(ctx, b.ID); err != nil {
			return err
		}
	} else {
		op, err := w.ops.resolve(ctx, p.or("operation", "@"), w.repo)
		if err != nil {
			return err
		}
		if from, err = w.ops.before(ctx, op); err != nil {
			return err
		}
		if to, err = w.store.At(ctx, op.ID); err != nil {
			return err
		}
	}
	d, err := w.print.logDiffer(p)
	if err != nil {
		return err
	}
	l, err := w.print.language(ctx)
	if err != nil {
		return err
	}
	r, err := w.print.template(l, w.conf.Str("templates.op_summary"), l.Operation)
	if err != nil {
		return err
	}
	x, err := w.print.newOpDiff(ctx, from, to, p, d, "op_diff")
	if err != nil {
		return err
	}
	o := w.ui.newText()
	heads := []struct {
		title string
		op    *repo.Operation
	}{{"From operation: ", from.Operation}, {"  To operation: ", to.Operation}}
	if len(to.Operation.Parents) == 0 && from.Operation.ID == to.Operation.ID && !p.has("from") {
		heads = heads[1:]
	}
	for _, h := range heads {
		o.Str(h.title)
		o.Push("op_diff")
		o.Push("operation")
		err := r.Render(o, h.op)
		o.PopN(2)
		if err != nil {
			return err
		}
		o.Str("\n")
	}
	if err := x.show(ctx, o); err != nil {
		return err
	}
	w.ui.page(ctx)
	return w.ui.print(o)
}

// predecessorsBetween says which commits of the older operation those of the
// newer came from, over all operations between.
func (l *opLog) predecessorsBetween(ctx context.Context, now, old *repo.Operation) (map[repo.CommitID][]repo.CommitID, error) {
	edges := map[repo.CommitID][]repo.CommitID{}
	if !(len(now.Parents) == 1 && now.Parents[0] == old.ID) {
		back := map[repo.CommitID][]repo.CommitID{}
		if ok, err := l.collectPredecessors(ctx, old, now, back); err != nil || !ok {
			return nil, err
		}
		for _, id := range slices.Sorted(maps.Keys(back)) {
			for _, p := range back[id] {
				edges[p] = append(edges[p], id)
			}
		}
	}
	ok, err := l.collectPredecessors(ctx, now, old, edges)
	if err != nil || !ok {
		return nil, err
	}
	out := map[repo.CommitID][]repo.CommitID{}
	state := map[repo.CommitID]bool{}
	var resolve func(id repo.CommitID) []repo.CommitID
	resolve = func(id repo.CommitID) []repo.CommitID {
		if r, ok := out[id]; ok {
			return r
		}
		if state[id] {
			return nil // a cycle ends here
		}
		state[id] = true
		var all []repo.CommitID
		for _, p := range edges[id] {
			if _, more := edges[p]; !more {
				all = append(all, p)
				continue
			}
			all = append(all, resolve(p)...)
		}
		var unique []repo.CommitID
		for _, p := range all {
			if !slices.Contains(unique, p) {
				unique = append(unique, p)
			}
		}
		out[id] = unique
		return unique
	}
	for id := range edges {
		resolve(id)
	}
	return out, nil
}

// collectPredecessors gathers what operations that lead to one, but not to
// another, recorded. It is false when one of them recorded nothing.
func (l *opLog) collectPredecessors(ctx context.Context, to, from *repo.Operation, into map[repo.CommitID][]repo.CommitID) (bool, error) {
	known := map[repo.OperationID]bool{}
	err := repo.WalkOperations(ctx, l.store, []repo.OperationID{from.ID}, func(o *repo.Operation) (bool, error) {
		known[o.ID] = true
		return true, nil
	})
	if err != nil {
		return false, err
	}
	all := true
	err = repo.WalkOperations(ctx, l.store, []repo.OperationID{to.ID}, func(o *repo.Operation) (bool, error) {
		if known[o.ID] {
			return true, nil
		}
		if o.Predecessors == nil {
			all = false
			return false, nil
		}
		maps.Copy(into, o.Predecessors)
		return true, nil
	})
	return all, err
}
