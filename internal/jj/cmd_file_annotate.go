// `jj file annotate`, as jj 0.45.1 has it: who brought each line, by the template `templates.file_annotate`.

package jj

import (
	"context"
	"tandem/internal/repo"
	"tandem/internal/repo/annotate"
	"tandem/internal/repo/diff"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
)

func runFileAnnotate(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	c, err := w.revs.single(ctx, p.or("revision", "@"))
	if err != nil {
		return err
	}
	path, err := w.paths().Parse(p.str("path"))
	if err != nil {
		return err
	}
	v, err := repo.ValueAt(ctx, w.store, c.Tree, path)
	if err != nil {
		return err
	}
	if !repo.IsPresent(v) {
		return userf("No such path: %s", w.paths().Format(path))
	}
	if _, ok := repo.FileIDs(v); !ok {
		return userf("Path exists but is not a regular file: %s", w.paths().Format(path))
	}
	l, err := w.print.language(ctx)
	if err != nil {
		return err
	}
	r, err := w.print.templateOpt(l, p, "file_annotate", l.Annotation)
	if err != nil {
		return err
	}
	text, err := annotate.Content(ctx, w.store, c.Tree, path)
	if err != nil {
		return err
	}
	origins, err := annotate.Lines(ctx, w.revs.rev(ctx), c.ID, path, text, revset.All())
	if err != nil {
		return err
	}
	w.ui.page(ctx)
	o := w.ui.newText()
	var last repo.CommitID
	for i, s := range diff.Lines(text) {
		from := origins[i]
		if !from.Known { // as in a history whose older part is not there
			from = annotate.Origin{Commit: repo.RootCommitID}
		}
		line := render.AnnotationLine{Content: string(text[s.Start:s.End]), Number: i + 1, Original: from.Line + 1,
			FirstInHunk: from.Commit != last}
		if line.Commit, err = w.store.Commit(ctx, from.Commit); err != nil {
			return err
		}
		last = from.Commit
		if err := r.Render(o, line); err != nil {
			return err
		}
	}
	return w.ui.print(o)
}
