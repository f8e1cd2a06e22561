// `jj converge`, as jj 0.45.1 has it: the versions of a divergent change become one. What their common history settles
// is not asked for.

package jj

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/text"
)

func convergeCommand() *command {
	return &command{
		name: "converge",
		opts: []opt{
			{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true},
			{id: "no-interactive", long: "no-interactive", conflicts: []string{"interactive"}},
			{id: "interactive", long: "interactive", short: "i", hidden: true},
		},
		run: runConverge,
	}
}

// convergence is one run of the command: several visible commits of a change
// are to become one.
type convergence struct {
	w       *session
	t       *tx
	change  repo.ChangeID
	commits []*repo.Commit
	graph   *evolutionGraph
	ask     bool
}

func runConverge(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	texts := p.all("revisions")
	if len(texts) == 0 {
		texts = []string{w.conf.Str("revsets.converge")}
	}
	x, err := w.revs.compileAll(texts)
	if err != nil {
		return err
	}
	if err := w.revs.checkRewritableExpr(ctx, x); err != nil {
		return err
	}
	ids, err := w.revs.ids(ctx, x)
	if err != nil {
		return err
	}
	all, err := w.commits(ctx, ids)
	if err != nil {
		return err
	}
	changes := divergent(all)
	if len(changes) == 0 {
		if p.has("revisions") {
			w.ui.statusf("No divergence found among the specified revisions.\n")
		} else {
			w.ui.statusf("No divergent changes found.\n")
		}
		return nil
	}
	if err := w.print.sayDivergent(ctx, changes); err != nil {
		return err
	}
	c := &convergence{w: w, ask: !p.has("no-interactive")}
	ok := false
	if c.change, ok, err = w.print.chooseChange(changes, c.ask); err != nil || !ok {
		return err
	}
	c.commits = changes[c.change]
	if err := c.run(ctx, len(changes)); err != nil {
		return err
	}
	return c.t.finish(ctx, fmt.Sprintf("converge %s with %d predecessors", shortChange(c.change), len(c.commits)))
}

func shortChange(id repo.ChangeID) string { return repo.ReverseHex(id.Hex())[:12] }

// divergent groups commits by change and keeps the changes that several of
// them belong to.
func divergent(all []*repo.Commit) map[repo.ChangeID][]*repo.Commit {
	out := map[repo.ChangeID][]*repo.Commit{}
	for _, c := range all {
		out[c.ChangeID] = append(out[c.ChangeID], c)
	}
	maps.DeleteFunc(out, func(_ repo.ChangeID, cs []*repo.Commit) bool { return len(cs) < 2 })
	return out
}

func (pr *printer) sayDivergent(ctx context.Context, changes map[repo.ChangeID][]*repo.Commit) error {
	o := pr.ui.newText()
	o.Printf("Found %d divergent change(s) in the specified revset:\n", len(changes))
	for _, id := range slices.Sorted(maps.Keys(changes)) {
		cs := changes[id]
		o.Printf("- Change: %s with %d commits:\n", shortChange(id), len(cs))
		for i, c := range cs {
			if i == 10 {
				o.Printf("    ... and %d more", len(cs)-10)
				break
			}
			o.Str("    ")
			if err := pr.summary(ctx, o, c); err != nil {
				return err
			}
			o.Str("\n")
		}
		o.Str("\n")
	}
	return pr.ui.colours.WriteTo(pr.ui.io.Stderr, o)
}

// chooseChange asks which change is meant when several are divergent.
func (pr *printer) chooseChange(changes map[repo.ChangeID][]*repo.Commit, ask bool) (repo.ChangeID, bool, error) {
	ids := slices.Sorted(maps.Keys(changes))
	if len(ids) == 1 {
		return ids[0], true, nil
	}
	if !ask {
		return "", false, userf("Cannot automatically choose which change to converge").
			hinted("Run `jj converge` in interactive mode, or specify a revset that resolves to only one change ID")
	}
	o := pr.ui.newText()
	o.Str("Choose which change to converge (jj converge only converges one change at a time):\n")
	var choices []string
	for i, id := range ids {
		o.Printf("%d: %s\n", i+1, shortChange(id))
		choices = append(choices, strconv.Itoa(i+1))
	}
	o.Str("q: abort\n")
	if err := pr.ui.colours.WriteTo(pr.ui.io.Stderr, o); err != nil {
		return "", false, err
	}
	i, err := pr.ui.choose("Enter the index of the change to converge", append(choices, "q"))
	if err != nil {
		return "", false, err
	}
	pr.ui.statusf("\n\n")
	if i == len(ids) {
		pr.ui.statusf("Aborting... nothing changed.\n")
		return "", false, nil
	}
	return ids[i], true, nil
}

// run finds author, description, parents and tree of the one commit, writes it
// and puts it in the place of the others.
func (c *convergence) run(ctx context.Context, changes int) error {
	w := c.w
	fmt.Fprintf(w.ui.io.Stderr, "Attempting to converge change %s...\n\n", shortChange(c.change))
	var err error
	if c.graph, err = w.revs.evolutionGraph(ctx, c.commits); err != nil {
		return err
	}
	authors, err := c.graph.merge(ctx, c.commits, func(x *repo.Commit) (string, error) {
		return fmt.Sprintf("%q %q %v", x.Author.Name, x.Author.Email, x.Author.When), nil
	})
	if err != nil {
		return err
	}
	texts, err := c.graph.merge(ctx, c.commits, func(x *repo.Commit) (string, error) { return x.Description, nil })
	if err != nil {
		return err
	}
	viable := c.withoutDescendants()
	places, err := c.graph.merge(ctx, viable, func(x *repo.Commit) (string, error) { return parentsKey(x), nil })
	if err != nil {
		return err
	}
	author, haveAuthor, err := c.author(authors)
	if err != nil {
		return err
	}
	description, haveText, err := c.description(ctx, texts)
	if err != nil {
		return err
	}
	parents, haveParents, err := c.parents(ctx, places, viable)
	if err != nil {
		return err
	}
	for _, lack := range []struct {
		have bool
		what string
	}{{haveAuthor, "author"}, {haveText, "description"}, {haveParents, "parents"}} {
		if !lack.have {
			w.ui.statusf("Could not determine which %s to use.\n", lack.what)
		}
	}
	if !haveAuthor || !haveText || !haveParents {
		return userf("Could not converge change")
	}
	tree, err := c.tree(ctx, parents)
	if err != nil {
		return err
	}
	if c.t, err = w.begin(); err != nil {
		return err
	}
	d := c.t.NewCommit(parents, tree)
	d.ChangeID, d.Description, d.Author = c.change, description, author
	for _, x := range c.commits {
		d.Predecessors = append(d.Predecessors, x.ID)
	}
	made, err := c.t.Write(ctx, d)
	if err != nil {
		return err
	}
	for _, x := range c.commits {
		c.t.SetRewritten(x.ID, made.ID)
	}
	n, err := c.t.RebaseDescendants(ctx, repo.RebaseOptions{})
	if err != nil {
		return err
	}
	w.ui.statusf("Successfully converged change: created commit %s.\n", made.ID.Hex()[:12])
	if n > 0 {
		w.ui.statusf("Rebased %d descendants\n", n)
	}
	if changes > 1 {
		w.ui.hintf("There are still %d divergent changes remaining in the specified revset, you can run this command again to converge "+
			"another one.", changes-1)
	}
	return nil
}

func parentsKey(c *repo.Commit) string {
	var b strings.Builder
	for _, id := range c.Parents {
		b.WriteString(string(id))
	}
	return b.String()
}

// withoutDescendants are the commits that do not descend from another: with
// the parents of any other the history would bite its tail.
func (c *convergence) withoutDescendants() []*repo.Commit {
	return slices.DeleteFunc(slices.Clone(c.commits), func(x *repo.Commit) bool {
		return slices.ContainsFunc(c.commits, func(y *repo.Commit) bool { return x.ID != y.ID && c.w.repo.Index.IsAncestor(y.ID, x.ID) })
	})
}

func (c *convergence) author(m *valueMerge) (repo.Signature, bool, error) {
	if _, from, ok := m.resolve(); ok {
		return from.Author, true, nil
	}
	if !c.ask {
		return repo.Signature{}, false, nil
	}
	x, err := c.pick(c.commits, m.value, "Could not determine automatically which author to use",
		"Enter the index of the author you want to use",
		func(o *text.Text, x *repo.Commit) error {
			o.Printf("%s (%s, %s)\n", x.ID.Hex()[:12], x.Author.Name, x.Author.Email)
			return nil
		})
	if err != nil {
		return repo.Signature{}, false, err
	}
	return x.Author, true, nil
}

func (c *convergence) parents(ctx context.Context, m *valueMerge, viable []*repo.Commit) ([]repo.CommitID, bool, error) {
	if _, from, ok := m.resolve(); ok {
		return from.Parents, true, nil
	}
	if !c.ask {
		return nil, false, nil
	}
	x, err := c.pick(viable, m.value, "Could not determine automatically which parents to use",
		"Enter the index of one of the divergent commits whose parent(s) will be the parents of the solution",
		func(o *text.Text, x *repo.Commit) error {
			o.Printf("%s:\n", x.ID.Hex()[:12])
			for _, id := range x.Parents {
				p, err := c.w.store.Commit(ctx, id)
				if err != nil {
					return err
				}
				s, err := c.w.print.summaryText(ctx, p)
				if err != nil {
					return err
				}
				o.Printf("      Parent: %s\n", s)
			}
			return nil
		})
	if err != nil {
		return nil, false, err
	}
	return x.Parents, true, nil
}

// pick asks whose value is to be taken, if they differ.
func (c *convergence) pick(from []*repo.Commit, value func(*repo.Commit) (string, error), intro, prompt string,
	show func(*text.Text, *repo.Commit) error) (*repo.Commit, error) {
	distinct, err := distinctBy(from, value)
	if err != nil || len(distinct) == 1 {
		return distinct[0], err
	}
	w := c.w
	o := w.ui.newText()
	o.Str(intro + "\n")
	var choices []string
	for i, x := range distinct {
		o.Printf("%d: ", i+1)
		if err := show(o, x); err != nil {
			return nil, err
		}
		choices = append(choices, strconv.Itoa(i+1))
	}
	o.Str("q: abort\n")
	if err := w.ui.colours.WriteTo(w.ui.io.Stderr, o); err != nil {
		return nil, err
	}
	i, err := w.ui.choose(prompt, append(choices, "q"))
	if err != nil {
		return nil, err
	}
	w.ui.statusf("\n\n")
	if i == len(distinct) {
		return nil, userf("Aborting... nothing changed.")
	}
	return distinct[i], nil
}

// distinctBy keeps the first commit of each value.
func distinctBy(from []*repo.Commit, value func(*repo.Commit) (string, error)) ([]*repo.Commit, error) {
	var out []*repo.Commit
	seen := map[string]bool{}
	for _, x := range from {
		v, err := value(x)
		if err != nil {
			return nil, err
		}
		if !seen[v] {
			seen[v] = true
			out = append(out, x)
		}
	}
	return out, nil
}

func (c *convergence) description(ctx context.Context, m *valueMerge) (string, bool, error) {
	if s, _, ok := m.resolve(); ok {
		return s, true, nil
	}
	if !c.ask {
		return "", false, nil
	}
	distinct, err := distinctBy(c.commits, m.value)
	if err != nil {
		return "", false, err
	}
	if len(distinct) == 1 {
		return distinct[0].Description, true, nil
	}
	fc := &repo.FileConflict{}
	var labels []string
	for i, x := range distinct {
		if i > 0 {
			fc.Contents = append(fc.Contents, []byte(m.base.Description))
			labels = append(labels, m.base.ConflictLabel())
		}
		fc.Contents = append(fc.Contents, []byte(x.Description))
		labels = append(labels, x.ConflictLabel())
	}
	fc.Labels = repo.MakeLabels(labels)
	conflict := string(fc.Materialize(repo.DiffMarkers, repo.MarkerLen(fc.Contents)))
	edit, err := c.w.ui.yesNo("There are divergent descriptions. You can choose to merge them now in a\n"+
		"text editor, or skip merging and use the conflicted description (with\n"+
		"conflict markers). Do you want to merge them now?", true)
	if err != nil {
		return "", false, err
	}
	c.w.ui.statusf("\n\n")
	if !edit {
		return conflict, true, nil
	}
	s, err := c.w.editText(ctx, conflict, ".jj-converge-description", "description")
	return s, err == nil, err
}
