// `jj log`, as jj 0.45.1 has it: topological with branches together, gaps as `(elided revisions)`, by `revsets.log` and
// `templates.log`.

package jj

import (
	"context"
	"iter"
	"strconv"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/template"
	"tandem/internal/repo/text"
)

func checkCount(s string) error {
	if s == "" {
		return userf("cannot parse integer from empty string")
	}
	if _, err := strconv.ParseUint(s, 10, 63); err != nil {
		return userf("invalid digit found in string")
	}
	return nil
}

func logCommand() *command {
	opts := []opt{
		{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true},
		{id: "pos", pos: true, many: true, value: "FILESETS"},
		{id: "limit", long: "limit", short: "n", value: "LIMIT", check: checkCount},
		{id: "reversed", long: "reversed"},
		{id: "no-graph", long: "no-graph", short: "G"},
		{id: "template", long: "template", short: "T", value: "TEMPLATE"},
		{id: "patch", long: "patch", short: "p"},
		{id: "count", long: "count", conflicts: []string{diffFormats, "no-graph", "patch", "reversed", "template"}},
	}
	return &command{
		name: "log",
		opts: append(opts, logDiffOpts()...),
		run:  runLog,
	}
}

// shower prints one commit of a log.
type shower struct {
	pr     *printer
	tmpl   *template.Renderer
	labels []string
	diff   *differ
	match  repo.Matcher
	wrap   bool
}

func (s *shower) text(self any, width int) (*text.Text, error) {
	o := s.pr.ui.newText()
	for _, l := range s.labels {
		o.Push(l)
	}
	err := s.tmpl.Render(o, self)
	o.PopN(len(s.labels))
	if err != nil || !s.wrap {
		return o, err
	}
	wrapped := s.pr.ui.newText()
	o.Wrap(wrapped, width)
	return wrapped, nil
}

func runLog(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	var x *revset.Expr
	switch {
	case p.has("revisions"):
		x, err = w.revs.compileAll(p.all("revisions"))
	case p.has("pos"):
		x = revset.All()
	default:
		x, err = w.revs.compile(w.conf.Str("revsets.log"))
	}
	if err != nil {
		return err
	}
	if p.has("pos") {
		x = revset.And(x, revset.WithFiles(set))
	}
	rr := w.revs.rev(ctx)
	ps, err := rr.Positions(ctx, x)
	if err != nil {
		return err
	}
	limit := len(ps)
	if s, ok := p.get("limit"); ok {
		n, _ := strconv.Atoi(s)
		limit = min(limit, n)
	}
	if p.has("count") {
		w.ui.printf("%d\n", limit)
		return nil
	}
	l, err := w.print.language(ctx)
	if err != nil {
		return err
	}
	s := &shower{pr: w.print, labels: []string{"log", "commit"}, match: set}
	if s.diff, err = w.print.logDiffer(p); err != nil {
		return err
	}
	if s.tmpl, err = w.print.templateOpt(l, p, "log", l.Commit); err != nil {
		return err
	}
	if s.wrap, err = w.conf.Bool("ui.log-word-wrap"); err != nil {
		return err
	}
	lost := set.Paths()
	seen := func(c *repo.Commit) error { return w.dropFound(ctx, &lost, c.Tree) }
	if p.has("no-graph") {
		err = s.plain(ctx, rr, ps[:limit], p.has("reversed"), seen)
	} else {
		err = s.graph(ctx, rr, x, ps, limit, p.has("reversed"), seen)
	}
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		var names []string
		for _, q := range lost {
			names = append(names, w.paths().Format(q))
		}
		w.ui.warnf("No matching entries for paths: %s", strings.Join(names, ", "))
	}
	return w.print.logHints(p, len(ps) == 0)
}

// dropFound removes the paths that a tree has.
func (st *state) dropFound(ctx context.Context, paths *[]repo.Path, t repo.MergedTree) error {
	var left []repo.Path
	for _, q := range *paths {
		v, err := repo.ValueAt(ctx, st.store, t, q)
		if err != nil {
			return err
		}
		if !repo.IsPresent(v) {
			left = append(left, q)
		}
	}
	*paths = left
	return nil
}

func (s *shower) plain(ctx context.Context, rr *revset.Repo, ps []repo.Pos, reversed bool, seen func(*repo.Commit) error) error {
	pr := s.pr
	pr.ui.page(ctx)
	order := func(i int) repo.CommitID {
		if reversed {
			i = len(ps) - 1 - i
		}
		return rr.Index.ID(ps[i])
	}
	for c, err := range pr.ahead(ctx, len(ps), order) {
		if err != nil {
			return err
		}
		if err := seen(c); err != nil {
			return err
		}
		o, err := s.text(c, pr.ui.width())
		if err != nil {
			return err
		}
		if s.diff != nil {
			if err := s.diff.patch(ctx, o, c, s.match, pr.ui.width()); err != nil {
				return err
			}
		}
		if err := pr.ui.print(o); err != nil {
			return err
		}
	}
	return nil
}

// ahead reads commits one after the other while those before are being shown.
func (st *state) ahead(ctx context.Context, n int, id func(int) repo.CommitID) iter.Seq2[*repo.Commit, error] {
	type result struct {
		c   *repo.Commit
		err error
	}
	return func(yield func(*repo.Commit, error) bool) {
		results, done := make(chan result, 256), make(chan struct{})
		defer close(done)
		go func() {
			defer close(results)
			for i := range n {
				c, err := st.store.Commit(ctx, id(i))
				select {
				case results <- result{c, err}:
				case <-done:
					return
				}
			}
		}()
		for r := range results {
			if !yield(r.c, r.err) {
				return
			}
		}
	}
}

// logHints warns about a path that looks like a revision.
func (pr *printer) logHints(p *parsed, empty bool) error {
	if p.has("revisions") || len(p.all("pos")) != 1 {
		return nil
	}
	only := p.all("pos")[0]
	if only == "." {
		if q, err := pr.paths().Parse("."); err == nil && q == "" {
			pr.ui.warnf("The argument %q is being interpreted as a fileset expression, but this is often not useful because all non-empty "+
				"commits touch '.'. If you meant to show the working copy commit, pass -r '@' instead.", only)
		}
		return nil
	}
	if !empty {
		return nil
	}
	if _, err := revset.Compile(only, pr.revs.scope()); err == nil {
		pr.ui.warnf("The argument %q is being interpreted as a fileset expression. To specify a revset, pass -r %q instead.", only, only)
	}
	return nil
}

var _ repo.Matcher = (*fileset.Set)(nil)
