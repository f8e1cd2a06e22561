// `jj fix`, as jj 0.45.1 has it: programs of `fix.tools` rewrite changed files from the content on standard input;
// descendants keep their own content.

package jj

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/revset"
)

func fixCommand() *command {
	return &command{
		name: "fix",
		opts: []opt{
			{id: "source", long: "source", short: "s", value: "REVSETS", many: true},
			{id: "pos", pos: true, many: true, value: "FILESETS"},
			{id: "include-unchanged-files", long: "include-unchanged-files"},
			{id: "all-lines", long: "all-lines", short: "a"},
		},
		run: runFix,
	}
}

// fixer is a program that rewrites the content of files.
type fixer struct {
	name      string
	cmd       *config.Command
	match     repo.Matcher
	lineRange string // how to tell it which lines changed
	always    bool   // even when none did
}

// toFix is a content to be rewritten: the same content at the same path is
// rewritten once.
type toFix struct {
	path     repo.Path
	id, base repo.FileID
}

// fixing is one run of the command.
type fixing struct {
	w        *session
	tools    []fixer
	match    repo.Matcher
	all      bool // unchanged files, too
	allLines bool
	paths    map[repo.CommitID]map[repo.Path]repo.FileID // to fix, with the content before
	fixed    map[toFix]repo.FileID
	mu       sync.Mutex
}

func runFix(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	f := &fixing{w: w, all: p.has("include-unchanged-files"), allLines: p.has("all-lines"),
		paths: map[repo.CommitID]map[repo.Path]repo.FileID{}, fixed: map[toFix]repo.FileID{}}
	if f.tools, err = w.revs.fixers(); err != nil {
		return err
	}
	texts := p.all("source")
	if len(texts) == 0 {
		texts = []string{w.conf.Str("revsets.fix")}
	}
	x, err := w.revs.compileAll(texts)
	if err != nil {
		return err
	}
	if err := w.revs.checkRewritableExpr(ctx, x); err != nil {
		return err
	}
	ids, err := w.revs.ids(ctx, revset.Descendants(x))
	if err != nil {
		return err
	}
	cs, err := w.commits(ctx, ids)
	if err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	var trees []repo.MergedTree
	for _, c := range cs {
		trees = append(trees, c.Tree)
	}
	if err := w.warnUnmatched(ctx, set, trees...); err != nil {
		return err
	}
	f.match = set
	t, err := w.begin()
	if err != nil {
		return err
	}
	checked, changed, err := f.run(ctx, t, cs)
	if err != nil {
		return err
	}
	w.ui.statusf("Fixed %d commits of %d checked.\n", changed, checked)
	return t.finish(ctx, fmt.Sprintf("fixed %d commits", changed))
}

// fixers reads which programs are configured.
func (rs *revisions) fixers() ([]fixer, error) {
	table := rs.conf.Table("fix", "tools")
	if table == nil || len(table.Keys) == 0 {
		return nil, configf(nil, "No `fix.tools` are configured")
	}
	var out []fixer
	for _, name := range slices.Sorted(slices.Values(table.Keys)) {
		t, ok := table.M[name].V.(*config.Table)
		if !ok {
			return nil, rs.conf.Mistyped("fix.tools."+quoteKey(name), fmt.Errorf("invalid type: expected a table"))
		}
		f := fixer{name: name}
		var err error
		if f.cmd, err = rs.conf.Cmd("fix", "tools", name, "command"); err != nil {
			return nil, err
		}
		if f.cmd == nil {
			return nil, rs.conf.Mistyped("fix.tools."+quoteKey(name), fmt.Errorf("missing field `command`"))
		}
		patterns, err := rs.conf.Strings("fix", "tools", name, "patterns")
		if err != nil {
			return nil, err
		}
		var sets []*fileset.Set
		for _, text := range patterns {
			n, err := fileset.Parse(text)
			if err == nil {
				n, err = rs.filesetAliases.Expand(n, nil)
			}
			if err != nil {
				return nil, parseError("fileset", err)
			}
			s, err := fileset.Resolve(n, fileset.Paths{Cwd: rs.ws.root, Root: rs.ws.root})
			if err != nil {
				return nil, parseError("fileset", err)
			}
			sets = append(sets, s)
		}
		f.match = fileset.Union(sets...)
		if v := t.Get("line-range-arg"); v != nil {
			f.lineRange, _ = v.V.(string)
		}
		if v := t.Get("run-tool-if-zero-line-ranges"); v != nil {
			f.always, _ = v.V.(bool)
		}
		if f.always && f.lineRange == "" {
			return nil, configf(nil, "run-tool-if-zero-line-ranges can only be set when line-range-arg is set")
		}
		if v := t.Get("enabled"); v == nil || v.V != false {
			out = append(out, f)
		}
	}
	if len(out) == 0 {
		return nil, configf(nil, "At least one entry of `fix.tools` must be enabled.")
	}
	return out, nil
}

// run finds the files, rewrites them and puts them into the commits.
func (f *fixing) run(ctx context.Context, t *tx, cs []*repo.Commit) (checked, changed int, err error) {
	var list []toFix
	seen := map[toFix]bool{}
	bases, err := f.bases(ctx, cs)
	if err != nil {
		return 0, 0, err
	}
	var roots []repo.CommitID
	for _, c := range slices.Backward(cs) {
		roots = append(roots, c.ID)
		err := f.filesOf(ctx, t, c, bases[c.ID], func(x toFix) {
			if !seen[x] {
				seen[x] = true
				list = append(list, x)
			}
		})
		if err != nil {
			return 0, 0, err
		}
	}
	if err := f.fixAll(ctx, list); err != nil {
		return 0, 0, err
	}
	err = t.TransformDescendants(ctx, roots, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		checked++
		tree, differs, err := f.rewrite(ctx, t, m.Old)
		if err != nil {
			return err
		}
		if !differs && !m.ParentsChanged() {
			return nil
		}
		d, err := m.Reparent(ctx)
		if err != nil {
			return err
		}
		if differs {
			changed++
			d.Tree = tree
		}
		_, err = t.Write(ctx, d)
		return err
	})
	return checked, changed, err
}

// bases finds for each commit the nearest ancestors that are not to be fixed.
func (f *fixing) bases(ctx context.Context, cs []*repo.Commit) (map[repo.CommitID][]*repo.Commit, error) {
	in := map[repo.CommitID]bool{}
	for _, c := range cs {
		in[c.ID] = true
	}
	out := map[repo.CommitID][]*repo.Commit{}
	for _, c := range slices.Backward(cs) {
		var list []*repo.Commit
		add := func(b *repo.Commit) {
			if !slices.ContainsFunc(list, func(o *repo.Commit) bool { return o.ID == b.ID }) {
				list = append(list, b)
			}
		}
		for _, id := range c.Parents {
			for _, b := range out[id] {
				add(b)
			}
			if !in[id] {
				b, err := f.w.store.Commit(ctx, id)
				if err != nil {
					return nil, err
				}
				add(b)
			}
		}
		out[c.ID] = list
	}
	return out, nil
}

// filesOf collects the files of a commit that are to be fixed: those it or an
// ancestor in the set has changed.
func (f *fixing) filesOf(ctx context.Context, t *tx, c *repo.Commit, bases []*repo.Commit, add func(toFix)) error {
	paths := map[repo.Path]repo.FileID{}
	f.paths[c.ID] = paths
	base, err := repo.ParentsTree(ctx, t.Store, t.Index, bases)
	if err != nil {
		return err
	}
	from := base
	if f.all {
		from = repo.EmptyTree()
	}
	return repo.DiffTrees(ctx, t.Store, from, c.Tree, f.match, func(p repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		if f.all {
			if before, err = repo.ValueAt(ctx, t.Store, base, p); err != nil {
				return err
			}
		}
		was := repo.FileID("")
		if before[0].IsFile() {
			was = before[0].FileID()
		}
		for _, v := range after {
			if v.IsFile() {
				add(toFix{p, v.FileID(), was})
				paths[p] = was
			}
		}
		return nil
	})
}

// rewrite is a commit's tree with fixed contents.
func (f *fixing) rewrite(ctx context.Context, t *tx, c *repo.Commit) (repo.MergedTree, bool, error) {
	ed := repo.EditTree(t.Store, c.Tree)
	differs := false
	for path, was := range f.paths[c.ID] {
		v, err := repo.ValueAt(ctx, t.Store, c.Tree, path)
		if err != nil {
			return c.Tree, false, err
		}
		now := repo.MapMerge(v, func(x repo.TreeValue) repo.TreeValue {
			if x.IsFile() {
				if id, ok := f.fixed[toFix{path, x.FileID(), was}]; ok {
					x.ID = string(id)
				}
			}
			return x
		})
		if !now.Equal(v) {
			ed.Set(path, now)
			differs = true
		}
	}
	if !differs {
		return c.Tree, false, nil
	}
	tree, err := ed.Write(ctx)
	return tree, true, err
}
