package jj

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/cli/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/template"
	"tandem/internal/repo/workcopy"
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

// wsEnv is an opened workspace: the repository at an operation, with all that
// commands ask of it.
type wsEnv struct {
	*env
	store     *gitstore.Store
	repo      *repo.Repo
	name      string // of the workspace
	wc        *workcopy.WorkingCopy
	fresh     bool // the workspace is being made: its first operation names neither it nor a command
	atOp      bool // an operation was asked for, or the working copy is ignored
	gitLocked bool // holds the lock on imports and exports
	prefixes  *revset.Prefixes
	lang      *render.Lang

	revsetAliases  *dsl.Aliases
	filesetAliases *dsl.Aliases
	immutable      *immutability
	trunkChecked   bool
}

// open loads the workspace and takes a snapshot of its files, unless the
// command line says otherwise.
func (e *env) open(ctx context.Context) (*wsEnv, error) {
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.snapshotIfWanted(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

func (e *env) openNoSnapshot(ctx context.Context) (*wsEnv, error) {
	if e.ws == nil {
		return nil, e.noRepo()
	}
	if e.ws.err != nil {
		return nil, userf("The repository directory at %s is missing. Was it moved?", e.ws.repoDir)
	}
	store, err := e.openStore()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, userf("The repository directory at %s is missing. Was it moved?", e.ws.repoDir)
		}
		return nil, internalf(err, "The repository appears broken or inaccessible")
	}
	w := &wsEnv{env: e, store: store}
	if _, err := w.markerStyle(); err != nil {
		return nil, internalf(err, "Failed to read the tree state settings")
	}
	if w.wc, err = workcopy.Open(e.ws.root, store); err != nil {
		return nil, internalf(err, "Failed to access working copy state")
	}
	if err := w.configureFiles(); err != nil {
		return nil, err
	}
	w.name = w.wc.Workspace()
	if err := w.load(ctx); err != nil {
		return nil, err
	}
	return w, w.bind(ctx)
}

// openStore opens the repository, unless whoever runs the command has.
func (e *env) openStore() (*gitstore.Store, error) {
	if s := e.io.Store; s != nil && s.Dir() == e.ws.repoDir {
		return s, nil
	}
	return gitstore.Open(e.ws.repoDir)
}

// configureFiles reads the settings of the working copy, and refuses those that
// cannot be followed here.
func (w *wsEnv) configureFiles() error {
	const ends, exec = "working-copy.eol-conversion", "working-copy.exec-bit-change"
	choose := func(name string, from ...string) (int, error) {
		s, _, err := w.conf.String(name)
		if err != nil {
			return 0, err
		}
		if i := slices.Index(from, s); i >= 0 {
			return i, nil
		}
		return 0, w.conf.Wrong(name, fmt.Errorf("unknown variant `%s`, expected one of `%s`", s, strings.Join(from, "`, `")))
	}
	unreadable := func(err error) error { return internalf(err, "Failed to read the tree state settings") }
	n, err := choose(ends, "none", "input", "input-output")
	if err != nil {
		return unreadable(err)
	}
	w.wc.Ends = workcopy.LineEnds(n)
	if n, err = choose(exec, "ignore", "respect", "auto"); err != nil {
		return unreadable(err)
	}
	w.wc.KeepExec = n == 0
	if v := w.conf.Str("fsmonitor.backend"); v != "" && v != "none" && v != "watchman" {
		return unreadable(w.conf.Wrong("fsmonitor.backend", fmt.Errorf("Unknown fsmonitor kind: %s", v)))
	}
	broken := func(err error) error { return internalf(err, "The repository appears broken or inaccessible") }
	if _, err := w.conf.Bool("git.abandon-unreachable-commits"); err != nil {
		return broken(err)
	}
	for _, s := range []struct {
		name string
		from []string
	}{{"merge.hunk-level", []string{"line", "word"}}, {"merge.same-change", []string{"keep", "accept"}}} {
		if v := w.conf.Str(s.name); !slices.Contains(s.from, v) {
			return broken(w.conf.Wrong(s.name, fmt.Errorf("unknown variant `%s`, expected `%s` or `%s`", v, s.from[0], s.from[1])))
		}
	}
	for _, s := range []struct{ name, only string }{
		{"merge.hunk-level", "line"}, {"merge.same-change", "accept"},
	} {
		if v := w.conf.Str(s.name); v != s.only {
			return missing("the setting %s = %q", s.name, v)
		}
	}
	if on, err := w.conf.Bool("git.write-change-id-header"); err != nil || on {
		return err
	}
	return missing("the setting git.write-change-id-header = false")
}

// load reads the repository at the head, or at the operation asked for.
func (w *wsEnv) load(ctx context.Context) error {
	who, err := w.identity()
	if err != nil {
		return err
	}
	if w.global.atOp != "" {
		op, err := w.resolveOp(ctx, w.global.atOp, nil)
		if err != nil {
			return err
		}
		w.atOp = true
		w.repo, err = w.store.At(ctx, op.ID)
		return err
	}
	w.atOp = w.global.ignoreWorkingCopy
	rebased := 0
	r, merged, err := w.store.Head(ctx, who, repo.MergeOptions{
		Workspace: w.name, Attributes: map[string]string{"args": w.commandLine()}, Rebased: func(n int) { rebased = n },
	})
	if err != nil {
		return internalf(err, "Failed to load the repo")
	}
	if merged > 1 {
		w.ui.statusf("Concurrent modification detected, resolving automatically.\n")
		if rebased > 0 {
			w.ui.statusf("Rebased %d descendant commits onto commits rewritten by other operation.\n", rebased)
		}
	}
	w.repo = r
	w.ui.tracef("loaded operation %s: %d commits, %d heads", r.Operation.ID.Hex()[:12], r.Index.Len(), len(r.View.HeadIDs()))
	return nil
}

// bind makes what depends on the repository's state; call it again when that
// has changed.
func (w *wsEnv) bind(ctx context.Context) error {
	w.lang, w.immutable = nil, nil
	var err error
	if w.revsetAliases == nil {
		if w.revsetAliases, err = w.aliasTable("revset-aliases", revset.Parse, revset.ParseDecl); err != nil {
			return err
		}
		if w.filesetAliases, err = w.aliasTable("fileset-aliases", fileset.Parse, fileset.ParseDecl); err != nil {
			return err
		}
	}
	if err := w.checkTrunk(ctx); err != nil {
		return err
	}
	w.prefixes, err = w.shortPrefixes(ctx, w.repo)
	return err
}

// checkTrunk tells of a configured trunk() that does not exist, once, and goes
// on without: everything else depends on it.
func (w *wsEnv) checkTrunk(ctx context.Context) error {
	body, ok := w.revsetAliases.FuncBody("trunk")
	if !ok || w.trunkChecked {
		return nil
	}
	w.trunkChecked = true
	x, err := revset.Compile(body, w.scope())
	if err != nil {
		return nil // said where it is used
	}
	if err = w.revRepo(ctx, w.repo, nil).Resolve(x); err == nil {
		return nil
	}
	w.ui.warnf("Failed to resolve `revset-aliases.trunk()`: %s", err)
	t := w.ui.newText()
	t.Label("warning", "The `trunk()` alias is temporarily set to `root()`.\n")
	w.ui.colours.WriteTo(w.io.Stderr, t)
	w.ui.hintf("Use `jj config edit --repo` to adjust the `trunk()` alias.")
	d, err := revset.ParseDecl("trunk()")
	if err == nil {
		w.revsetAliases.Set(d, "root()")
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

func (w *wsEnv) paths() fileset.Paths { return fileset.Paths{Cwd: w.io.Dir, Root: w.ws.root} }

// wcCommit is the workspace's commit, or nil when it has none.
func (w *wsEnv) wcCommit(ctx context.Context) (*repo.Commit, error) {
	id, ok := w.repo.View.Workspaces[w.name]
	if !ok {
		return nil, nil
	}
	return w.store.Commit(ctx, id)
}

func (w *wsEnv) markerStyle() (repo.MarkerStyle, error) {
	s := w.conf.Str("ui.conflict-marker-style")
	styles := map[string]repo.MarkerStyle{"diff": repo.DiffMarkers, "diff-experimental": repo.DiffFirstSnapshotMarkers,
		"snapshot": repo.SnapshotMarkers, "git": repo.GitMarkers}
	if st, ok := styles[s]; ok {
		return st, nil
	}
	return 0, w.conf.Wrong("ui.conflict-marker-style",
		fmt.Errorf("unknown variant `%s`, expected one of `diff`, `diff-experimental`, `snapshot`, `git`", s))
}

// parseSize reads "1MiB", "10k" or plain bytes.
func parseSize(s string) (int64, bool) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	var n float64
	if _, err := fmt.Sscanf(s[:i], "%g", &n); err != nil {
		return 0, false
	}
	unit := strings.ToLower(strings.TrimSpace(s[i:]))
	mult := map[string]float64{"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "kb": 1000, "m": 1 << 20, "mib": 1 << 20, "mb": 1e6, "g": 1 << 30,
		"gib": 1 << 30, "gb": 1e9}
	f, ok := mult[unit]
	return int64(n * f), ok
}
