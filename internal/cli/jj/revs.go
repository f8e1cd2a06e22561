package jj

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"tandem/internal/repo"
	"tandem/internal/repo/dsl"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
)

// revRepo is a repository as revsets see it.
func (w *wsEnv) revRepo(ctx context.Context, r *repo.Repo, prefixes *revset.Prefixes) *revset.Repo {
	rr := &revset.Repo{Repo: r, Prefixes: prefixes}
	rr.AtOp = func(op string) (*repo.Repo, error) {
		o, err := w.resolveOp(ctx, op, w.repo)
		if err != nil {
			return nil, err
		}
		return w.store.At(ctx, o.ID)
	}
	rr.Changes = func(c *repo.Commit, set *fileset.Set) (bool, error) { return changes(ctx, r, c, set) }
	rr.Lines = w.changedLines(ctx, r)
	return rr
}

// changes says whether a commit changes files of a set. As stock jj does it, the
// merge of parents is resolved only for files that differ, so that an empty
// merge with conflicts may count as one that changes them.
func changes(ctx context.Context, r *repo.Repo, c *repo.Commit, set *fileset.Set) (bool, error) {
	var parents []*repo.Commit
	for _, id := range c.Parents {
		p, err := r.Store.Commit(ctx, id)
		if err != nil {
			return false, err
		}
		parents = append(parents, p)
	}
	if len(parents) == 1 && set.IsAll() {
		return !c.Tree.SameIDs(parents[0].Tree), nil
	}
	from, err := repo.UnresolvedParentsTree(ctx, r.Store, r.Index, parents)
	if err != nil {
		return false, err
	}
	found := errors.New("found")
	err = repo.DiffTrees(ctx, r.Store, from, c.Tree, set, func(_ repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		before, err := repo.ResolveFileValue(ctx, r.Store, before)
		if err == nil && !before.Equal(after) {
			err = found
		}
		return err
	})
	if err == found {
		return true, nil
	}
	return false, err
}

// matchFunc is a function as a matcher that looks everywhere.
type matchFunc func(repo.Path) bool

// Match asks the function.
func (m matchFunc) Match(p repo.Path) bool { return m(p) }

// Visit is always true.
func (m matchFunc) Visit(repo.Path) bool { return true }

func (w *wsEnv) scope() *revset.Scope {
	now := time.Now().In(w.io.zone())
	if ts, ok, _ := w.timeSetting("debug.commit-timestamp"); ok {
		if t, err := time.Parse(time.RFC3339, ts); err == nil {
			now = t.In(w.io.zone())
		}
	}
	return &revset.Scope{
		Aliases: w.revsetAliases, FilesetAliases: w.filesetAliases, Paths: w.paths(), Workspace: w.name,
		UserEmail: w.conf.Str("user.email"), IgnoredRemote: repo.GitRemote, Now: now,
		Warn: func(err *dsl.Error) { w.ui.warnf("In revset expression"); fmt.Fprintln(w.ui.io.Stderr, err) },
	}
}

// shortPrefixes is newPrefixes that refuses settings that cannot be read.
func (w *wsEnv) shortPrefixes(ctx context.Context, r *repo.Repo) (*revset.Prefixes, error) {
	quiet := w.scope()
	quiet.Warn = func(*dsl.Error) {} // told where it is used
	if _, err := revset.Compile("immutable_heads()", quiet); err != nil {
		return nil, configf(inAlias(err), "Invalid `revset-aliases.immutable_heads()`")
	}
	text, ok, err := w.conf.String("revsets.short-prefixes")
	if !ok && err == nil {
		text, _, err = w.conf.String("revsets.log")
	}
	if err != nil || text == "" {
		return nil, err
	}
	if _, err := revset.Compile(text, quiet); err != nil {
		return nil, configf(err, "Invalid `revsets.short-prefixes`")
	}
	return w.newPrefixes(ctx, r), nil
}

// inAlias is what is wrong inside an alias that was named alone.
func inAlias(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// newPrefixes is the set of commits whose ids are shortened against each
// other.
func (w *wsEnv) newPrefixes(ctx context.Context, r *repo.Repo) *revset.Prefixes {
	text, ok, _ := w.conf.String("revsets.short-prefixes")
	if !ok {
		text = w.conf.Str("revsets.log")
	}
	if text == "" {
		return nil
	}
	return &revset.Prefixes{Load: func() ([]repo.CommitID, []repo.ChangeID, error) {
		x, err := revset.Compile(text, w.scope())
		if err != nil {
			return nil, nil, err
		}
		ps, err := w.revRepo(ctx, r, nil).Positions(ctx, x)
		if err != nil {
			return nil, nil, err
		}
		ids, changes := make([]repo.CommitID, len(ps)), make([]repo.ChangeID, len(ps))
		for i, p := range ps {
			ids[i], changes[i] = r.Index.ID(p), r.Index.ChangeID(p)
		}
		return ids, changes, nil
	}}
}

func (w *wsEnv) rev(ctx context.Context) *revset.Repo { return w.revRepo(ctx, w.repo, w.prefixes) }

// compile reads a revset.
func (w *wsEnv) compile(text string) (*revset.Expr, error) {
	x, err := revset.Compile(text, w.scope())
	if err != nil {
		return nil, parseError("revset", err)
	}
	return x, nil
}

func (w *wsEnv) compileAll(texts []string) (*revset.Expr, error) {
	var xs []*revset.Expr
	for _, t := range texts {
		x, err := w.compile(t)
		if err != nil {
			return nil, err
		}
		xs = append(xs, x)
	}
	return revset.Union(xs...), nil
}

// ids evaluates a revset, newest first.
func (w *wsEnv) ids(ctx context.Context, x *revset.Expr) ([]repo.CommitID, error) {
	return w.rev(ctx).IDs(ctx, x)
}

func (w *wsEnv) commits(ctx context.Context, ids []repo.CommitID) ([]*repo.Commit, error) {
	out := make([]*repo.Commit, len(ids))
	for i, id := range ids {
		c, err := w.store.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

// evalCommits evaluates revset texts as one union.
func (w *wsEnv) evalCommits(ctx context.Context, texts ...string) ([]*repo.Commit, error) {
	x, err := w.compileAll(texts)
	if err != nil {
		return nil, err
	}
	ids, err := w.ids(ctx, x)
	if err != nil {
		return nil, err
	}
	return w.commits(ctx, ids)
}

// evalOrdered evaluates each text by itself and keeps their order.
func (w *wsEnv) evalOrdered(ctx context.Context, texts []string) ([]*repo.Commit, error) {
	var out []*repo.Commit
	seen := map[repo.CommitID]bool{}
	for _, t := range texts {
		cs, err := w.evalCommits(ctx, t)
		if err != nil {
			return nil, err
		}
		for _, c := range cs {
			if !seen[c.ID] {
				seen[c.ID] = true
				out = append(out, c)
			}
		}
	}
	return out, nil
}

// evalSome is evalOrdered that must find something.
func (w *wsEnv) evalSome(ctx context.Context, texts []string) ([]*repo.Commit, error) {
	cs, err := w.evalOrdered(ctx, texts)
	if err == nil && len(cs) == 0 {
		return nil, userf("Empty revision set")
	}
	return cs, err
}

// single evaluates a revset that must name one commit.
func (w *wsEnv) single(ctx context.Context, text string) (*repo.Commit, error) {
	cs, err := w.evalCommits(ctx, text)
	if err != nil {
		return nil, err
	}
	switch len(cs) {
	case 1:
		return cs[0], nil
	case 0:
		return nil, userf("Revset `%s` didn't resolve to any revisions", text)
	}
	e := userf("Revset `%s` resolved to more than one revision", text)
	if err := w.listHint(ctx, e, fmt.Sprintf("The revset `%s` resolved to these revisions:", text), cs); err != nil {
		return nil, err
	}
	return nil, e
}

// listHint adds a hint with some commits.
func (w *wsEnv) listHint(ctx context.Context, e *cmdError, title string, cs []*repo.Commit) error {
	t := w.ui.newText()
	t.Str(title + "\n")
	const most = 5
	for i, c := range cs {
		if i == most {
			t.Str("...\n")
			break
		}
		t.Str("  ")
		if err := w.summary(ctx, t, c); err != nil {
			return err
		}
		t.Str("\n")
	}
	e.hints = append(e.hints, hint{rich: t})
	return nil
}

// files resolves one fileset text.
func (w *wsEnv) files(text string, paths fileset.Paths) (*fileset.Set, error) {
	n, err := fileset.ParseArgument(text)
	if err == nil {
		n, err = w.filesetAliases.Expand(n, nil)
	}
	if err == nil {
		var s *fileset.Set
		if s, err = fileset.Resolve(n, paths); err == nil {
			return s, nil
		}
	}
	return nil, parseError("fileset", err)
}

// fileArgs is the union of path arguments, or everything when there are none.
func (w *wsEnv) fileArgs(args []string) (*fileset.Set, error) {
	if len(args) == 0 {
		return fileset.All(), nil
	}
	var sets []*fileset.Set
	for _, a := range args {
		s, err := w.files(a, w.paths())
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return fileset.Union(sets...), nil
}

// warnUnmatched tells about paths given that are in none of the trees.
func (w *wsEnv) warnUnmatched(ctx context.Context, set *fileset.Set, trees ...repo.MergedTree) error {
	var lost []string
	for _, p := range set.Paths() {
		found := false
		for _, t := range trees {
			v, err := repo.ValueAt(ctx, w.store, t, p)
			if err != nil {
				return err
			}
			found = found || repo.IsPresent(v)
		}
		if !found {
			lost = append(lost, w.paths().Format(p))
		}
	}
	if len(lost) > 0 {
		w.ui.warnf("No matching entries for paths: %s", joinComma(lost))
	}
	return nil
}

func joinComma(s []string) string {
	out := ""
	for i, x := range s {
		if i > 0 {
			out += ", "
		}
		out += x
	}
	return out
}

// changedLines gives the lines a commit removes and adds.
func (w *wsEnv) changedLines(ctx context.Context, r *repo.Repo) func(*repo.Commit, func(repo.Path) bool, func(int, string) bool) error {
	return func(c *repo.Commit, match func(repo.Path) bool, yield func(int, string) bool) error {
		from, err := repo.ParentTree(ctx, r.Store, r.Index, c)
		if err != nil {
			return err
		}
		d := &render.Diff{Store: r.Store, From: from, To: c.Tree, Match: matchFunc(match)}
		return d.Lines(ctx, func(side int, line []byte) bool {
			return yield(side, string(bytes.TrimSuffix(line, []byte("\n"))))
		})
	}
}
