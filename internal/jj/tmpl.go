package jj

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/template"
	"tandem/internal/repo/text"
)

// printer shows commits, operations, differences and what a command did, by the
// templates and settings. It changes nothing.
type printer struct {
	*state
	ops   *opLog
	revs  *revisions
	tools *toolbox
	lang  *render.Lang // over the current state, once it was asked for
}

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
func (pr *printer) language(ctx context.Context) (*render.Lang, error) {
	if pr.lang == nil {
		l, err := pr.newLang(ctx, pr.repo)
		if err != nil {
			return nil, err
		}
		pr.lang = l
	}
	return pr.lang, nil
}

func (pr *printer) newLang(ctx context.Context, r *repo.Repo) (*render.Lang, error) {
	prefixes := pr.revs.prefixes
	if r != pr.repo {
		prefixes = pr.revs.newPrefixes(ctx, r)
	}
	rr := pr.revs.revRepo(ctx, r, prefixes)
	opts, err := pr.diffOptions(nil)
	if err != nil {
		return nil, err
	}
	l := &render.Lang{
		Repo: rr, Workspace: pr.name, UserEmail: pr.conf.Str("user.email"), Paths: pr.paths(), Diff: opts,
		Base: pr.baseLanguage(), CurrentOp: pr.repo.Operation.ID,
	}
	l.GitContext = func() (int, error) {
		n, _, err := pr.conf.Int("diff.git.context")
		return int(n), err
	}
	signs, err := pr.signer()
	if err != nil {
		return nil, err
	}
	l.Verify = signs.verify
	var fixed repo.PosSet
	l.Immutable = func(id repo.CommitID) (bool, error) {
		if fixed == nil {
			x, err := pr.revs.protectedExpr()
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
		x, err := revset.Compile(t, pr.revs.scope())
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
		if n, err = pr.revs.filesetAliases.Expand(n, nil); err != nil {
			return nil, err
		}
		return fileset.Resolve(n, pr.paths())
	}
	l.WorkspaceRoot = func(name string) (string, error) {
		p, err := pr.workspacePath(name)
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
	l.WebURL = pr.webURL
	l.Bind(ctx)
	return l, nil
}

// template builds a template given as text.
func (pr *printer) template(l *render.Lang, source string, self *template.Type) (*template.Renderer, error) {
	aliases, err := pr.templateAliases()
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
func (pr *printer) templateOpt(l *render.Lang, p *parsed, name string, self *template.Type) (*template.Renderer, error) {
	text, ok := p.get("template")
	if !ok {
		var err error
		if text, _, err = pr.conf.String("templates." + name); err != nil {
			return nil, err
		}
	}
	return pr.template(l, text, self)
}

// summary writes a commit's one line.
func (pr *printer) summary(ctx context.Context, o *text.Text, c *repo.Commit) error {
	l, err := pr.language(ctx)
	if err != nil {
		return err
	}
	return pr.summaryWith(l, o, c)
}

func (pr *printer) summaryWith(l *render.Lang, o *text.Text, c *repo.Commit) error {
	r, err := pr.template(l, pr.conf.Str("templates.commit_summary"), l.Commit)
	if err != nil {
		return err
	}
	o.Push("commit")
	err = r.Render(o, c)
	o.Pop()
	return err
}
