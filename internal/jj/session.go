package jj

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/workcopy"
)

// session is a command at work in an opened workspace. It alone changes
// something: it takes in the files, begins transactions and publishes them.
// What it only asks is asked of its parts, and each of them sees no more than it
// needs: all of them see the state, revs and print see other parts too.
type session struct {
	*state
	ops   *opLog
	revs  *revisions
	print *printer
	git   *gitSide
	tools *toolbox

	wc    *workcopy.WorkingCopy
	fresh bool // the workspace is being made: its first operation names neither it nor a command
	atOp  bool // an operation was asked for, or the working copy is ignored
}

// newSession puts the parts together; the repository is loaded later.
func (e *env) newSession(store *gitstore.Store, name string) *session {
	st := &state{env: e, store: store, name: name}
	ops, tools := &opLog{state: st}, &toolbox{state: st}
	revs := &revisions{state: st, ops: ops}
	pr := &printer{state: st, ops: ops, revs: revs, tools: tools}
	revs.summary = pr.summary
	return &session{state: st, ops: ops, revs: revs, print: pr, git: &gitSide{state: st}, tools: tools}
}

// open loads the workspace and takes a snapshot of its files, unless the
// command line says otherwise.
func (e *env) open(ctx context.Context) (*session, error) {
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.snapshotIfWanted(ctx); err != nil {
		return nil, err
	}
	return w, nil
}

func (e *env) openNoSnapshot(ctx context.Context) (*session, error) {
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
	w := e.newSession(store, "")
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
func (w *session) configureFiles() error {
	const ends, exec = "working-copy.eol-conversion", "working-copy.exec-bit-change"
	choose := func(name string, from ...string) (int, error) {
		s, _, err := w.conf.String(name)
		if err != nil {
			return 0, err
		}
		if i := slices.Index(from, s); i >= 0 {
			return i, nil
		}
		return 0, w.conf.Mistyped(name, fmt.Errorf("unknown variant `%s`, expected one of `%s`", s, strings.Join(from, "`, `")))
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
			return broken(w.conf.Mistyped(s.name, fmt.Errorf("unknown variant `%s`, expected `%s` or `%s`", v, s.from[0], s.from[1])))
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
func (w *session) load(ctx context.Context) error {
	who, err := w.identity()
	if err != nil {
		return err
	}
	if w.global.atOp != "" {
		op, err := w.ops.resolve(ctx, w.global.atOp, nil)
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
func (w *session) bind(ctx context.Context) error {
	w.print.lang = nil
	return w.revs.bind(ctx)
}
