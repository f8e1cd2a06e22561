// `jj show`, as jj 0.45.1 has it: description and diff of commits by `templates.show`.

package jj

import (
	"context"
	"slices"

	"tandem/internal/repo"
)

func showCommand() *command {
	opts := []opt{
		posRevs("REVSETS"),
		{id: "opt", short: "r", value: "REVSETS", many: true, hidden: true},
		{id: "reversed", long: "reversed"},
		{id: "template", long: "template", short: "T", value: "TEMPLATE"},
	}
	return &command{
		name: "show",
		opts: append(append(opts, diffFormatOpts()...), opt{id: "no-patch", long: "no-patch", diff: true, conflicts: []string{diffFormats}}),
		run:  runShow,
	}
}

func runShow(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	texts := p.inOrder("pos", "opt")
	if texts == nil {
		texts = []string{"@"}
	}
	cs, err := w.revs.evalCommits(ctx, texts...)
	if err != nil {
		return err
	}
	if p.has("reversed") {
		slices.Reverse(cs)
	}
	l, err := w.print.language(ctx)
	if err != nil {
		return err
	}
	r, err := w.print.templateOpt(l, p, "show", l.Commit)
	if err != nil {
		return err
	}
	d, err := w.print.differFor(p)
	if err != nil {
		return err
	}
	w.ui.page(ctx)
	for _, c := range cs {
		o := w.ui.newText()
		o.Push("show")
		o.Push("commit")
		if err := r.Render(o, c); err != nil {
			return err
		}
		o.PopN(2)
		if !p.has("no-patch") {
			if err := d.patch(ctx, o, c, repo.Everything{}, w.ui.width()); err != nil {
				return err
			}
		}
		if err := w.ui.print(o); err != nil {
			return err
		}
	}
	return nil
}
