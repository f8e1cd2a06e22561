package jj

import (
	"fmt"

	"tandem/internal/repo"
)

func signCommand() *command {
	return &command{
		name: "sign", about: "Cryptographically sign a revision",
		opts: []opt{
			{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true},
			{id: "key", long: "key", value: "KEY"},
		},
		run: func(e *env, p *parsed) error {
			w, err := e.open()
			if err != nil {
				return err
			}
			if w.conf.Str("signing.backend") == "none" {
				return userf("No signing backend configured").
					hinted("For configuring a signing backend, see https://docs.jj-vcs.dev/latest/config/#commit-signing")
			}
			return missing("signing commits")
		},
	}
}

func unsignCommand() *command {
	return &command{
		name: "unsign", about: "Drop a cryptographic signature",
		opts: []opt{{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true}},
		run:  runUnsign,
	}
}

func runUnsign(e *env, p *parsed) error {
	w, err := e.open()
	if err != nil {
		return err
	}
	x, err := w.compileAll(p.all("revisions"))
	if err != nil {
		return err
	}
	if err := w.checkRewritableExpr(x); err != nil {
		return err
	}
	ids, err := w.ids(x)
	if err != nil {
		return err
	}
	cs, err := w.commits(ids)
	if err != nil {
		return err
	}
	signed := newIDSet()
	for _, c := range cs {
		if c.Signed != nil {
			signed.add(c.ID)
		}
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	var done []*repo.Commit
	moved := 0
	err = t.TransformDescendants(signed.list, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		d, err := m.Reparent() // a rewrite has no signature
		if err != nil {
			return err
		}
		c, err := t.Write(d)
		if signed.has[m.Old.ID] {
			done = append(done, c)
		} else {
			moved++
		}
		return err
	})
	if err != nil {
		return err
	}
	others := 0
	for _, c := range done {
		if c.Author.Email != w.conf.Str("user.email") {
			others++
		}
	}
	if len(done) > 0 {
		o := w.ui.newText()
		o.Printf("Unsigned %d commits:\n", len(done))
		l, err := w.newLang(t.now())
		if err != nil {
			return err
		}
		if err := w.commitListWith(l, o, done); err != nil {
			return err
		}
		w.ui.status(o)
	}
	if others > 0 {
		w.ui.warnf("%d of these commits are not authored by you.", others)
	}
	if moved > 0 {
		w.ui.statusf("Rebased %d descendant commits.\n", moved)
	}
	title := ""
	switch {
	case len(done) == 1:
		title = "unsign commit " + done[0].ID.Hex()
	case len(done) > 1:
		title = fmt.Sprintf("unsign commit %s and %d more", done[0].ID.Hex(), len(done)-1)
	}
	return t.finish(title)
}
