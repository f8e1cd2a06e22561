// `jj duplicate`, as jj 0.45.1 has it: copies keep descriptions, or what `templates.duplicate_description` makes of
// them, and get change ids of their own.

package jj

import (
	"context"
	"fmt"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

func duplicateCommand() *command {
	opts := []opt{posRevs("REVSETS"), {id: "opt", short: "r", value: "REVSETS", many: true, hidden: true}}
	return &command{
		name: "duplicate",
		opts: append(opts, destinationOpts("")...),
		run:  runDuplicate,
	}
}

func runDuplicate(ctx context.Context, e *env, p *parsed) error {
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
	ids, err := w.revs.ids(ctx, x)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		w.ui.statusf("No revisions to duplicate.\n")
		return nil
	}
	if ids[len(ids)-1] == repo.RootCommitID {
		return userf("Cannot duplicate the root commit")
	}
	placed := p.has("onto") || p.has("insert-after") || p.has("insert-before")
	var parents, children []repo.CommitID
	if placed {
		if parents, children, err = w.revs.location(ctx, p.all("onto"), p.all("insert-after"), p.all("insert-before"),
			"duplicated commits"); err != nil {
			return err
		}
		w.warnSelf(ids, parents, children)
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	texts2, err := w.print.templated(ctx, "templates.duplicate_description", ids)
	if err != nil {
		return err
	}
	made := map[repo.CommitID]*repo.Commit{}
	rebased := 0
	if placed {
		rebased, err = t.duplicateAt(ctx, ids, texts2, parents, children, made)
	} else {
		err = t.duplicateInPlace(ctx, ids, texts2, made)
	}
	if err != nil {
		return err
	}
	o := w.ui.newText()
	for _, id := range slices.Backward(ids) {
		o.Printf("Duplicated %s as ", id.Hex()[:12])
		if err := t.summary(ctx, o, made[id]); err != nil {
			return err
		}
		o.Str("\n")
	}
	w.ui.status(o)
	if rebased > 0 {
		w.ui.statusf("Rebased %d commits onto duplicated commits.\n", rebased)
	}
	return t.finish(ctx, fmt.Sprintf("duplicate %d commit(s)", len(ids)))
}

func (st *state) warnSelf(ids, parents, children []repo.CommitID) {
	for _, id := range ids {
		if slices.ContainsFunc(parents, func(q repo.CommitID) bool { return st.repo.Index.IsAncestor(id, q) }) {
			st.ui.warnf("Duplicating commit %s as a descendant of itself.", id.Hex()[:12])
		}
	}
	for _, id := range ids {
		if slices.ContainsFunc(children, func(q repo.CommitID) bool { return st.repo.Index.IsAncestor(q, id) }) {
			st.ui.warnf("Duplicating commit %s as an ancestor of itself.", id.Hex()[:12])
		}
	}
}

// templated renders a configured template for commits.
func (pr *printer) templated(ctx context.Context, name string, ids []repo.CommitID) (map[repo.CommitID]string, error) {
	l, err := pr.language(ctx)
	if err != nil {
		return nil, err
	}
	r, err := pr.template(l, pr.conf.Str(name), l.Commit)
	if err != nil {
		return nil, err
	}
	out := map[repo.CommitID]string{}
	for _, id := range ids {
		c, err := pr.store.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		o := pr.ui.newText()
		o.Colour = false
		if err := r.Render(o, c); err != nil {
			return nil, err
		}
		out[id] = completeNewline(o.String())
	}
	return out, nil
}

func (t *tx) duplicateInPlace(ctx context.Context, ids []repo.CommitID, texts map[repo.CommitID]string,
	made map[repo.CommitID]*repo.Commit) error {
	for _, id := range slices.Backward(ids) {
		c, err := t.Store.Commit(ctx, id)
		if err != nil {
			return err
		}
		d, err := t.Rewrite(ctx, c)
		if err != nil {
			return err
		}
		d.AsNew()
		t.Renew(d)
		for i, q := range d.Parents {
			if m := made[q]; m != nil {
				d.Parents[i] = m.ID
			}
		}
		d.Description = texts[id]
		if made[id], err = t.Write(ctx, d); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) duplicateAt(ctx context.Context, ids []repo.CommitID, texts map[repo.CommitID]string, parents,
	children []repo.CommitID, made map[repo.CommitID]*repo.Commit) (int, error) {
	targets := newIDSet(ids...)
	con, err := t.rev(ctx).IDs(ctx, revset.DagRange(revset.Commits(ids...), revset.Commits(ids...)))
	if err != nil {
		return 0, err
	}
	connected, err := t.commitsOf(ctx, con)
	if err != nil {
		return 0, err
	}
	inner := internalParents(targets, connected)
	var tops []repo.CommitID
	if len(children) > 0 {
		tops = heads(targets, connected)
	}
	for _, id := range slices.Backward(ids) {
		c, err := t.Store.Commit(ctx, id)
		if err != nil {
			return 0, err
		}
		now := slices.Clone(parents)
		if len(inner[id]) > 0 {
			now = nil
			for _, q := range inner[id] {
				if m := made[q]; m != nil {
					q = m.ID
				}
				now = append(now, q)
			}
		}
		d, err := t.NewMove(c, now).RebaseDraft(ctx, repo.RebaseOptions{})
		if err != nil {
			return 0, err
		}
		d.AsNew()
		t.Renew(d)
		d.Description = texts[id]
		if made[id], err = t.Write(ctx, d); err != nil {
			return 0, err
		}
	}
	for i, id := range tops {
		if m := made[id]; m != nil {
			tops[i] = m.ID
		}
	}
	return t.adopt(ctx, parents, children, tops)
}

// adopt puts children that stood on parents onto new heads, and rebases what
// follows.
func (t *tx) adopt(ctx context.Context, parents, children, tops []repo.CommitID) (int, error) {
	n := 0
	err := t.TransformDescendants(ctx, children, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		if slices.Contains(children, m.Old.ID) {
			now := newIDSet()
			for _, q := range m.Old.Parents {
				if slices.Contains(parents, q) {
					now.add(tops...)
				} else {
					now.add(q)
				}
			}
			now.add(tops...)
			m.Parents = now.list
		}
		n++
		_, err := m.Rebase(ctx, repo.RebaseOptions{})
		return err
	})
	return n, err
}
