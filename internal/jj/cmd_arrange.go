// `jj arrange`, as jj 0.45.1 has it: what may be arranged is checked here; the screen itself is left to stock jj.

package jj

import (
	"context"
	"tandem/internal/repo/revset"
)

func arrangeCommand() *command {
	return &command{
		name: "arrange",
		opts: []opt{posRevs("REVSETS"), {id: "opt", short: "r", value: "REVSETS", many: true, hidden: true}},
		run:  runArrange,
	}
}

// runArrange looks at what is to be arranged. The screen itself is stock jj's.
func runArrange(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	texts := p.inOrder("pos", "opt")
	if texts == nil {
		text, _, err := w.conf.String("revsets.arrange")
		if err != nil {
			return err
		}
		texts = []string{text}
	}
	x, err := w.revs.compileAll(texts)
	if err != nil {
		return err
	}
	if err := w.revs.checkRewritableExpr(ctx, x); err != nil {
		return err
	}
	gaps, err := w.revs.ids(ctx, revset.Minus(revset.DagRange(x, x), x))
	if err != nil {
		return err
	}
	if len(gaps) > 0 {
		return userf("Cannot arrange revset with gaps in.").hinted("Revision %s would need to be in the set.", gaps[0].Hex()[:12])
	}
	ids, err := w.revs.ids(ctx, x)
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		w.ui.statusf("No revisions to arrange.\n")
		return nil
	}
	return missing("the screen of `jj arrange`")
}
