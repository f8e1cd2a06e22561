// `jj sign` and `jj unsign`, as jj 0.45.1 has them: by the backend of `signing.backend`; ids change, so descendants are
// written anew.

package jj

import (
	"context"
	"fmt"

	"tandem/internal/repo"
)

func signCommand() *command {
	return &command{
		name: "sign",
		opts: []opt{
			{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true},
			{id: "key", long: "key", value: "KEY"},
		},
		run: runSign,
	}
}

func unsignCommand() *command {
	return &command{
		name: "unsign",
		opts: []opt{{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true}},
		run:  runUnsign,
	}
}

func runSign(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	s, err := w.signer()
	if err != nil {
		return err
	}
	if s.backend == "" {
		return userf("No signing backend configured").
			hinted("For configuring a signing backend, see https://docs.jj-vcs.dev/latest/config/#commit-signing")
	}
	texts := p.all("revisions")
	if len(texts) == 0 {
		texts = []string{w.conf.Str("revsets.sign")}
	}
	cs, err := w.revs.rewritable(ctx, texts)
	if err != nil {
		return err
	}
	return w.resign(ctx, cs, "sign", "Signed", repo.Signing{Force: true, Key: p.str("key")})
}

func runUnsign(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	cs, err := w.revs.rewritable(ctx, p.all("revisions"))
	if err != nil {
		return err
	}
	var signed []*repo.Commit
	for _, c := range cs {
		if c.Signed != nil {
			signed = append(signed, c)
		}
	}
	return w.resign(ctx, signed, "unsign", "Unsigned", repo.Signing{Drop: true})
}

// rewritable is the commits of revsets, all of which may be rewritten.
func (rs *revisions) rewritable(ctx context.Context, texts []string) ([]*repo.Commit, error) {
	x, err := rs.compileAll(texts)
	if err != nil {
		return nil, err
	}
	if err := rs.checkRewritableExpr(ctx, x); err != nil {
		return nil, err
	}
	ids, err := rs.ids(ctx, x)
	if err != nil {
		return nil, err
	}
	return rs.commits(ctx, ids)
}

// resign rewrites commits with another signature, or none, and tells of it.
func (w *session) resign(ctx context.Context, cs []*repo.Commit, verb, past string, how repo.Signing) error {
	chosen := newIDSet()
	for _, c := range cs {
		chosen.add(c.ID)
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	var done []*repo.Commit
	moved, others := 0, 0
	err = t.TransformDescendants(ctx, chosen.list, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		d, err := m.Reparent(ctx)
		if err != nil {
			return err
		}
		if chosen.has[m.Old.ID] {
			d.Signing = how
		}
		c, err := t.Write(ctx, d)
		switch {
		case err != nil:
		case !chosen.has[m.Old.ID]:
			moved++
		default:
			done = append(done, c)
			if c.Author.Email != w.conf.Str("user.email") {
				others++
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	title := ""
	if len(done) > 0 {
		o := w.ui.newText()
		o.Printf("%s %d commits:\n", past, len(done))
		l, err := w.print.newLang(ctx, t.now())
		if err != nil {
			return err
		}
		if err := w.print.commitListWith(l, o, done); err != nil {
			return err
		}
		w.ui.status(o)
		if title = verb + " commit " + done[0].ID.Hex(); len(done) > 1 {
			title += fmt.Sprintf(" and %d more", len(done)-1)
		}
	}
	if others > 0 {
		w.ui.warnf("%d of these commits are not authored by you.", others)
	}
	if moved > 0 {
		w.ui.statusf("Rebased %d descendant commits.\n", moved)
	}
	return t.finish(ctx, title)
}
