package jj

import (
	"fmt"
	"os"
	"path/filepath"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/template"
)

// env is one run of the program: where it runs, its settings, and, once
// opened, the workspace.
type env struct {
	io     *IO
	ui     *ui
	args   []string // after aliases
	global *globals
	conf   *config.Stack
	who    *repo.Identity
	signs  *signer
	layers []config.Layer // before conditions are applied
	ws     *place

	tmplAliases *dsl.Aliases
	made        []made // operations, so far
}

// place is where a workspace lies.
type place struct {
	root    string // the workspace's folder
	repoDir string // .jj/repo, followed when it is a file
	err     error
}

// findWorkspace looks for .jj upwards from the directory or at the one given.
func (e *env) findWorkspace(at string) {
	dir := e.io.Dir
	if at != "" {
		dir = at
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(e.io.Dir, dir)
		}
		if r, err := filepath.EvalSymlinks(dir); err == nil {
			dir = r
		}
		if st, err := os.Stat(filepath.Join(dir, ".jj")); err == nil && st.IsDir() {
			e.ws = openPlace(dir)
		}
		return
	}
	for {
		if st, err := os.Stat(filepath.Join(dir, ".jj")); err == nil && st.IsDir() {
			e.ws = openPlace(dir)
			return
		}
		up := filepath.Dir(dir)
		if up == dir {
			return
		}
		dir = up
	}
}

func openPlace(root string) *place {
	p := &place{root: root, repoDir: filepath.Join(root, ".jj", "repo")}
	st, err := os.Stat(p.repoDir)
	if err != nil || st.IsDir() {
		p.err = err
		return p
	}
	data, err := os.ReadFile(p.repoDir)
	if err != nil {
		p.err = err
		return p
	}
	target := string(data)
	if !filepath.IsAbs(target) {
		target = filepath.Join(root, ".jj", target)
	}
	p.repoDir = filepath.Clean(target)
	return p
}

// noRepo is the error for a directory without a workspace.
func (e *env) noRepo() error {
	shown := "."
	if e.global != nil && e.global.repository != "" {
		shown = e.global.repository
	}
	err := userf("There is no jj repo in %q", shown)
	dir := e.io.Dir
	if e.global != nil && e.global.repository != "" {
		dir = filepath.Join(dir, e.global.repository)
	}
	if _, serr := os.Stat(filepath.Join(dir, ".git")); serr == nil {
		err.hinted("It looks like this is a git repo. You can create a jj repo backed by it by running this:\njj git init")
	}
	return err
}

func (e *env) aliasTable(name string, parse func(string) (*dsl.Node, error), decl func(string) (dsl.Decl, error)) (*dsl.Aliases, error) {
	set := dsl.NewAliases(parse)
	for _, l := range e.conf.Layers {
		v := l.Root.Get(name)
		if v == nil {
			continue
		}
		t, ok := v.V.(*config.Table)
		if !ok {
			return nil, e.conf.Wrong(name, fmt.Errorf("Expected a table, but is %s", v.Kind()))
		}
		for _, k := range t.Keys {
			d, err := decl(k)
			if err != nil {
				if l.Source == config.Default {
					return nil, err
				}
				e.ui.warnf("Failed to load `%s.%s`: %s", name, k, err)
				continue
			}
			body, ok := t.M[k].V.(string)
			if sub, is := t.M[k].V.(*config.Table); is {
				if def := sub.Get("definition"); def != nil {
					body, ok = def.V.(string)
				}
			}
			if !ok {
				e.ui.warnf("Failed to load `%s.%s`: Expected a string or a table with a `definition` string key, but is %s", name, k, t.M[k].Kind())
				continue
			}
			set.Set(d, body)
		}
	}
	return set, nil
}

func (e *env) templateAliases() (*dsl.Aliases, error) {
	if e.tmplAliases == nil {
		var err error
		if e.tmplAliases, err = e.aliasTable("template-aliases", template.Parse, template.ParseDecl); err != nil {
			return nil, err
		}
	}
	return e.tmplAliases, nil
}
