// `jj next` and `jj prev`, as jj 0.45.1 has them: by default in the way of `ui.movement.edit`, with a question where the
// history forks.

package jj

import (
	"context"
	"fmt"
	"strconv"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

func movementOpts() []opt {
	return []opt{
		{id: "offset", pos: true, value: "OFFSET", check: checkCount},
		{id: "edit", long: "edit", short: "e"},
		{id: "no-edit", long: "no-edit", short: "n", conflicts: []string{"edit"}},
		{id: "conflict", long: "conflict", conflicts: []string{"offset"}},
	}
}

func nextCommand() *command {
	return &command{name: "next", opts: movementOpts(), run: runMovement}
}

func prevCommand() *command {
	return &command{name: "prev", opts: movementOpts(), run: runMovement}
}

// movement is a step along the history.
type movement struct {
	w              *session
	next           bool
	edit, conflict bool
	offset         uint32
}

func runMovement(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	at, ok := w.repo.View.Workspaces[w.name]
	if !ok {
		return userf("This command requires a working copy")
	}
	m := &movement{w: w, next: p.command().name == "next", conflict: p.has("conflict"), offset: 1}
	def, err := w.conf.Bool("ui.movement.edit")
	if err != nil {
		return err
	}
	m.edit = p.has("edit") || !p.has("no-edit") && def
	if s, ok := p.get("offset"); ok {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return err
		}
		m.offset = uint32(n)
	}
	target, err := m.target(ctx, at)
	if err != nil {
		return err
	}
	if m.edit {
		if err := w.revs.checkRewritable(ctx, target.ID); err != nil {
			return err
		}
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%s: %s -> ", p.command().name, at.Hex()[:12])
	if m.edit {
		if err := t.Edit(ctx, w.name, target); err != nil {
			return err
		}
		return t.finish(ctx, title+"editing "+target.ID.Hex()[:12])
	}
	if _, err := t.CheckOut(ctx, w.name, target); err != nil {
		return err
	}
	return t.finish(ctx, title+target.ID.Hex()[:12])
}

func (m *movement) target(ctx context.Context, at repo.CommitID) (*repo.Commit, error) {
	w := m.w
	if _, head := w.repo.View.Heads[at]; !m.edit && !head {
		return nil, userf("The working copy must not have any children").hinted("Create a new commit on top of this one or use `--edit`")
	}
	wc := revset.Commits(at)
	start := wc
	if !m.edit {
		start = revset.Parents(wc)
	}
	var x *revset.Expr
	switch {
	case !m.next:
		x = revset.AncestorsAt(start, m.offset)
	case m.edit:
		x = revset.DescendantsAt(start, m.offset)
	default:
		x = revset.DescendantsAt(revset.Minus(revset.Children(start), wc), m.offset-1)
	}
	if m.conflict {
		if m.next {
			x = revset.Roots(revset.And(revset.Descendants(x), revset.WithConflicts()))
		} else {
			x = revset.Heads(revset.And(revset.Ancestors(x), revset.WithConflicts()))
		}
	}
	rr := w.revs.revRepo(ctx, w.repo, nil)
	ids, err := rr.IDs(ctx, x)
	if err != nil {
		return nil, err
	}
	cs, err := w.commits(ctx, ids)
	if err != nil {
		return nil, err
	}
	switch len(cs) {
	case 1:
		return cs[0], nil
	case 0:
		starts, err := rr.IDs(ctx, start)
		if err != nil {
			return nil, err
		}
		return nil, m.notFound(ctx, starts)
	}
	return m.ask(ctx, cs)
}

func (m *movement) notFound(ctx context.Context, starts []repo.CommitID) error {
	var msg string
	switch {
	case m.next && m.edit && m.conflict:
		msg = "The working copy has no descendants with conflicts"
	case m.next && m.edit:
		msg = fmt.Sprintf("No descendant found %d commit(s) forward from the working copy", m.offset)
	case m.next && m.conflict:
		msg = "The working copy parent(s) have no other descendants with conflicts"
	case m.next:
		msg = fmt.Sprintf("No other descendant found %d commit(s) forward from the working copy parent(s)", m.offset)
	case m.edit && m.conflict:
		msg = "The working copy has no ancestors with conflicts"
	case m.edit:
		msg = fmt.Sprintf("No ancestor found %d commit(s) back from the working copy", m.offset)
	case m.conflict:
		msg = "The working copy parent(s) have no ancestors with conflicts"
	default:
		msg = fmt.Sprintf("No ancestor found %d commit(s) back from the working copy parents(s)", m.offset)
	}
	e := userf("%s", msg)
	cs, err := m.w.commits(ctx, starts)
	if err != nil {
		return err
	}
	for _, c := range cs {
		t := m.w.ui.newText()
		if m.edit {
			t.Str("Working copy: ")
		} else {
			t.Str("Working copy parent: ")
		}
		if err := m.w.print.summary(ctx, t, c); err != nil {
			return err
		}
		e.hints = append(e.hints, hint{rich: t})
	}
	return e
}

// ask lets the user choose between several targets.
func (m *movement) ask(ctx context.Context, cs []*repo.Commit) (*repo.Commit, error) {
	w := m.w
	word := "prev"
	if m.next {
		word = "next"
	}
	t := w.ui.newText()
	t.Printf("ambiguous %s commit, choose one to target:\n", word)
	var choices []string
	for i, c := range cs {
		t.Printf("%d: ", i+1)
		if err := w.print.summary(ctx, t, c); err != nil {
			return nil, err
		}
		t.Str("\n")
		choices = append(choices, strconv.Itoa(i+1))
	}
	t.Str("q: quit the prompt\n")
	w.ui.colours.WriteTo(w.ui.io.Stderr, t)
	choices = append(choices, "q")
	i, err := w.ui.choose("enter the index of the commit you want to target", choices)
	if err != nil {
		return nil, err
	}
	if i >= len(cs) {
		return nil, userf("ambiguous target commit")
	}
	return cs[i], nil
}
