// `jj git export`, `import` and `root`, as jj 0.45.1 has them, and how the git program is run: by `git.executable-path`,
// because stock jj leaves everything that touches remotes to git itself, and so its settings and helpers count.

package jj

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/text"
)

func gitCommand() *command {
	return &command{
		name: "git",
		subs: []*command{
			gitCloneCommand(), gitColocationCommand(),
			{name: "export", run: runGitExport},
			gitFetchCommand(),
			{name: "import", run: runGitImport},
			gitInitCommand(), gitPushCommand(), gitRemoteCommand(),
			{name: "root", run: runGitRoot},
		},
	}
}

// output is what the git program prints, run on the repository's store.
func (gs *gitSide) output(ctx context.Context, args ...string) (string, error) {
	program := gs.conf.Str("git.executable-path")
	if program == "" {
		program = "git"
	}
	cmd := gs.ui.command(ctx, program, append([]string{"--git-dir", gs.store.GitDir()}, args...)...)
	cmd.Env, cmd.Dir = gs.io.Env, gs.ws.root
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return "", userf("Could not execute the git process, found in the OS path '%s'", program).because(err)
	}
	if err != nil {
		return "", userf("Unexpected Git error when managing remotes").because(errors.New(strings.TrimSpace(errs.String())))
	}
	return out.String(), nil
}

func runGitRoot(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	dir := w.store.GitDir()
	if r, err := filepath.EvalSymlinks(dir); err == nil {
		dir = r
	}
	w.ui.printf("%s\n", dir)
	return nil
}

func runGitImport(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	if w.git.colocated() && !w.atOp {
		w.ui.statusf("No import needed in colocated workspaces.\n")
		return nil
	}
	o, err := w.git.importOptions()
	if err != nil {
		return err
	}
	unlock, err := w.store.LockGit(ctx)
	if err != nil {
		return userf("Failed to take lock for Git import/export").because(err)
	}
	defer unlock()
	t, err := w.begin()
	if err != nil {
		return err
	}
	stats, err := w.store.ImportRefs(ctx, t.Tx, o)
	if err != nil {
		return internalf(err, "Failed to import refs from underlying Git repo")
	}
	if err := t.sayImported(ctx, stats); err != nil {
		return err
	}
	return t.finish(ctx, "import git refs")
}

// sayImported lists the refs that an import changed.
func (t *tx) sayImported(ctx context.Context, stats *gitstore.ImportStats) error {
	out := t.w.ui.newText()
	for _, tag := range []bool{false, true} {
		label := "bookmark"
		if tag {
			label = "tag"
		}
		var us []gitstore.RefUpdate
		wide := 0
		for _, u := range stats.Updates {
			if u.Tag == tag {
				us = append(us, u)
				wide = max(wide, text.Width(revset.FormatRemote(u.Name, u.Remote)))
			}
		}
		slices.SortStableFunc(us, func(a, b gitstore.RefUpdate) int {
			return strings.Compare(a.Name+"\x00"+a.Remote, b.Name+"\x00"+b.Remote)
		})
		for _, u := range us {
			ref := t.View.RemoteBookmark(u.Remote, u.Name)
			if tag {
				ref = t.View.RemoteTag(u.Remote, u.Name)
			}
			state, change := "untracked", "updated"
			if ref.Tracked {
				state = "tracked"
			}
			if repo.IsAbsentTarget(u.Old.Target) {
				change = "new"
			} else if repo.IsAbsentTarget(u.New) {
				change = "deleted"
			}
			name := revset.FormatRemote(u.Name, u.Remote)
			out.Str(label + ": ")
			out.Label(label, name+strings.Repeat(" ", wide-text.Width(name)))
			out.Str(" [" + change + "] " + state + "\n")
		}
	}
	if n := len(stats.Abandoned); n > 0 {
		out.Printf("Abandoned %d commits that are no longer reachable:\n", n)
		cs, err := t.w.commits(ctx, stats.Abandoned)
		if err != nil {
			return err
		}
		l, err := t.w.print.newLang(ctx, t.now())
		if err != nil {
			return err
		}
		if err := t.w.print.commitListWith(l, out, cs); err != nil {
			return err
		}
	}
	if stats.Rewritten > 0 {
		out.Printf("Updated %d rewritten commits.\n", stats.Rewritten)
	}
	t.w.ui.status(out)
	return nil
}

func runGitExport(ctx context.Context, e *env, p *parsed) error {
	if e.global.noIntegrate {
		return clif("--no-integrate-operation is not respected")
	}
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	if w.git.colocated() && !w.atOp {
		w.ui.statusf("No export needed in colocated workspaces.\n")
		return nil
	}
	unlock, err := w.store.LockGit(ctx)
	if err != nil {
		return userf("Failed to take lock for Git import/export").because(err)
	}
	defer unlock()
	t, err := w.begin()
	if err != nil {
		return err
	}
	failed, err := w.store.ExportRefs(ctx, t.Tx)
	if err != nil {
		return internalf(err, "Failed to export refs to underlying Git repo")
	}
	if err := t.finish(ctx, "export git refs"); err != nil {
		return err
	}
	w.ui.exportFailures(failed)
	return nil
}

// absoluteURL makes a path of a local repository absolute, and refuses what
// cannot be the address of one.
func (e *env) absoluteURL(s string) (string, error) {
	if scheme, rest, ok := strings.Cut(s, "://"); ok {
		host, _, _ := strings.Cut(rest, "/")
		if host == "" && scheme != "file" {
			return "", clif("URL %q can not be parsed as valid URL", s).because(errors.New("Scheme requires host"))
		}
		return s, nil
	}
	if s == "" {
		return "", clif(`local path "" does not specify a path to a repository`)
	}
	if i := strings.IndexByte(s, ':'); i > 1 && !strings.ContainsAny(s[:i], `/\`) {
		return s, nil
	}
	if !filepath.IsAbs(s) {
		s = filepath.Join(e.io.Dir, s)
	}
	if r, err := filepath.EvalSymlinks(s); err == nil {
		if _, err := os.Stat(r); err == nil {
			s = r
		}
	}
	return s, nil
}
