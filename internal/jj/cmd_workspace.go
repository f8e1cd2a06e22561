// `jj workspace add`, `forget`, `list`, `rename`, `root` and `update-stale`, as jj 0.45.1 has them: a workspace beside the
// first one has a file .jj/repo that says where the repository is.

package jj

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/gitstore"
	"tandem/internal/repo/render"
	"tandem/internal/repo/revset"
	"tandem/internal/repo/workcopy"
)

func workspaceCommand() *command {
	return &command{
		name: "workspace",
		subs: []*command{
			{name: "add", opts: []opt{
				{id: "destination", pos: true, required: true, value: "DESTINATION"},
				{id: "name", long: "name", value: "NAME"},
				{id: "revisions", long: "revision", short: "r", alias: []string{"revisions"}, value: "REVSETS", many: true},
				{id: "message", long: "message", short: "m", value: "MESSAGE", many: true},
				{id: "sparse-patterns", long: "sparse-patterns", value: "SPARSE_PATTERNS", values: []string{"copy", "full", "empty"}},
			}, run: runWorkspaceAdd},
			{name: "forget", opts: []opt{{id: "pos", pos: true, many: true, value: "WORKSPACES"}}, run: runWorkspaceForget},
			{name: "list", opts: []opt{{id: "template", long: "template", short: "T", value: "TEMPLATE"}}, run: runWorkspaceList},
			{name: "rename", opts: []opt{{id: "name", pos: true, required: true, value: "NEW_WORKSPACE_NAME"}}, run: runWorkspaceRename},
			{name: "root", opts: []opt{{id: "name", long: "name", value: "NAME"}}, run: runWorkspaceRoot},
			{name: "update-stale", run: runUpdateStale},
		},
	}
}

func rootCommand() *command {
	return &command{name: "root", run: func(ctx context.Context, e *env, p *parsed) error {
		if e.ws == nil {
			return e.noRepo()
		}
		e.ui.printf("%s\n", e.ws.root)
		return nil
	}}
}

func runWorkspaceRoot(ctx context.Context, e *env, p *parsed) error {
	if e.ws == nil {
		return e.noRepo()
	}
	name, ok := p.get("name")
	if !ok {
		e.ui.printf("%s\n", e.ws.root)
		return nil
	}
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return err
	}
	if _, ok := w.repo.View.Workspaces[name]; !ok {
		return userf("No such workspace: %s", revset.FormatSymbol(name))
	}
	path, err := w.workspacePath(name)
	if err != nil {
		return err
	}
	if path == "" {
		return userf("Workspace has no recorded path: %s", revset.FormatSymbol(name))
	}
	full, err := filepath.EvalSymlinks(path)
	if err != nil {
		return userf("Cannot resolve absolute workspace path: %s", path).because(err)
	}
	e.ui.printf("%s\n", full)
	return nil
}

func runWorkspaceList(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	l, err := w.print.language(ctx)
	if err != nil {
		return err
	}
	r, err := w.print.templateOpt(l, p, "workspace_list", l.WorkspaceRef)
	if err != nil {
		return err
	}
	o := w.ui.newText()
	o.Push("workspace_list")
	for _, name := range slices.Sorted(maps.Keys(w.repo.View.Workspaces)) {
		c, err := w.store.Commit(ctx, w.repo.View.Workspaces[name])
		if err != nil {
			return err
		}
		if err := r.Render(o, render.WorkspaceRef{Name: name, Target: c}); err != nil {
			return err
		}
	}
	o.Pop()
	return w.ui.print(o)
}

func runWorkspaceForget(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	names := p.all("pos")
	if len(names) == 0 {
		names = []string{w.name}
	}
	var gone []string
	for _, n := range names {
		if _, ok := w.repo.View.Workspaces[n]; !ok {
			w.ui.warnf("No such workspace: %s", revset.FormatSymbol(n))
		} else {
			gone = append(gone, n)
		}
	}
	if len(gone) == 0 {
		w.ui.statusf("Nothing changed.\n")
		return nil
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	for _, n := range gone {
		if err := t.RemoveWorkspace(ctx, n); err != nil {
			return err
		}
	}
	err = w.store.SetWorkspaces(ctx, func(list []gitstore.Workspace) []gitstore.Workspace {
		return slices.DeleteFunc(list, func(x gitstore.Workspace) bool { return slices.Contains(gone, x.Name) })
	})
	if err != nil {
		return err
	}
	word := "workspace"
	if len(gone) > 1 {
		word = "workspaces"
	}
	return t.finish(ctx, "forget "+word+" "+symbols(gone))
}

func runWorkspaceRename(ctx context.Context, e *env, p *parsed) error {
	now := p.str("name")
	if now == "" {
		return userf("New workspace name cannot be empty")
	}
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	old := w.name
	if now == old {
		w.ui.statusf("Nothing changed.\n")
		return nil
	}
	if _, ok := w.repo.View.Workspaces[old]; !ok {
		return userf("The current workspace '%s' is not tracked in the repo.", revset.FormatSymbol(old))
	}
	if _, ok := w.repo.View.Workspaces[now]; ok {
		return userf("Failed to rename a workspace").because(fmt.Errorf("Workspace %s already exists", revset.FormatSymbol(now)))
	}
	t, err := w.begin()
	if err != nil {
		return err
	}
	locked, err := w.wc.Lock(ctx)
	if err != nil {
		return err
	}
	locked.Rename(now)
	v := t.View
	v.Workspaces[now] = v.Workspaces[old]
	delete(v.Workspaces, old)
	if h, ok := v.GitHeads[old]; ok {
		v.GitHeads[now] = h
		delete(v.GitHeads, old)
	}
	err = w.store.SetWorkspaces(ctx, func(list []gitstore.Workspace) []gitstore.Workspace {
		for i := range list {
			if list[i].Name == old {
				list[i].Name = now
			}
		}
		return list
	})
	if err == nil {
		err = w.publish(ctx, t, fmt.Sprintf("Renamed workspace '%s' to '%s'", revset.FormatSymbol(old), revset.FormatSymbol(now)))
	}
	if err != nil {
		locked.Discard()
		return err
	}
	return locked.Finish(w.repo.Operation.ID)
}

func runWorkspaceAdd(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	given := p.str("destination")
	dest := given
	if !filepath.IsAbs(dest) {
		dest = filepath.Join(e.io.Dir, dest)
	}
	name := p.or("name", filepath.Base(dest))
	if name == "" {
		return userf("New workspace name cannot be empty")
	}
	if _, ok := w.repo.View.Workspaces[name]; ok {
		return userf("Workspace named '%s' already exists", revset.FormatSymbol(name))
	}
	if entries, err := os.ReadDir(dest); os.IsNotExist(err) {
		if err := os.Mkdir(dest, 0o777); err != nil {
			return userf("Cannot access %s", dest).because(err)
		}
	} else if err != nil || len(entries) > 0 {
		return userf("Destination path exists and is not an empty directory")
	}
	if dest, err = filepath.EvalSymlinks(dest); err != nil {
		return err
	}
	parents, err := w.revs.newWorkspaceParents(ctx, p)
	if err != nil {
		return err
	}
	n, err := w.initWorkspace(ctx, dest, name)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(e.io.Dir, dest)
	if err != nil {
		rel = dest
	}
	w.ui.statusf("Created workspace in %q\n", rel)
	if !strings.ContainsRune(given, filepath.Separator) {
		w.ui.warnf("Workspace created inside current directory. "+
			"If this was unintentional, delete the %q directory and run `jj workspace forget %s` to remove it.", given, revset.FormatSymbol(name))
	}
	if err := n.inheritSparse(ctx, p.or("sparse-patterns", "copy"), w.wc.Sparse()); err != nil {
		return err
	}
	if n.atOp = w.atOp; n.atOp {
		return w.needsFiles()
	}
	t, err := n.begin()
	if err != nil {
		return err
	}
	tree, err := repo.ParentsTree(ctx, t.Store, t.Index, parents)
	if err != nil {
		return err
	}
	var ids []repo.CommitID
	for _, c := range parents {
		ids = append(ids, c.ID)
	}
	d := t.NewCommit(ids, tree)
	if d.Description = joinParagraphs(p.all("message")); d.Description != "" {
		if d.Description, err = t.withTrailers(ctx, d); err != nil {
			return err
		}
	}
	c, err := t.Write(ctx, d)
	if err != nil {
		return err
	}
	if err := t.Edit(ctx, name, c); err != nil {
		return err
	}
	return t.finish(ctx, "create initial working-copy commit in workspace "+revset.FormatSymbol(name))
}

func (rs *revisions) newWorkspaceParents(ctx context.Context, p *parsed) ([]*repo.Commit, error) {
	if p.has("revisions") {
		return rs.evalSome(ctx, p.all("revisions"))
	}
	c, err := rs.wcCommit(ctx)
	if err != nil {
		return nil, err
	}
	if c == nil {
		return []*repo.Commit{repo.RootCommit()}, nil
	}
	return rs.commits(ctx, c.Parents)
}

func (w *session) inheritSparse(ctx context.Context, how string, old []repo.Path) error {
	if how == "full" {
		return nil
	}
	if how == "empty" {
		old = nil
	}
	locked, err := w.wc.Lock(ctx)
	if err != nil {
		return err
	}
	if _, err := locked.SetSparse(ctx, old); err != nil {
		locked.Discard()
		return internalf(err, "Failed to set sparse patterns")
	}
	return locked.Finish(w.wc.Operation())
}

// initWorkspace makes another workspace of the same repository, with an empty
// commit on the root.
func (w *session) initWorkspace(ctx context.Context, root, name string) (*session, error) {
	dot := filepath.Join(root, ".jj")
	if err := os.Mkdir(dot, 0o777); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(dot, w.ws.repoDir)
	if err != nil {
		rel = w.ws.repoDir
	}
	if err := os.WriteFile(filepath.Join(dot, "repo"), []byte(filepath.ToSlash(rel)), 0o666); err != nil {
		return nil, err
	}
	if err := recordWorkspace(ctx, w.store, name, root); err != nil {
		return nil, err
	}
	e := *w.env
	e.ws = &place{root: root, repoDir: w.ws.repoDir}
	n := e.newSession(w.store, name)
	n.repo, n.revs.revsetAliases, n.revs.filesetAliases = w.repo, w.revs.revsetAliases, w.revs.filesetAliases
	return n, n.firstCheckout(ctx, fmt.Sprintf("add workspace '%s'", revset.FormatSymbol(name)))
}

// firstCheckout gives a new workspace an empty commit on the root and the
// state of its files.
func (w *session) firstCheckout(ctx context.Context, title string) error {
	w.fresh = true
	t, err := w.begin()
	w.fresh = false
	if err != nil {
		return err
	}
	if _, err := t.CheckOut(ctx, w.name, repo.RootCommit()); err != nil {
		return err
	}
	if _, err := t.RebaseDescendants(ctx, repo.RebaseOptions{}); err != nil {
		return err
	}
	if err := w.publish(ctx, t, title); err != nil {
		return err
	}
	if w.wc, err = workcopy.Init(w.ws.root, w.store, w.repo.Operation.ID, w.name); err != nil {
		return err
	}
	return w.configureFiles()
}

func runUpdateStale(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return err
	}
	stats, err := w.updateStale(ctx)
	if err != nil {
		return err
	}
	w.print.warnUntracked(stats)
	return nil
}
