// `jj bisect run`, as jj 0.45.1 has it: exit code 0 is good, 125 skips, 127 stops, any other is bad.

package jj

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

func bisectCommand() *command {
	return &command{
		name: "bisect",
		subs: []*command{{
			name: "run",
			opts: []opt{
				{id: "range", long: "range", short: "r", value: "REVSETS", many: true, required: true},
				{id: "legacy", long: "command", value: "COMMAND", hidden: true, conflicts: []string{"command"}},
				{id: "command", pos: true, value: "COMMAND"},
				{id: "args", pos: true, many: true, value: "ARGS"},
				{id: "find-good", long: "find-good"},
			},
			run: runBisect,
		}},
	}
}

// bisection is the search for the first bad revision of a range. Its heads are
// taken to be bad, what lies before it to be good.
type bisection struct {
	rev                *revset.Repo // as it was at the start
	within             *revset.Expr
	good, bad, skipped []repo.CommitID
}

// verdict is what a run of the command says of a revision.
type verdict uint8

const (
	isGood verdict = iota
	isBad
	isUnknown
	stopped
)

func runBisect(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	line := append([]string{p.str("command")}, p.all("args")...)
	if s, ok := p.get("legacy"); ok {
		w.ui.warnf("`--command` is deprecated; use positional arguments instead: `jj bisect run --range=... -- %s`", s)
		line = strings.Fields(s)
	} else if !p.has("command") {
		return clif("Command argument is required")
	}
	x, err := w.revs.compileAll(p.all("range"))
	if err != nil {
		return err
	}
	b := &bisection{rev: w.revs.rev(ctx)}
	ids, err := b.rev.IDs(ctx, x)
	if err != nil {
		return err
	}
	b.within = revset.Commits(ids...)
	if b.bad, err = b.rev.IDs(ctx, revset.Heads(b.within)); err != nil {
		return err
	}
	start := w.repo.Operation.ID
	ended := false
	for !ended {
		c, err := b.next(ctx)
		if err != nil {
			return err
		}
		if c == nil {
			break
		}
		v, err := w.judge(ctx, b, c, line)
		if err != nil {
			return err
		}
		ended = b.mark(c.ID, v, p.has("find-good"))
		if w, err = e.open(ctx); err != nil { // the command may have run jj itself
			return err
		}
	}
	w.ui.printf("Search complete. To discard any revisions created during search, run:\n  jj op restore %s\n", shortOp(start))
	if ended {
		return userf("Bisection aborted")
	}
	target := "bad"
	if p.has("find-good") {
		target = "good"
	}
	return w.print.sayFound(ctx, b, target)
}

func (b *bisection) candidates() *revset.Expr {
	return revset.Minus(
		revset.And(b.within, revset.Range(revset.Commits(b.good...), revset.Roots(revset.Commits(b.bad...)))),
		revset.Union(revset.Commits(b.bad...), revset.Commits(b.skipped...)))
}

// next is the revision to look at, or nil at the end.
func (b *bisection) next(ctx context.Context) (*repo.Commit, error) {
	ids, err := b.rev.IDs(ctx, revset.Latest(revset.Bisect(b.candidates()), 1))
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return b.rev.Store.Commit(ctx, ids[0])
}

// mark takes a verdict in and says whether it ends the search.
func (b *bisection) mark(id repo.CommitID, v verdict, invert bool) (ended bool) {
	switch {
	case v == stopped:
		return true
	case v == isUnknown:
		b.skipped = append(b.skipped, id)
	case (v == isGood) != invert:
		b.good = append(b.good, id)
	default:
		b.bad = append(b.bad, id)
	}
	return false
}

// judge checks a revision out and runs the command on it.
func (w *session) judge(ctx context.Context, b *bisection, c *repo.Commit, line []string) (verdict, error) {
	left, err := b.rev.IDs(ctx, b.candidates())
	if err != nil {
		return 0, err
	}
	w.ui.printf("Bisecting: %d revisions left to test after this (roughly %.0f steps)\n", len(left),
		math.Ceil(math.Log2(float64(len(left)+1))))
	o := w.ui.newText()
	o.Str("Now evaluating: ")
	if err := w.print.summary(ctx, o, c); err != nil {
		return 0, err
	}
	o.Str("\n")
	if err := w.ui.print(o); err != nil {
		return 0, err
	}
	t, err := w.begin()
	if err != nil {
		return 0, err
	}
	if _, err := t.CheckOut(ctx, w.name, c); err != nil {
		return 0, err
	}
	if err := t.finish(ctx, fmt.Sprintf("Updated to revision %s for bisection", c.ID.Hex())); err != nil {
		return 0, err
	}
	cmd := w.ui.command(ctx, line[0], line[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Dir = w.io.Stdin, w.io.Stdout, w.io.Stderr, w.io.Dir
	cmd.Env = append(w.io.Env[:len(w.io.Env):len(w.io.Env)], "JJ_BISECT_TARGET="+c.ID.Hex())
	if self, err := os.Executable(); err == nil {
		cmd.Env = append(cmd.Env, "JJ_EXECUTABLE_PATH="+self)
	}
	err = cmd.Run()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		return 0, userf("Failed to run evaluation command").because(err)
	}
	v, said := isBad, "The revision is bad."
	switch cmd.ProcessState.ExitCode() {
	case 0:
		v, said = isGood, "The revision is good."
	case 125:
		v, said = isUnknown, "It could not be determined if the revision is good or bad."
	case 127:
		v, said = stopped, "Evaluation command returned 127 (command not found) - aborting bisection."
	}
	w.ui.printf("%s\n\n", said)
	return v, nil
}

// sayFound prints the first bad revisions and those that may be.
func (pr *printer) sayFound(ctx context.Context, b *bisection, target string) error {
	ids, err := b.rev.IDs(ctx, revset.Roots(revset.Commits(b.bad...)))
	if err != nil {
		return err
	}
	if len(ids) == 0 {
		return userf("Could not find the first %s revision. Was the input range empty?", target)
	}
	found, err := pr.commits(ctx, ids)
	if err != nil {
		return err
	}
	var maybe []*repo.Commit
	for todo := slices.Clone(found); len(todo) > 0; todo = todo[1:] {
		for _, id := range todo[0].Parents {
			if slices.Contains(b.skipped, id) {
				c, err := pr.store.Commit(ctx, id)
				if err != nil {
					return err
				}
				maybe, todo = append(maybe, c), append(todo, c)
			}
		}
	}
	o := pr.ui.newText()
	list := func(cs []*repo.Commit) error {
		for _, c := range cs {
			if err := pr.summary(ctx, o, c); err != nil {
				return err
			}
			o.Str("\n")
		}
		return nil
	}
	if len(found) == 1 && len(maybe) == 0 {
		o.Printf("The first %s revision is: ", target)
	} else {
		o.Printf("The first %s revisions are:\n", target)
	}
	if err := list(found); err != nil {
		return err
	}
	if len(maybe) > 0 {
		o.Printf("These revisions may also be %s, but couldn't be evaluated:\n", target)
		if err := list(maybe); err != nil {
			return err
		}
	}
	return pr.ui.print(o)
}
