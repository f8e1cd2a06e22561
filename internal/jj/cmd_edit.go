// `jj edit`, as jj 0.45.1 has it: the workspace moves to an existing commit; the one it leaves is abandoned when it is
// empty and has no description.

package jj

import "context"

func editCommand() *command {
	return &command{
		name:   "edit",
		groups: []group{{id: "revision", required: true}},
		opts: []opt{
			{id: "pos", pos: true, value: "REVSET", group: "revision"},
			{id: "opt", short: "r", value: "REVSET", group: "revision"},
		},
		run: func(ctx context.Context, e *env, p *parsed) error {
			w, err := e.open(ctx)
			if err != nil {
				return err
			}
			text := p.str("pos")
			if !p.has("pos") {
				text = p.str("opt")
			}
			c, err := w.revs.single(ctx, text)
			if err != nil {
				return err
			}
			if err := w.revs.checkRewritable(ctx, c.ID); err != nil {
				return err
			}
			if w.repo.View.Workspaces[w.name] == c.ID {
				w.ui.statusf("Already editing that commit.\n")
				return nil
			}
			t, err := w.begin()
			if err != nil {
				return err
			}
			if err := t.Edit(ctx, w.name, c); err != nil {
				return err
			}
			return t.finish(ctx, "edit commit "+c.ID.Hex())
		},
	}
}
