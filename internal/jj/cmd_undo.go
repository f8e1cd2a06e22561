// `jj undo` and `jj redo`, as jj 0.45.1 has them: several undos go further back, and a redo takes back the last of them.

package jj

import (
	"context"
	"strings"

	"tandem/internal/repo"
)

const (
	undoTitle = "undo: restore to operation "
	redoTitle = "redo: restore to operation "
)

func undoCommand() *command {
	return &command{name: "undo", run: runUndo}
}

func redoCommand() *command {
	return &command{name: "redo", run: runRedo}
}

// follow goes from an undo or redo to the operation it restored.
func (l *opLog) follow(ctx context.Context, o *repo.Operation, title string) (*repo.Operation, error) {
	hex, ok := strings.CutPrefix(o.Meta.Description, title)
	if !ok {
		return o, nil
	}
	id, ok := repo.ParseOperationID(hex)
	if !ok {
		return nil, internalf(nil, "Failed to parse ID of target operation in undo-stack")
	}
	return l.store.Operation(ctx, id)
}

func runUndo(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	target, err := w.ops.follow(ctx, w.repo.Operation, undoTitle)
	if err != nil {
		return err
	}
	if strings.HasPrefix(target.Meta.Description, "push ") {
		w.ui.warnf("Undoing a push operation often leads to conflicted bookmarks.")
		w.ui.hintf("To avoid this, run `jj redo` now.")
	}
	switch len(target.Parents) {
	case 0:
		return userf("Cannot undo root operation")
	case 1:
	default:
		return userf("Cannot undo a merge operation").hinted("Consider using `jj op restore` instead")
	}
	parent, err := w.store.Operation(ctx, target.Parents[0])
	if err != nil {
		return err
	}
	if parent, err = w.ops.follow(ctx, parent, undoTitle); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	if err := t.restoreView(ctx, parent, true, true); err != nil {
		return err
	}
	if err := w.print.sayOp(ctx, "Undid operation: ", target); err != nil {
		return err
	}
	if err := w.print.sayOp(ctx, "Restored to operation: ", parent); err != nil {
		return err
	}
	return t.finish(ctx, undoTitle+parent.ID.Hex())
}

func runRedo(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	target, err := w.ops.follow(ctx, w.repo.Operation, redoTitle)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(target.Meta.Description, undoTitle) {
		return userf("Nothing to redo")
	}
	if len(target.Parents) != 1 {
		return internalf(nil, "Undo operation should have a single parent")
	}
	parent, err := w.store.Operation(ctx, target.Parents[0])
	if err != nil {
		return err
	}
	if parent, err = w.ops.follow(ctx, parent, redoTitle); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	if err := t.restoreView(ctx, parent, true, true); err != nil {
		return err
	}
	if err := w.print.sayOp(ctx, "Restored to operation: ", parent); err != nil {
		return err
	}
	return t.finish(ctx, redoTitle+parent.ID.Hex())
}

func (pr *printer) sayOp(ctx context.Context, title string, o *repo.Operation) error {
	l, err := pr.language(ctx)
	if err != nil {
		return err
	}
	r, err := pr.template(l, pr.conf.Str("templates.op_summary"), l.Operation)
	if err != nil {
		return err
	}
	t := pr.ui.newText()
	t.Str(title)
	t.Push("operation")
	if err := r.Render(t, o); err != nil {
		return err
	}
	t.Pop()
	t.Str("\n")
	pr.ui.status(t)
	return nil
}

// restoreView goes back to an operation's state: the repository, what is known
// of remotes, or both.
func (t *tx) restoreView(ctx context.Context, o *repo.Operation, local, remotes bool) error {
	from, err := t.Store.View(ctx, o.View)
	if err != nil {
		return err
	}
	return t.takeView(ctx, from, local, remotes)
}

func (t *tx) takeView(ctx context.Context, from *repo.View, local, remotes bool) error {
	now := t.Base().View
	v := now.Clone()
	if local {
		c := from.Clone()
		v.Heads, v.Bookmarks, v.Tags, v.Workspaces = c.Heads, c.Bookmarks, c.Tags, c.Workspaces
	}
	if remotes {
		v.Remotes = from.Clone().Remotes
	}
	return t.SetView(ctx, v)
}
