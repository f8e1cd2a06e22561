// `jj absorb`, as jj 0.45.1 has it: each changed stretch goes to the mutable ancestor that last touched its lines. A
// stretch that belongs to several stays where it is: stock jj does not guess, and neither does this.

package jj

import (
	"context"
	"fmt"
	"slices"

	"tandem/internal/repo"
	"tandem/internal/repo/annotate"
	"tandem/internal/repo/diff"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
)

func absorbCommand() *command {
	return &command{
		name: "absorb",
		opts: []opt{
			{id: "from", long: "from", short: "f", value: "REVSET"},
			{id: "into", long: "into", short: "t", alias: []string{"to"}, value: "REVSETS", many: true},
			{id: "pos", pos: true, many: true, value: "FILESETS"},
			{id: "interactive", long: "interactive", short: "i"},
			{id: "tool", long: "tool", value: "NAME"},
		},
		run: runAbsorb,
	}
}

// absorption is one run of the command.
type absorption struct {
	w      *session
	source *repo.Commit
	parent repo.MergedTree // of the source
	picked repo.MergedTree // the parent with the changes to be absorbed
	into   *revset.Expr
	edits  map[repo.CommitID]*repo.TreeEdit // parent plus a destination's share
	dests  []repo.CommitID

	done    []*repo.Commit // destinations rewritten, parents first
	rest    *repo.Commit   // what is left of the source
	rebased int
}

func runAbsorb(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	a := &absorption{w: w, edits: map[repo.CommitID]*repo.TreeEdit{}}
	if a.source, err = w.revs.single(ctx, p.or("from", "@")); err != nil {
		return err
	}
	into := p.all("into")
	if len(into) == 0 {
		into = []string{"mutable()"}
	}
	if a.into, err = w.revs.compileAll(into); err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	if err := w.warnUnmatched(ctx, set, a.source.Tree); err != nil {
		return err
	}
	if err := a.pick(ctx, p, set); err != nil {
		return err
	}
	if err := a.split(ctx, set); err != nil {
		return err
	}
	if err := w.revs.checkRewritable(ctx, a.dests...); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	if err := a.apply(ctx, t); err != nil {
		return err
	}
	return a.finish(ctx, t)
}

// pick finds the changes to be absorbed: all, or those a person chose.
func (a *absorption) pick(ctx context.Context, p *parsed, match repo.Matcher) error {
	w := a.w
	var err error
	if a.parent, err = repo.ParentTree(ctx, w.store, w.repo.Index, a.source); err != nil {
		return err
	}
	a.picked = a.source.Tree
	sel, err := w.tools.selector(p.str("tool"), p.has("interactive"))
	if err != nil || sel.tool == nil {
		return err
	}
	a.picked, err = sel.chooseOf(ctx, a.source, a.parent, match, func() (string, error) {
		s, err := w.print.summaryText(ctx, a.source)
		return "You are selecting changes from: " + s + " to be considered for\n" +
			"absorption into ancestors.\n\n" +
			"The left side of the diff shows the parent commit. The right side\n" +
			"initially shows the contents of the commit you're absorbing from.\n\n" +
			"Adjust the right side until the diff shows the changes you want to\n" +
			"absorb. Selected hunks will be considered for assignment to the\n" +
			"closest ancestor where the corresponding lines were last modified\n" +
			"(using annotation). Any hunks that cannot be absorbed unambiguously\n" +
			"remain in the source commit.\n", err
	})
	if err == nil && a.picked.SameIDs(a.parent) {
		return userf("No changes selected")
	}
	return err
}

// split gives each change to the commit its lines come from.
func (a *absorption) split(ctx context.Context, match repo.Matcher) error {
	w := a.w
	return repo.DiffTrees(ctx, w.store, a.parent, a.picked, match, func(path repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		if v, ok := before.AsResolved(); ok && v.IsAbsent() {
			return nil // nobody brought a new file
		}
		for _, v := range []repo.Merge[repo.TreeValue]{before, after} {
			if why := unabsorbable(v); why != "" {
				w.ui.warnf("Skipping %s: %s", w.paths().Format(path), why)
				return nil
			}
		}
		old, err := w.store.File(ctx, before[0].FileID())
		if err != nil {
			return err
		}
		var now []byte
		if !after[0].IsAbsent() {
			if now, err = w.store.File(ctx, after[0].FileID()); err != nil {
				return err
			}
		}
		origins, err := annotate.Lines(ctx, w.revs.rev(ctx), a.source.ID, path, old, a.into)
		if err != nil {
			return err
		}
		for _, s := range shares(ranges(old, origins), diff.ByLine(old, now).Changes()) {
			text := s.apply(old, now)
			value := repo.TreeValue{}
			if len(text) > 0 || !after[0].IsAbsent() {
				id, err := w.store.PutFile(ctx, text)
				if err != nil {
					return err
				}
				value = repo.TreeValue{Kind: before[0].Kind, ID: string(id)}
			}
			if a.edits[s.to] == nil {
				a.edits[s.to] = repo.EditTree(w.store, a.parent)
				a.dests = append(a.dests, s.to)
			}
			a.edits[s.to].Set(path, repo.Resolved(value))
		}
		return nil
	})
}

// unabsorbable says why a value cannot be taken apart, or "".
func unabsorbable(v repo.Merge[repo.TreeValue]) string {
	t, ok := v.AsResolved()
	switch {
	case !ok:
		return "Is a conflict"
	case t.Kind == repo.Symlink:
		return "Is a symlink"
	case t.Kind == repo.Submodule:
		return "Is a Git submodule"
	}
	return ""
}

// origin is a stretch of bytes that one commit brought.
type origin struct {
	diff.Span
	from repo.CommitID
}

// ranges joins lines that follow each other and come from one commit; lines of
// unknown origin are left out.
func ranges(text []byte, origins []annotate.Origin) []origin {
	var out []origin
	for i, s := range diff.Lines(text) {
		o := origins[i]
		if !o.Known {
			continue
		}
		if n := len(out); n > 0 && out[n-1].from == o.Commit && out[n-1].End == s.Start {
			out[n-1].End = s.End
			continue
		}
		out = append(out, origin{s, o.Commit})
	}
	return out
}

// share is the part of a file's changes that goes to one commit.
type share struct {
	to      repo.CommitID
	changes []diff.Change
}

// shares maps changes to the commits whose lines they touch. A change that
// only removes may be cut where origins meet; any other has to lie within one
// stretch, and an insertion between two is nobody's.
func shares(from []origin, changes []diff.Change) []*share {
	var out []*share
	give := func(to repo.CommitID, c diff.Change) {
		i := slices.IndexFunc(out, func(s *share) bool { return s.to == to })
		if i < 0 {
			i = len(out)
			out = append(out, &share{to: to})
		}
		out[i].changes = append(out[i].changes, c)
	}
	for _, c := range changes {
		left, right := c[0], c[1]
		if right.Start < right.End {
			for len(from) > 0 && from[0].End < left.End {
				from = from[1:]
			}
			if len(from) == 0 {
				break
			}
			between := from[0].End == left.Start && len(from) > 1 && from[1].Start == left.End
			if from[0].Start <= left.Start && left.End <= from[0].End && !between {
				give(from[0].from, c)
			}
			continue
		}
		for len(from) > 0 && from[0].End <= left.Start {
			from = from[1:]
		}
		n := 0
		for n < len(from) && from[n].End < left.End {
			n++
		}
		touched := from[:min(n+1, len(from))]
		from = from[n:]
		if len(touched) <= n || !covers(touched, left) {
			continue
		}
		for _, o := range touched {
			give(o.from, diff.Change{{Start: max(o.Start, left.Start), End: min(o.End, left.End)}, right})
		}
	}
	return out
}

// covers says whether stretches hold a span without a gap.
func covers(from []origin, s diff.Span) bool {
	at := s.Start
	for _, o := range from {
		if o.Start > at {
			return false
		}
		at = o.End
	}
	return true
}

// apply is the old text with the share's changes made.
func (s *share) apply(old, now []byte) []byte {
	var out []byte
	at := 0
	for _, c := range s.changes {
		out = append(out, old[at:c[0].Start]...)
		out = append(out, now[c[1].Start:c[1].End]...)
		at = c[0].End
	}
	return append(out, old[at:]...)
}

// apply rewrites the destinations and takes from the source what they got.
func (a *absorption) apply(ctx context.Context, t *tx) error {
	parents, err := render.ParentsLabel(ctx, t.Store, a.source)
	if err != nil {
		return err
	}
	return t.TransformDescendants(ctx, a.dests, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		if m.Old.ID == a.source.ID {
			return a.reduce(ctx, t, m)
		}
		ed := a.edits[m.Old.ID]
		if ed == nil {
			a.rebased++
			_, err := m.Rebase(ctx, repo.RebaseOptions{})
			return err
		}
		picked, err := ed.Write(ctx)
		if err != nil {
			return err
		}
		d, err := m.RebaseDraft(ctx, repo.RebaseOptions{})
		if err != nil {
			return err
		}
		d.Tree, err = repo.MergeMergedTrees(ctx, t.Store,
			repo.Labelled{Tree: d.Tree, Label: m.Old.ConflictLabel() + " (absorb destination)"},
			repo.Labelled{Tree: a.parent, Label: parents + " (parents of absorbed revision)"},
			repo.Labelled{Tree: picked, Label: "absorbed changes (from " + a.source.ConflictLabel() + ")"})
		if err != nil {
			return err
		}
		d.Predecessors = append(d.Predecessors, a.source.ID)
		c, err := t.Write(ctx, d)
		a.done = append(a.done, c)
		return err
	})
}

func (a *absorption) reduce(ctx context.Context, t *tx, m *repo.Move) error {
	d, err := m.Reparent(ctx)
	if err != nil {
		return err
	}
	empty, err := t.IsDiscardable(ctx, &d.Commit)
	if err != nil {
		return err
	}
	if empty {
		t.AbandonTo(m.Old.ID, d.Parents)
		return nil
	}
	a.rebased++
	a.rest, err = t.Write(ctx, d)
	return err
}

func (a *absorption) finish(ctx context.Context, t *tx) error {
	w := a.w
	o := w.ui.newText()
	if len(a.done) > 0 {
		o.Printf("Absorbed changes into %d revisions:\n", len(a.done))
		l, err := w.print.newLang(ctx, t.now())
		if err != nil {
			return err
		}
		children := slices.Clone(a.done)
		slices.Reverse(children)
		if err := w.print.commitListWith(l, o, children); err != nil {
			return err
		}
	}
	if a.rebased > 0 {
		o.Printf("Rebased %d descendant commits.\n", a.rebased)
	}
	w.ui.status(o)
	if err := t.finish(ctx, fmt.Sprintf("absorb changes into %d commits", len(a.done))); err != nil || a.rest == nil {
		return err
	}
	empty, err := repo.IsEmpty(ctx, w.store, w.repo.Index, a.rest)
	if err != nil || empty {
		return err
	}
	d, err := w.print.newDiffer([]string{"summary"}, nil)
	if err != nil {
		return err
	}
	o = w.ui.newText()
	o.Str("Remaining changes:\n")
	if err := d.patch(ctx, o, a.rest, repo.Everything{}, w.ui.width()); err != nil {
		return err
	}
	w.ui.status(o)
	return nil
}
