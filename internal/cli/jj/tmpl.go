package jj

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"tandem/internal/cli/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/template"
	"tandem/internal/repo/text"
)

// baseLanguage is the template language without a repository.
func (e *env) baseLanguage() *template.Language {
	return &template.Language{
		Cwd:         e.io.Dir,
		LocalOffset: sync.OnceValue(e.localOffset),
		Config: func(name string) (any, error) {
			keys, err := config.ParseName(name)
			if err != nil {
				return nil, err
			}
			v := e.conf.Get(keys...)
			if v == nil {
				return nil, nil
			}
			return template.ConfigValue{Value: v.Plain(), TOML: v.Text()}, nil
		},
		Warn: func(err *dsl.Error) {
			e.ui.warnf("In template expression")
			var x error = err
			for x != nil {
				fmt.Fprintln(e.ui.io.Stderr, x)
				u, ok := x.(interface{ Unwrap() error })
				if !ok {
					break
				}
				x = u.Unwrap()
			}
		},
	}
}

// language is the template language over the current state.
func (w *wsEnv) language(ctx context.Context) (*render.Lang, error) {
	if w.lang == nil {
		l, err := w.newLang(ctx, w.repo)
		if err != nil {
			return nil, err
		}
		w.lang = l
	}
	return w.lang, nil
}

func (w *wsEnv) newLang(ctx context.Context, r *repo.Repo) (*render.Lang, error) {
	prefixes := w.prefixes
	if r != w.repo {
		prefixes = w.newPrefixes(ctx, r)
	}
	rr := w.revRepo(ctx, r, prefixes)
	opts, err := w.diffOptions(nil)
	if err != nil {
		return nil, err
	}
	l := &render.Lang{
		Repo: rr, Workspace: w.name, UserEmail: w.conf.Str("user.email"), Paths: w.paths(), Diff: opts,
		Base: w.baseLanguage(), CurrentOp: w.repo.Operation.ID,
	}
	l.GitContext = func() (int, error) {
		n, _, err := w.conf.Int("diff.git.context")
		return int(n), err
	}
	signs, err := w.signer()
	if err != nil {
		return nil, err
	}
	l.Verify = signs.verify
	var fixed repo.PosSet
	l.Immutable = func(id repo.CommitID) (bool, error) {
		if fixed == nil {
			x, err := w.protectedExpr()
			if err != nil {
				return false, err
			}
			if fixed, err = rr.Set(ctx, x); err != nil {
				return false, err
			}
		}
		p, ok := rr.Index.Pos(id)
		return ok && fixed.Has(p), nil
	}
	l.Contained = func(t string) (func(repo.CommitID) (bool, error), error) {
		x, err := revset.Compile(t, w.scope())
		if err != nil {
			return nil, err
		}
		set, err := rr.Set(ctx, x)
		if err != nil {
			return nil, err
		}
		return func(id repo.CommitID) (bool, error) {
			p, ok := rr.Index.Pos(id)
			return ok && set.Has(p), nil
		}, nil
	}
	l.Files = func(t string) (*fileset.Set, error) {
		n, err := fileset.Parse(t)
		if err != nil {
			return nil, err
		}
		if n, err = w.filesetAliases.Expand(n, nil); err != nil {
			return nil, err
		}
		return fileset.Resolve(n, w.paths())
	}
	l.WorkspaceRoot = func(name string) (string, error) {
		p, err := w.workspacePath(name)
		if err != nil || p == "" {
			return "", err
		}
		if r, err := filepath.EvalSymlinks(p); err == nil {
			if _, serr := os.Stat(r); serr == nil {
				return r, nil
			}
		}
		return "", nil
	}
	l.WebURL = w.webURL
	l.Bind(ctx)
	return l, nil
}

// template builds a template given as text.
func (w *wsEnv) template(l *render.Lang, source string, self *template.Type) (*template.Renderer, error) {
	aliases, err := w.templateAliases()
	if err != nil {
		return nil, err
	}
	r, err := template.Build(l.Base, aliases, source, self)
	if err != nil {
		return nil, parseError("template", err)
	}
	return r, nil
}

// templateOpt is -T or the configured template.
func (w *wsEnv) templateOpt(l *render.Lang, p *parsed, name string, self *template.Type) (*template.Renderer, error) {
	text, ok := p.get("template")
	if !ok {
		var err error
		if text, _, err = w.conf.String("templates." + name); err != nil {
			return nil, err
		}
	}
	return w.template(l, text, self)
}

// summary writes a commit's one line.
func (w *wsEnv) summary(ctx context.Context, o *text.Text, c *repo.Commit) error {
	l, err := w.language(ctx)
	if err != nil {
		return err
	}
	return w.summaryWith(l, o, c)
}

func (w *wsEnv) summaryWith(l *render.Lang, o *text.Text, c *repo.Commit) error {
	r, err := w.template(l, w.conf.Str("templates.commit_summary"), l.Commit)
	if err != nil {
		return err
	}
	o.Push("commit")
	err = r.Render(o, c)
	o.Pop()
	return err
}
