// Taking in the files before a command, as jj 0.45.1 does: what is tracked, ignored, or too large.

package jj

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/workcopy"
)

// snapshotIfWanted takes the state of the files into the repository.
func (w *session) snapshotIfWanted(ctx context.Context) error {
	if w.atOp || w.global.ignoreWorkingCopy {
		return nil
	}
	stats, err := w.snapshotFresh(ctx)
	if err != nil {
		return err
	}
	w.print.warnUntracked(stats)
	return nil
}

// snapshotFresh is takeIn that first brings a stale working copy up to date
// when the settings ask for that.
func (w *session) snapshotFresh(ctx context.Context) (workcopy.SnapshotStats, error) {
	stats, err := w.takeIn(ctx)
	if err == errStale {
		return w.updateStale(ctx)
	}
	return stats, err
}

// errStale stops a snapshot of a stale working copy that the settings want
// brought up to date.
var errStale = errors.New("the working copy is stale")

// takeIn takes in what happened outside: files, and git's own moves when it
// works in the same folder.
func (w *session) takeIn(ctx context.Context) (stats workcopy.SnapshotStats, err error) {
	if !w.git.colocated() {
		return w.snapshot(ctx, nil)
	}
	err = w.git.withGit(ctx, func(ctx context.Context) error {
		if err := w.importHead(ctx); err != nil {
			return err
		}
		if stats, err = w.snapshot(ctx, nil); err != nil {
			return err
		}
		return w.importRefs(ctx)
	})
	return stats, err
}

func (w *session) ignores() (*workcopy.Ignores, error) {
	var g *workcopy.Ignores
	path := w.git.config("core.excludesFile")
	if path == "" {
		dir := w.io.getenv("XDG_CONFIG_HOME")
		if dir == "" && w.io.getenv("HOME") != "" {
			dir = filepath.Join(w.io.getenv("HOME"), ".config")
		}
		if dir != "" {
			path = filepath.Join(dir, "git", "ignore")
		}
	} else if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(w.io.getenv("HOME"), rest)
	}
	var err error
	if path != "" {
		if g, err = g.WithFile("", path); err != nil {
			return nil, userf("Failed to process .gitignore.").because(err)
		}
	}
	return g.WithFile("", filepath.Join(w.store.GitDir(), "info", "exclude"))
}

func (w *session) snapshotOptions(force repo.Matcher) (workcopy.SnapshotOptions, error) {
	var o workcopy.SnapshotOptions
	track, _, err := w.conf.String("snapshot.auto-track")
	if err != nil {
		return o, err
	}
	set, err := w.revs.files(track, fileset.Paths{Cwd: w.ws.root, Root: w.ws.root})
	if err != nil {
		return o, err
	}
	o.Track, o.Force = set, force
	if o.Ignores, err = w.ignores(); err != nil {
		return o, err
	}
	size := w.conf.Get("snapshot", "max-new-file-size")
	switch x := size.V.(type) {
	case int64:
		if o.MaxNewFileSize = x; x < 0 {
			return o, w.conf.Wrong("snapshot.max-new-file-size", fmt.Errorf("Integer out of range"))
		}
	case string:
		n, ok := parseSize(x)
		if !ok {
			return o, w.conf.Wrong("snapshot.max-new-file-size", fmt.Errorf("must start with a number"))
		}
		o.MaxNewFileSize = n
	}
	return o, nil
}

// snapshot makes an operation of changed files. force chooses files that are
// tracked whatever the rules say.
func (w *session) snapshot(ctx context.Context, force repo.Matcher) (workcopy.SnapshotStats, error) {
	var none workcopy.SnapshotStats
	commit, err := w.wcCommit(ctx)
	if err != nil {
		return none, err
	}
	if commit == nil {
		return none, nil
	}
	o, err := w.snapshotOptions(force)
	if err != nil {
		return none, err
	}
	locked, err := w.wc.Lock(ctx)
	if err != nil {
		return none, internalf(err, "Failed to access working copy state")
	}
	done := false
	defer func() {
		if !done {
			locked.Discard()
		}
	}()
	if locked.Style, err = w.markerStyle(); err != nil {
		return none, err
	}
	fresh, err := w.wc.Check(ctx, w.repo, commit)
	if err != nil {
		return none, err
	}
	switch fresh {
	case workcopy.Ahead:
		if w.repo, err = w.store.At(ctx, w.wc.Operation()); err != nil {
			return none, err
		}
		if err := w.bind(ctx); err != nil {
			return none, err
		}
		if commit, err = w.wcCommit(ctx); err != nil || commit == nil {
			return none, err
		}
	case workcopy.Stale, workcopy.Sibling, workcopy.Lost:
		if auto, err := w.conf.Bool("snapshot.auto-update-stale"); err != nil {
			return none, err
		} else if auto {
			return none, errStale
		}
		return none, w.staleError(fresh, commit)
	}
	tree, stats, err := locked.Snapshot(ctx, o)
	if err != nil {
		return none, internalf(err, "Failed to snapshot the working copy")
	}
	took := !tree.Equal(commit.Tree)
	if took && w.io.Wrote != nil {
		if err := w.io.Wrote(ctx, w.store, w.name, commit.Tree, tree); err != nil {
			return none, err
		}
	}
	if took {
		if err := w.commitSnapshot(ctx, commit, tree); err != nil {
			return none, err
		}
	}
	done = true
	if w.global.noIntegrate {
		if took {
			w.ui.statusf("Snapshot operation left uncommitted because --no-integrate-operation was requested: %s\n", shortOp(w.repo.Operation.ID))
		}
		locked.Discard()
		return stats, nil
	}
	return stats, locked.Finish(w.repo.Operation.ID)
}

func (w *session) commitSnapshot(ctx context.Context, old *repo.Commit, tree repo.MergedTree) error {
	t, err := w.begin()
	if err != nil {
		return err
	}
	t.SetSnapshot()
	fixed, err := w.revs.isImmutable(ctx, old.ID)
	if err != nil {
		return err
	}
	var d *repo.Draft
	if fixed {
		d = t.NewCommit([]repo.CommitID{old.ID}, tree)
		w.ui.warnf("The working-copy commit is immutable; a new commit has been created on top of it.")
	} else {
		if d, err = t.Rewrite(ctx, old); err != nil {
			return err
		}
		d.Tree = tree
	}
	c, err := t.Write(ctx, d)
	if err != nil {
		return err
	}
	t.View.Workspaces[w.name] = c.ID
	n, err := t.RebaseDescendants(ctx, repo.RebaseOptions{})
	if err != nil {
		return err
	}
	if n > 0 {
		w.ui.statusf("Rebased %d descendant commits onto updated working copy.\n", n)
	}
	if ctx, err = whole(ctx); err != nil {
		return err
	}
	if w.git.colocated() && !w.global.noIntegrate {
		if err := w.git.withGit(ctx, t.exportGit); err != nil {
			return err
		}
	}
	return w.publish(ctx, t, "snapshot working copy")
}

// publish makes a finished transaction the state to go on from.
func (w *session) publish(ctx context.Context, t *tx, description string) error {
	r, err := t.Finish(ctx, description)
	if err != nil {
		return err
	}
	if !w.global.noIntegrate {
		if err := w.store.Publish(ctx, r); err != nil {
			return err
		}
		w.made = append(w.made, made{r.Operation.ID, description})
	} else if err := w.store.Flush(); err != nil {
		return err
	}
	w.repo = r
	return w.bind(ctx)
}

func (w *session) staleError(f workcopy.Freshness, commit *repo.Commit) error {
	op := w.wc.Operation().Hex()[:12]
	switch f {
	case workcopy.Stale:
		return userf("The working copy is stale (not updated since operation %s).", op).
			hinted("Run `jj workspace update-stale` to update it.\n" +
				"See https://docs.jj-vcs.dev/latest/working-copy/#stale-working-copy for more information.")
	case workcopy.Sibling:
		return internalf(nil, "The repo was loaded at operation %s, which seems to be a sibling of the working copy's operation %s",
			w.repo.Operation.ID.Hex()[:12], op).
			hinted("Run `jj op integrate %s` to add the working copy's operation to the operation log.", op)
	}
	return userf("Could not read working copy's operation.").
		hinted("Run `jj workspace update-stale` to recover.\n" +
			"See https://docs.jj-vcs.dev/latest/working-copy/#stale-working-copy for more information.")
}

// warnUntracked tells about files that were left out, and what to do.
func (pr *printer) warnUntracked(s workcopy.SnapshotStats) {
	if biggest := pr.warnLeftOut(s); biggest > 0 {
		pr.hintLarge(biggest, nil)
	}
}

// warnLeftOut lists files that were left out for their size or their name, and
// gives the biggest size that may be allowed.
func (pr *printer) warnLeftOut(s workcopy.SnapshotStats) (biggest int64) {
	var lines []string
	slices.SortFunc(s.Untracked, func(a, b workcopy.Untracked) int { return repo.ComparePaths(a.Path, b.Path) })
	never := len(s.Outgrown) > 0
	for _, u := range append(slices.Clone(s.Untracked), s.Outgrown...) {
		switch {
		case u.Size == 0:
			continue
		case u.Size > repo.LargestFile:
			never = true
		default:
			biggest = max(biggest, u.Size)
		}
		lines = append(lines, fmt.Sprintf("  %s: %s (%d bytes); the maximum size allowed is %s (%d bytes)",
			pr.paths().Format(u.Path), humanSize(u.Size), u.Size, humanSize(u.MaxSize), u.MaxSize))
	}
	if len(lines) > 0 {
		pr.ui.warnf("Refused to snapshot some files:")
		fmt.Fprintln(pr.ui.io.Stderr, strings.Join(lines, "\n"))
	}
	if never {
		pr.hintNever(s.Outgrown)
	}
	if len(s.InvalidNames) > 0 {
		pr.ui.warnf("Skipped some paths because they are not valid UTF-8:")
		slices.Sort(s.InvalidNames)
		for _, name := range s.InvalidNames {
			dir, base := filepath.Split(name)
			fmt.Fprintf(pr.ui.io.Stderr, "  %s: %q\n", pr.paths().Format(repo.Path(strings.TrimSuffix(filepath.ToSlash(dir), "/"))), base)
		}
	}
	return biggest
}

// hintNever says what can be done about files that cannot be kept at all.
func (pr *printer) hintNever(outgrown []workcopy.Untracked) {
	more := ""
	for _, u := range outgrown {
		more += " " + shellQuote(pr.paths().Format(u.Path))
	}
	if more != "" {
		more = "\n  * Then run `jj file untrack" + more + "`\n    Until then what was last kept of them stays."
	}
	pr.ui.hintf("Files above %s cannot be kept. To fix this:\n  * Add the file(s) to `.gitignore`%s", humanSize(repo.LargestFile), more)
}

// hintLarge says what can be done about files that are too large; named are
// those that were asked for by name.
func (pr *printer) hintLarge(size int64, named []string) {
	command, more := "status", ""
	if len(named) > 0 {
		var quoted []string
		for _, n := range named {
			quoted = append(quoted, shellQuote(n))
		}
		list := strings.Join(quoted, " ")
		command = "file track " + list
		more = "\n  * Run `jj file track --include-ignored " + list + "`\n    This will track the file(s) regardless of size."
	}
	pr.ui.hintf("This is to prevent large files from being added by accident. To fix this:\n"+
		"  * Add the file(s) to `.gitignore`\n"+
		"  * Run `jj config set --repo snapshot.max-new-file-size %d`\n"+
		"    This will increase the maximum file size allowed for new files, in this repository only.\n"+
		"  * Run `jj --config snapshot.max-new-file-size=%d %s`\n"+
		"    This will increase the maximum file size allowed for new files, for this command only.%s", size, size, command, more)
}

func humanSize(n int64) string {
	f := float64(n)
	for _, u := range []string{"B", "KiB", "MiB", "GiB", "TiB"} {
		if f < 1024 || u == "TiB" {
			if u == "B" {
				return fmt.Sprintf("%.1f%s", f, u)
			}
			return fmt.Sprintf("%.1f%s", f, u)
		}
		f /= 1024
	}
	return ""
}

// isImmutable asks for one commit.
func (rs *revisions) isImmutable(ctx context.Context, id repo.CommitID) (bool, error) {
	in, err := rs.immutableTest(ctx)
	if err != nil {
		return false, err
	}
	return in(id)
}

// immutability is the set of commits that may not be rewritten.
type immutability struct {
	set repo.PosSet
	rev *revset.Repo
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// parseSize reads "1MiB", "10k" or plain bytes.
func parseSize(s string) (int64, bool) {
	i := 0
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
		i++
	}
	var n float64
	if _, err := fmt.Sscanf(s[:i], "%g", &n); err != nil {
		return 0, false
	}
	unit := strings.ToLower(strings.TrimSpace(s[i:]))
	mult := map[string]float64{"": 1, "b": 1, "k": 1 << 10, "kib": 1 << 10, "kb": 1000, "m": 1 << 20, "mib": 1 << 20, "mb": 1e6, "g": 1 << 30,
		"gib": 1 << 30, "gb": 1e9}
	f, ok := mult[unit]
	return int64(n * f), ok
}
