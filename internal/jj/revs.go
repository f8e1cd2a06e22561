// Revsets and filesets of a command line, as jj 0.45.1 reads them.

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
	"tandem/internal/repo/text"
)

// revisions answers which commits, files and operations a text names, and which
// commits may be rewritten. It prints nothing but warnings.
type revisions struct {
	*state
	ops     *opLog
	summary func(context.Context, *text.Text, *repo.Commit) error // the printer's: a hint lists commits

	prefixes       *revset.Prefixes
	revsetAliases  *dsl.Aliases
	filesetAliases *dsl.Aliases
	immutable      *immutability
	trunkChecked   bool
}

// bind reads the aliases once, and makes what depends on the repository's state.
func (rs *revisions) bind(ctx context.Context) error {
	rs.immutable = nil
	var err error
	if rs.revsetAliases == nil {
		if rs.revsetAliases, err = rs.aliasTable("revset-aliases", revset.Parse, revset.ParseDecl); err != nil {
			return err
		}
		if rs.filesetAliases, err = rs.aliasTable("fileset-aliases", fileset.Parse, fileset.ParseDecl); err != nil {
			return err
		}
	}
	if err := rs.checkTrunk(ctx); err != nil {
		return err
	}
	rs.prefixes, err = rs.shortPrefixes(ctx, rs.repo)
	return err
}

// checkTrunk tells of a configured trunk() that does not exist, once, and goes
// on without: everything else depends on it.
func (rs *revisions) checkTrunk(ctx context.Context) error {
	body, ok := rs.revsetAliases.FuncBody("trunk")
	if !ok || rs.trunkChecked {
		return nil
	}
	rs.trunkChecked = true
	x, err := revset.Compile(body, rs.scope())
	if err != nil {
		return nil // said where it is used
	}
	if err = rs.revRepo(ctx, rs.repo, nil).Resolve(x); err == nil {
		return nil
	}
	rs.ui.warnf("Failed to resolve `revset-aliases.trunk()`: %s", err)
	t := rs.ui.newText()
	t.Label("warning", "The `trunk()` alias is temporarily set to `root()`.\n")
	rs.ui.colours.WriteTo(rs.io.Stderr, t)
	rs.ui.hintf("Use `jj config edit --repo` to adjust the `trunk()` alias.")
	d, err := revset.ParseDecl("trunk()")
	if err == nil {
		rs.revsetAliases.Set(d, "root()")
	}
	return err
}

// revRepo is a repository as revsets see it.
func (rs *revisions) revRepo(ctx context.Context, r *repo.Repo, prefixes *revset.Prefixes) *revset.Repo {
	rr := &revset.Repo{Repo: r, Prefixes: prefixes}
	rr.AtOp = func(op string) (*repo.Repo, error) {
		o, err := rs.ops.resolve(ctx, op, rs.repo)
		if err != nil {
			return nil, err
		}
		return rs.store.At(ctx, o.ID)
	}
	rr.Changes = func(c *repo.Commit, set *fileset.Set) (bool, error) { return changes(ctx, r, c, set) }
	rr.Lines = rs.changedLines(ctx, r)
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

func (rs *revisions) scope() *revset.Scope {
	now := time.Now().In(rs.io.zone())
	if ts, ok, _ := rs.timeSetting("debug.commit-timestamp"); ok {
		if t, err := time.Parse(time.RFC3339, ts); err == nil {
			now = t.In(rs.io.zone())
		}
	}
	return &revset.Scope{
		Aliases: rs.revsetAliases, FilesetAliases: rs.filesetAliases, Paths: rs.paths(), Workspace: rs.name,
		UserEmail: rs.conf.Str("user.email"), IgnoredRemote: repo.GitRemote, Now: now,
		Warn: func(err *dsl.Error) { rs.ui.warnf("In revset expression"); fmt.Fprintln(rs.ui.io.Stderr, err) },
	}
}

// shortPrefixes is newPrefixes that refuses settings that cannot be read.
func (rs *revisions) shortPrefixes(ctx context.Context, r *repo.Repo) (*revset.Prefixes, error) {
	quiet := rs.scope()
	quiet.Warn = func(*dsl.Error) {} // told where it is used
	if _, err := revset.Compile("immutable_heads()", quiet); err != nil {
		return nil, configf(inAlias(err), "Invalid `revset-aliases.immutable_heads()`")
	}
	text, ok, err := rs.conf.String("revsets.short-prefixes")
	if !ok && err == nil {
		text, _, err = rs.conf.String("revsets.log")
	}
	if err != nil || text == "" {
		return nil, err
	}
	if _, err := revset.Compile(text, quiet); err != nil {
		return nil, configf(err, "Invalid `revsets.short-prefixes`")
	}
	return rs.newPrefixes(ctx, r), nil
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
func (rs *revisions) newPrefixes(ctx context.Context, r *repo.Repo) *revset.Prefixes {
	text, ok, _ := rs.conf.String("revsets.short-prefixes")
	if !ok {
		text = rs.conf.Str("revsets.log")
	}
	if text == "" {
		return nil
	}
	return &revset.Prefixes{Load: func() ([]repo.CommitID, []repo.ChangeID, error) {
		x, err := revset.Compile(text, rs.scope())
		if err != nil {
			return nil, nil, err
		}
		ps, err := rs.revRepo(ctx, r, nil).Positions(ctx, x)
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

func (rs *revisions) rev(ctx context.Context) *revset.Repo {
	return rs.revRepo(ctx, rs.repo, rs.prefixes)
}

// compile reads a revset.
func (rs *revisions) compile(text string) (*revset.Expr, error) {
	x, err := revset.Compile(text, rs.scope())
	if err != nil {
		return nil, parseError("revset", err)
	}
	return x, nil
}

func (rs *revisions) compileAll(texts []string) (*revset.Expr, error) {
	var xs []*revset.Expr
	for _, t := range texts {
		x, err := rs.compile(t)
		if err != nil {
			return nil, err
		}
		xs = append(xs, x)
	}
	return revset.Union(xs...), nil
}

// ids evaluates a revset, newest first.
func (rs *revisions) ids(ctx context.Context, x *revset.Expr) ([]repo.CommitID, error) {
	return rs.rev(ctx).IDs(ctx, x)
}

func (st *state) commits(ctx context.Context, ids []repo.CommitID) ([]*repo.Commit, error) {
	out := make([]*repo.Commit, len(ids))
	for i, id := range ids {
		c, err := st.store.Commit(ctx, id)
		if err != nil {
			return nil, err
		}
		out[i] = c
	}
	return out, nil
}

// evalCommits evaluates revset texts as one union.
func (rs *revisions) evalCommits(ctx context.Context, texts ...string) ([]*repo.Commit, error) {
	x, err := rs.compileAll(texts)
	if err != nil {
		return nil, err
	}
	ids, err := rs.ids(ctx, x)
	if err != nil {
		return nil, err
	}
	return rs.commits(ctx, ids)
}

// evalOrdered evaluates each text by itself and keeps their order.
func (rs *revisions) evalOrdered(ctx context.Context, texts []string) ([]*repo.Commit, error) {
	var out []*repo.Commit
	seen := map[repo.CommitID]bool{}
	for _, t := range texts {
		cs, err := rs.evalCommits(ctx, t)
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
func (rs *revisions) evalSome(ctx context.Context, texts []string) ([]*repo.Commit, error) {
	cs, err := rs.evalOrdered(ctx, texts)
	if err == nil && len(cs) == 0 {
		return nil, userf("Empty revision set")
	}
	return cs, err
}

// single evaluates a revset that must name one commit.
func (rs *revisions) single(ctx context.Context, text string) (*repo.Commit, error) {
	cs, err := rs.evalCommits(ctx, text)
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
	if err := rs.listHint(ctx, e, fmt.Sprintf("The revset `%s` resolved to these revisions:", text), cs); err != nil {
		return nil, err
	}
	return nil, e
}

// listHint adds a hint with some commits.
func (rs *revisions) listHint(ctx context.Context, e *cmdError, title string, cs []*repo.Commit) error {
	t := rs.ui.newText()
	t.Str(title + "\n")
	const most = 5
	for i, c := range cs {
		if i == most {
			t.Str("  ...\n")
			break
		}
		t.Str("  ")
		if err := rs.summary(ctx, t, c); err != nil {
			return err
		}
		t.Str("\n")
	}
	e.hints = append(e.hints, hint{rich: t})
	return nil
}

// files resolves one fileset text.
func (rs *revisions) files(text string, paths fileset.Paths) (*fileset.Set, error) {
	n, err := fileset.ParseArgument(text)
	if err == nil {
		n, err = rs.filesetAliases.Expand(n, nil)
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
func (rs *revisions) fileArgs(args []string) (*fileset.Set, error) {
	if len(args) == 0 {
		return fileset.All(), nil
	}
	var sets []*fileset.Set
	for _, a := range args {
		s, err := rs.files(a, rs.paths())
		if err != nil {
			return nil, err
		}
		sets = append(sets, s)
	}
	return fileset.Union(sets...), nil
}

// warnUnmatched tells about paths given that are in none of the trees.
func (st *state) warnUnmatched(ctx context.Context, set *fileset.Set, trees ...repo.MergedTree) error {
	var lost []string
	for _, p := range set.Paths() {
		found := false
		for _, t := range trees {
			v, err := repo.ValueAt(ctx, st.store, t, p)
			if err != nil {
				return err
			}
			found = found || repo.IsPresent(v)
		}
		if !found {
			lost = append(lost, st.paths().Format(p))
		}
	}
	if len(lost) > 0 {
		st.ui.warnf("No matching entries for paths: %s", joinComma(lost))
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
func (rs *revisions) changedLines(ctx context.Context, r *repo.Repo,
) func(*repo.Commit, func(repo.Path) bool, func(int, string) bool) error {
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
