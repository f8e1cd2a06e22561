// `jj parallelize`, as jj 0.45.1 has it: siblings on the parents of the first, children on all of them.

package jj

import (
	"context"
	"fmt"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

func parallelizeCommand() *command {
	return &command{
		name: "parallelize",
		opts: []opt{posRevs("REVSETS"), {id: "opt", short: "r", value: "REVSETS", many: true, hidden: true}},
		run:  runParallelize,
	}
}

func runParallelize(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	cs, err := w.revs.evalCommits(ctx, append(append([]string(nil), p.all("pos")...), p.all("opt")...)...)
	if err != nil {
		return err
	}
	// Each target gets the parents outside of the set that it descends from;
	// children get all targets they descended from.
	own, below := map[repo.CommitID][]repo.CommitID{}, map[repo.CommitID][]repo.CommitID{}
	var ids, touched []repo.CommitID
	for _, c := range slices.Backward(cs) {
		var now []repo.CommitID
		under := newIDSet()
		for _, q := range c.Parents {
			if grand, ok := own[q]; ok {
				now = append(now, grand...)
				touched = append(touched, c.ID)
			} else {
				now = append(now, q)
			}
			under.add(below[q]...)
		}
		under.add(c.ID)
		own[c.ID], below[c.ID] = now, under.list
	}
	for _, c := range cs {
		if ids = append(ids, c.ID); c.ID == repo.RootCommitID {
			touched = append(touched, c.ID) // it has no parents to change
		}
	}
	if err := w.revs.checkRewritable(ctx, touched...); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	err = t.TransformDescendants(ctx, ids, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		if now, ok := own[m.Old.ID]; ok {
			if err := t.followParents(m, now); err != nil {
				return err
			}
		} else if slices.ContainsFunc(m.Old.Parents, func(q repo.CommitID) bool { return below[q] != nil }) {
			var now []repo.CommitID
			for _, q := range m.Old.Parents {
				if b, ok := below[q]; ok {
					now = append(now, b...)
				} else {
					now = append(now, q)
				}
			}
			if err := t.followParents(m, now); err != nil {
				return err
			}
		}
		if !m.ParentsChanged() {
			return nil
		}
		_, err := m.Rebase(ctx, repo.RebaseOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return t.finish(ctx, fmt.Sprintf("parallelize %d commits", len(ids)))
}

// followParents sets a move's parents to what commits have become meanwhile.
func (t *tx) followParents(m *repo.Move, ids []repo.CommitID) error {
	now, err := t.NewParents(ids)
	m.Parents = now
	return err
}

func simplifyParentsCommand() *command {
	return &command{
		name: "simplify-parents",
		opts: []opt{
			{id: "source", long: "source", short: "s", value: "REVSETS", many: true},
			{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true},
		},
		run: runSimplifyParents,
	}
}

func runSimplifyParents(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	var x *revset.Expr
	if !p.has("source") && !p.has("revisions") {
		x, err = w.revs.compile(w.conf.Str("revsets.simplify-parents"))
	} else {
		var a, b *revset.Expr
		if a, err = w.revs.compileAll(p.all("source")); err == nil {
			b, err = w.revs.compileAll(p.all("revisions"))
			x = revset.Union(revset.Descendants(a), b)
		}
	}
	if err != nil {
		return err
	}
	ids, err := w.revs.ids(ctx, x)
	if err != nil {
		return err
	}
	if err := w.revs.checkRewritable(ctx, ids...); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	simplified, edges, others := 0, 0, 0
	err = t.TransformDescendants(ctx, ids, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		before := len(m.Parents)
		if slices.Contains(ids, m.Old.ID) && before > 1 {
			m.SimplifyAncestorMerge()
		}
		if !m.ParentsChanged() {
			return nil
		}
		if n := before - len(m.Parents); n > 0 {
			simplified++
			edges += n
		} else {
			others++
		}
		d, err := m.Reparent(ctx)
		if err != nil {
			return err
		}
		_, err = t.Write(ctx, d)
		return err
	})
	if err != nil {
		return err
	}
	if simplified > 0 {
		w.ui.statusf("Removed %d edges from %d out of %d commits.\n", edges, simplified, len(ids))
		if others > 0 {
			w.ui.statusf("Rebased %d descendant commits.\n", others)
		}
	}
	return t.finish(ctx, fmt.Sprintf("simplify %d commits", len(ids)))
}
