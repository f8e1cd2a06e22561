// `jj file list`, `show`, `chmod`, `track` and `untrack`, as jj 0.45.1 has them: untracking needs the file to be ignored,
// or the next snapshot would take it in again.

package jj

import (
	"context"
	"fmt"
	"io"

	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/render"
)

func fileCommand() *command {
	rev := opt{id: "revision", long: "revision", short: "r", value: "REVSET"}
	paths := opt{id: "pos", pos: true, many: true, required: true, value: "FILESETS"}
	tmpl := opt{id: "template", long: "template", short: "T", value: "TEMPLATE"}
	return &command{
		name: "file",
		subs: []*command{
			{name: "annotate", opts: []opt{
				{id: "path", pos: true, required: true, value: "PATH"}, rev, tmpl,
			}, run: runFileAnnotate},
			{name: "chmod", opts: []opt{
				{id: "mode", pos: true, required: true, value: "MODE", values: []string{"n", "x"}}, rev, paths,
			}, run: runFileChmod},
			{name: "list", opts: []opt{rev, tmpl, {id: "pos", pos: true, many: true, value: "FILESETS"}}, run: runFileList},
			{name: "search", opts: []opt{
				rev, {id: "pattern", long: "pattern", short: "p", required: true, value: "PATTERN"},
				{id: "name-only", long: "name-only", conflicts: []string{"line-number"}},
				{id: "line-number", long: "line-number", short: "n"},
				{id: "pos", pos: true, many: true, value: "FILESETS"},
			}, run: runFileSearch},
			{name: "show", opts: []opt{rev, tmpl, paths}, run: runFileShow},
			{name: "track", opts: []opt{paths, {id: "include-ignored", long: "include-ignored"}}, run: runFileTrack},
			{name: "untrack", opts: []opt{paths}, run: runFileUntrack},
		},
	}
}

func runFileList(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	c, err := w.revs.single(ctx, p.or("revision", "@"))
	if err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	l, err := w.print.language(ctx)
	if err != nil {
		return err
	}
	r, err := w.print.templateOpt(l, p, "file_list", l.TreeEntry)
	if err != nil {
		return err
	}
	w.ui.page(ctx)
	err = repo.WalkTree(ctx, w.store, c.Tree, set, func(path repo.Path, v repo.Merge[repo.TreeValue]) error {
		o := w.ui.newText()
		o.Push("file_list")
		if err := r.Render(o, render.TreeEntry{Path: path, Value: v}); err != nil {
			return err
		}
		o.Pop()
		return w.ui.print(o)
	})
	if err != nil {
		return err
	}
	return w.warnUnmatched(ctx, set, c.Tree)
}

func runFileShow(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	c, err := w.revs.single(ctx, p.or("revision", "@"))
	if err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	l, err := w.print.language(ctx)
	if err != nil {
		return err
	}
	r, err := w.print.templateOpt(l, p, "file_show", l.TreeEntry)
	if err != nil {
		return err
	}
	style, err := w.markerStyle()
	if err != nil {
		return err
	}
	show := func(path repo.Path, v repo.Merge[repo.TreeValue]) error {
		o := w.ui.newText()
		o.Push("file_show")
		if err := r.Render(o, render.TreeEntry{Path: path, Value: v}); err != nil {
			return err
		}
		o.Pop()
		if err := w.ui.print(o); err != nil {
			return err
		}
		return w.print.writeFile(ctx, w.ui.out, path, v, c.Tree.Labels, style)
	}
	if path, ok := set.Single(); ok {
		v, err := repo.ValueAt(ctx, w.store, c.Tree, path)
		if err != nil {
			return err
		}
		if !repo.IsPresent(v) {
			return userf("No such path: %s", w.paths().Format(path))
		}
		if t, ok := v.AsResolved(); !ok || !t.IsTree() {
			w.ui.page(ctx)
			return show(path, v)
		}
	}
	w.ui.page(ctx)
	if err := repo.WalkTree(ctx, w.store, c.Tree, set, show); err != nil {
		return err
	}
	return w.warnUnmatched(ctx, set, c.Tree)
}

// writeFile writes a file's content, conflicts with markers.
func (pr *printer) writeFile(ctx context.Context, out io.Writer, path repo.Path, v repo.Merge[repo.TreeValue], labels repo.Labels,
	style repo.MarkerStyle) error {
	t, ok := v.AsResolved()
	if !ok {
		fc, err := repo.ReadFileConflict(ctx, pr.store, v, labels)
		if err != nil {
			return err
		}
		if fc == nil {
			_, err = io.WriteString(out, repo.DescribeConflict(v, labels))
			return err
		}
		_, err = out.Write(fc.Materialize(style, repo.MarkerLen(fc.Contents)))
		return err
	}
	if !t.IsFile() {
		pr.ui.warnf("Path '%s' exists but is not a file.", pr.paths().Format(path))
		return nil
	}
	data, err := pr.store.File(ctx, t.FileID())
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	return err
}

func runFileChmod(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	c, err := w.revs.single(ctx, p.or("revision", "@"))
	if err != nil {
		return err
	}
	if err := w.revs.checkRewritable(ctx, c.ID); err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	if err := w.warnUnmatched(ctx, set, c.Tree); err != nil {
		return err
	}
	kind, word := repo.File, "non-executable"
	if p.str("mode") == "x" {
		kind, word = repo.Executable, "executable"
	}
	ed := repo.EditTree(w.store, c.Tree)
	err = repo.WalkTree(ctx, w.store, c.Tree, set, func(path repo.Path, v repo.Merge[repo.TreeValue]) error {
		for _, t := range v.Adds() {
			if !t.IsAbsent() && !t.IsFile() {
				msg := "Some of the sides of the conflict are not files"
				if v.IsResolved() {
					msg = "Found neither a file nor a conflict"
				}
				return userf("%s at '%s'.", msg, w.paths().Format(path))
			}
		}
		ed.Set(path, repo.MapMerge(v, func(t repo.TreeValue) repo.TreeValue {
			if t.IsFile() {
				t.Kind = kind
			}
			return t
		}))
		return nil
	})
	if err != nil {
		return err
	}
	tree, err := ed.Write(ctx)
	if err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	d, err := t.Rewrite(ctx, c)
	if err != nil {
		return err
	}
	d.Tree = tree
	if _, err := t.Write(ctx, d); err != nil {
		return err
	}
	return t.finish(ctx, fmt.Sprintf("make paths %s in commit %s", word, c.ID.Hex()))
}

func runFileTrack(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return err
	}
	if w.atOp {
		return w.needsFiles()
	}
	auto, err := w.snapshotFresh(ctx)
	if err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	return w.trackFiles(ctx, set, p.has("include-ignored"), auto)
}

func runFileUntrack(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	if w.atOp {
		return w.needsFiles()
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	return w.untrackFiles(ctx, set)
}

// untrackFiles forgets files that the rules now ignore.
func (w *session) untrackFiles(ctx context.Context, set *fileset.Set) error {
	c, err := w.wcCommit(ctx)
	if err != nil {
		return err
	}
	if c == nil {
		return userf("This command requires a working copy")
	}
	ed := repo.EditTree(w.store, c.Tree)
	err = repo.WalkTree(ctx, w.store, c.Tree, set, func(path repo.Path, _ repo.Merge[repo.TreeValue]) error {
		ed.Set(path, repo.Resolved(repo.TreeValue{}))
		return nil
	})
	if err != nil {
		return err
	}
	tree, err := ed.Write(ctx)
	if err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	d, err := t.Rewrite(ctx, c)
	if err != nil {
		return err
	}
	d.Tree = tree
	if _, err := t.Write(ctx, d); err != nil {
		return err
	}
	o, err := w.snapshotOptions(nil)
	if err != nil {
		return err
	}
	locked, err := w.wc.Lock(ctx)
	if err != nil {
		return err
	}
	fail := func(err error) error {
		locked.Discard()
		return err
	}
	if err := locked.Reset(ctx, tree); err != nil {
		return fail(err)
	}
	now, stats, err := locked.Snapshot(ctx, o)
	if err != nil {
		return fail(err)
	}
	if !now.SameIDs(tree) {
		var back []repo.Path
		err := repo.WalkTree(ctx, w.store, now, set, func(path repo.Path, _ repo.Merge[repo.TreeValue]) error {
			back = append(back, path)
			return nil
		})
		if err != nil {
			return fail(err)
		}
		if len(back) > 0 {
			msg := fmt.Sprintf("'%s' is not ignored.", w.paths().Format(back[0]))
			if len(back) > 1 {
				msg = fmt.Sprintf("'%s' and %d other files are not ignored.", w.paths().Format(back[0]), len(back)-1)
			}
			return fail(userf("%s", msg).hinted("Files that are not ignored will be added back by the next command.\n" +
				"Make sure they're ignored, then try again."))
		}
		if err := locked.Reset(ctx, tree); err != nil {
			return fail(err)
		}
	}
	n, err := t.RebaseDescendants(ctx, repo.RebaseOptions{})
	if err != nil {
		return fail(err)
	}
	if n > 0 {
		w.ui.statusf("Rebased %d descendant commits.\n", n)
	}
	if ctx, err = whole(ctx); err != nil {
		return fail(err)
	}
	if w.git.colocated() && !w.global.noIntegrate {
		if err := w.git.withGit(ctx, t.exportGit); err != nil {
			return fail(err)
		}
	}
	if err := w.publish(ctx, t, "untrack paths"); err != nil {
		return fail(err)
	}
	if err := locked.Finish(w.repo.Operation.ID); err != nil {
		return err
	}
	if err := w.warnUnmatched(ctx, set, c.Tree); err != nil {
		return err
	}
	w.print.warnUntracked(stats)
	return nil
}
