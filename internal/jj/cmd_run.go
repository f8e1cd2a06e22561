// `jj run`, as jj 0.45.1 has it: a command over many revisions, each in a folder of its own below .jj/run; what it
// changed is taken into them.

package jj

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/workcopy"
)

func runCommand() *command {
	return &command{
		name: "run",
		opts: []opt{
			{id: "command", pos: true, required: true, value: "COMMAND"},
			{id: "args", pos: true, many: true, value: "ARGS"},
			{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true},
			{id: "exec", short: "x", hidden: true},
			{id: "jobs", long: "jobs", short: "j", value: "JOBS", check: checkCount},
			{id: "root", long: "root"},
			{id: "clean", long: "clean"},
			{id: "restore-descendants", long: "restore-descendants"},
			{id: "passthrough", long: "passthrough"},
			{id: "ignore-changes", long: "ignore-changes", conflicts: []string{"restore-descendants"}},
			{id: "ignore-errors", long: "ignore-errors"},
		},
		run: runRun,
	}
}

// runs is one run of the command over many revisions.
type runs struct {
	w        *session
	p        *parsed
	line     []string
	base     string // the folder of the slots
	sub      string // where the command runs, below the root
	jobs     int
	trees    map[repo.CommitID]repo.MergedTree // what the command made
	flushing sync.Mutex
}

// runJob is the command's run on one revision.
type runJob struct {
	c        *repo.Commit
	out, err bytes.Buffer
	code     int
	skipped  bool
	tree     repo.MergedTree
	failed   error
}

func runRun(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	texts := p.all("revisions")
	if len(texts) == 0 {
		texts = []string{w.conf.Str("revsets.run")}
	}
	cs, err := w.revs.evalCommits(ctx, texts...)
	if err != nil {
		return err
	}
	slices.Reverse(cs)
	var ids []repo.CommitID
	for _, c := range cs {
		ids = append(ids, c.ID)
	}
	if !p.has("ignore-changes") {
		if err := w.revs.checkRewritable(ctx, ids...); err != nil {
			return err
		}
	}
	r := &runs{w: w, p: p, line: append([]string{p.str("command")}, p.all("args")...), trees: map[repo.CommitID]repo.MergedTree{}}
	r.base = filepath.Join(filepath.Dir(w.ws.repoDir), "run", "default")
	if r.jobs, err = r.jobCount(); err != nil {
		return err
	}
	if p.has("passthrough") && r.jobs > 1 {
		return clif("cannot use --passthrough with more than one job")
	}
	if sub, err := filepath.Rel(w.ws.root, w.io.Dir); err == nil && !p.has("root") && !strings.HasPrefix(sub, "..") {
		r.sub = sub
	}
	if err := r.runAll(ctx, cs); err != nil {
		return err
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	if p.has("ignore-changes") || len(r.trees) == 0 {
		return t.finish(ctx, "run: nothing changed")
	}
	return r.apply(ctx, t, ids)
}

func (r *runs) jobCount() (int, error) {
	const bad = "invalid value for `run.jobs`: %d (must be a positive integer)"
	if s, ok := r.p.get("jobs"); ok {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return 0, clif(bad, n)
		}
		return n, nil
	}
	n, ok, err := r.w.conf.Int("run.jobs")
	switch {
	case err != nil || !ok:
		return 1, nil
	case n < 0:
		return 0, userf(bad, n)
	case n == 0:
		return 0, configf(nil, bad, n)
	}
	return int(n), nil
}

// runAll runs the command on each revision, parents first, some at once, and
// prints what each said when it is done.
func (r *runs) runAll(ctx context.Context, cs []*repo.Commit) error {
	if err := os.MkdirAll(r.base, 0o777); err != nil {
		return err
	}
	done := make(chan *runJob)
	started, running := 0, 0
	slots := make(chan int, r.jobs)
	for i := range r.jobs {
		slots <- i + 1
	}
	var first error
	for running > 0 || started < len(cs) && first == nil {
		for first == nil && running < r.jobs && started < len(cs) {
			c, slot := cs[started], <-slots
			started++
			running++
			go func() {
				j := &runJob{c: c}
				j.failed = r.one(ctx, j, slot)
				slots <- slot
				done <- j
			}()
		}
		j := <-done
		running--
		if err := r.take(ctx, j); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// take prints what a job said and keeps what it made.
func (r *runs) take(ctx context.Context, j *runJob) error {
	w := r.w
	switch {
	case j.failed != nil:
		return userf("%s", j.failed)
	case j.skipped:
		w.ui.statusf("Skipped commit %s: directory does not exist: %s\n", j.c.ID.Hex(), r.sub)
		return nil
	}
	w.ui.printf("%s", j.out.String())
	fmt.Fprint(w.io.Stderr, j.err.String())
	if j.code != 0 {
		if r.p.has("ignore-errors") {
			return nil
		}
		e := userf("the command '%s' failed with exit status: %d", strings.Join(r.line, " "), j.code)
		o := w.ui.newText()
		o.Str("Failed revision: ")
		if err := w.print.summary(ctx, o, j.c); err != nil {
			return err
		}
		e.hints = append(e.hints, hint{rich: o})
		return e
	}
	if !j.tree.Equal(j.c.Tree) {
		r.trees[j.c.ID] = j.tree
	}
	return nil
}

// one checks a revision out into a slot and runs the command there.
func (r *runs) one(ctx context.Context, j *runJob, slot int) error {
	name := filepath.Join(r.base, strconv.Itoa(slot))
	lock, err := gitstore.LockFile(ctx, name+".lock")
	if err != nil {
		return err
	}
	defer lock.Unlock()
	root := filepath.Join(name, "working_copy")
	wc, reused, err := workcopy.Scratch(root, filepath.Join(name, "state"), r.w.store, r.p.has("clean"))
	if err != nil {
		return err
	}
	wc.Style = repo.SnapshotMarkers
	opts, err := r.w.snapshotOptions(nil)
	if err != nil {
		return err
	}
	opts.MaxNewFileSize = 64_000
	if err := r.checkOut(ctx, wc, j.c, opts, reused); err != nil {
		return err
	}
	dir := filepath.Join(root, r.sub)
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		j.skipped = true
		return wc.KeepState()
	}
	cmd := r.w.ui.command(ctx, r.line[0], r.line[1:]...)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(r.w.io.Env), "JJ_WORKSPACE_ROOT="+root, "JJ_CHANGE_ID="+repo.ReverseHex(j.c.ChangeID.Hex()),
		"JJ_COMMIT_ID="+j.c.ID.Hex())
	cmd.Stdout, cmd.Stderr = &j.out, &j.err
	if r.p.has("passthrough") {
		cmd.Stdout, cmd.Stderr = r.w.io.Stdout, r.w.io.Stderr
	}
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		return osCause(err)
	}
	j.code = cmd.ProcessState.ExitCode()
	tree, stats, err := wc.Snapshot(ctx, opts)
	if err != nil {
		return err
	}
	j.tree = tree
	if j.code != 0 {
		for _, u := range stats.Untracked {
			if err := os.Remove(filepath.Join(root, filepath.FromSlash(string(u.Path)))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	// The state names the tree, which nothing else may ever do.
	r.flushing.Lock()
	err = r.w.store.Flush()
	r.flushing.Unlock()
	if err != nil {
		return err
	}
	return wc.KeepState()
}

// checkOut makes the slot's files those of a revision. Files of an earlier run
// that were ignored then and are not now would become part of it: they go.
func (r *runs) checkOut(ctx context.Context, wc *workcopy.Locked, c *repo.Commit, opts workcopy.SnapshotOptions, reused bool) error {
	out := func() error {
		if _, err := wc.CheckOut(ctx, c.Tree); err != nil {
			return fmt.Errorf("failed to checkout the commit %s", c.ID.Hex())
		}
		return os.MkdirAll(wc.Root, 0o777)
	}
	if err := out(); err != nil || !reused {
		return err
	}
	now, _, err := wc.Snapshot(ctx, opts)
	if err != nil {
		return err
	}
	stray := false
	err = repo.DiffTrees(ctx, r.w.store, c.Tree, now, repo.Everything{}, func(p repo.Path, before, after repo.Merge[repo.TreeValue]) error {
		if repo.IsPresent(before) || !repo.IsPresent(after) {
			return nil
		}
		stray = true
		err := os.Remove(filepath.Join(wc.Root, filepath.FromSlash(string(p))))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	if err != nil || !stray {
		return err
	}
	return out()
}

// apply puts what the command made into the revisions.
func (r *runs) apply(ctx context.Context, t *tx, ids []repo.CommitID) error {
	keep := r.p.has("restore-descendants")
	rewritten, rebased := 0, 0
	err := t.TransformDescendants(ctx, ids, nil, repo.RebaseOptions{}, func(m *repo.Move) error {
		made, ours := r.trees[m.Old.ID]
		if !ours && !m.ParentsChanged() {
			return nil
		}
		if !ours {
			rebased++
		}
		if !ours && keep {
			d, err := m.Reparent(ctx)
			if err == nil {
				_, err = t.Write(ctx, d)
			}
			return err
		}
		d, err := m.RebaseDraft(ctx, repo.RebaseOptions{})
		if err != nil {
			return err
		}
		switch {
		case ours && keep:
			d.Tree = made
		case ours:
			d.Tree, err = repo.MergeMergedTrees(ctx, t.Store,
				repo.Labelled{Tree: made, Label: "command result"},
				repo.Labelled{Tree: m.Old.Tree, Label: "original commit"},
				repo.Labelled{Tree: d.Tree, Label: "rebased"})
			if err != nil {
				return err
			}
		}
		if ours {
			rewritten++
		}
		_, err = t.Write(ctx, d)
		return err
	})
	if err != nil {
		return err
	}
	r.w.ui.statusf("Rewrote %d commits.\n", rewritten)
	if rebased > 0 && keep {
		r.w.ui.statusf("Rebased %d descendant commits (while preserving their content).\n", rebased)
	} else if rebased > 0 {
		r.w.ui.statusf("Rebased %d descendant commits.\n", rebased)
	}
	return t.finish(ctx, fmt.Sprintf("run: rewrite %d commits", rewritten))
}
