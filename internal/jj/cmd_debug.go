// `jj debug`, as jj 0.45.1 has it: hidden commands. What they print follows the Rust values that stock jj prints, so
// that both can be compared.

package jj

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tandem/internal/repo"
	"tandem/internal/repo/fileset"
	"tandem/internal/repo/render"
	"tandem/internal/repo/workcopy"
)

func debugCommand() *command {
	return &command{
		name: "debug", hidden: true,
		subs: []*command{
			{name: "snapshot", run: func(ctx context.Context, e *env, p *parsed) error {
				_, err := e.open(ctx)
				return err
			}},
			{name: "tree", opts: []opt{
				{id: "revision", long: "revision", short: "r", value: "REVSET"},
				{id: "id", long: "id", value: "ID", conflicts: []string{"revision"}},
				{id: "dir", long: "dir", value: "DIR"},
				{id: "pos", pos: true, many: true, value: "FILESETS"},
			}, run: runDebugTree},
			{name: "reindex", run: runDebugReindex},
			{name: "copy-detection", opts: []opt{{id: "revision", pos: true, value: "REVSET"}}, run: runDebugCopies},
			{name: "working-copy", run: runDebugWorkingCopy},
			{name: "local-working-copy", run: runDebugFiles},
			{name: "object", subs: []*command{
				{name: "file", opts: debugObjectOpts(), run: func(ctx context.Context, e *env,
					p *parsed) error {
					return runDebugObject(ctx, e, p, false)
				}},
				{name: "symlink", opts: debugObjectOpts(), run: func(ctx context.Context, e *env,
					p *parsed) error {
					return runDebugObject(ctx, e, p, true)
				}},
				{name: "operation", opts: []opt{{id: "id", pos: true, required: true, value: "ID"}}, run: runDebugOperation},
				absentCommand("commit"), absentCommand("tree"), absentCommand("view"),
			}},
			absentCommand("fileset"), absentCommand("index"), absentCommand("init-simple"), absentCommand("index-changed-paths"),
			absentCommand("operation"), absentCommand("revset"), absentCommand("stacked-table"), absentCommand("template"),
			absentCommand("watchman"),
		},
	}
}

func debugObjectOpts() []opt {
	return []opt{
		{id: "path", pos: true, required: true, value: "PATH"},
		{id: "id", pos: true, value: "ID", conflicts: []string{"revision"}},
		{id: "revision", long: "revision", short: "r", value: "REVISION"},
	}
}

func runDebugTree(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	set, err := w.revs.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	dir, err := fileset.Inside(p.str("dir"))
	if err != nil {
		return userf("%s", err)
	}
	tree := repo.MergedTree{}
	if id, ok := p.get("id"); ok {
		raw, err := hex.DecodeString(id)
		if err != nil || len(raw) != len(repo.EmptyTreeID) {
			return userf("Invalid tree ID hex: %s", id)
		}
		tree.IDs = repo.Resolved(repo.TreeID(raw))
	} else {
		c, err := w.revs.single(ctx, p.or("revision", "@"))
		if err != nil {
			return err
		}
		tree, dir = c.Tree, ""
	}
	below := repo.Matcher(set)
	if dir != "" {
		below = repo.Everything{}
	}
	return repo.WalkTree(ctx, w.store, tree, below, func(path repo.Path, v repo.Merge[repo.TreeValue]) error {
		if full := dir.Join(string(path)); set.Match(full) {
			w.ui.printf("%s: Ok(%s)\n", w.paths().Format(full), debugValue(v))
		}
		return nil
	})
}

func runDebugReindex(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return err
	}
	n, err := w.store.Reindex(ctx, w.repo.Operation)
	if err != nil {
		return internalf(err, "Failed to rebuild the index")
	}
	w.ui.statusf("Finished indexing %d commits.\n", n)
	return nil
}

func runDebugCopies(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	c, err := w.revs.single(ctx, p.or("revision", "@"))
	if err != nil {
		return err
	}
	parents, err := w.commits(ctx, c.Parents)
	if err != nil {
		return err
	}
	for _, q := range parents {
		err := render.FindRewrites(ctx, w.store, q, c, func(from, to repo.Path) { w.ui.printf("%s -> %s\n", from, to) })
		if err != nil {
			return err
		}
	}
	return nil
}

// sayWorkingCopy prints where the working copy stands.
func (w *session) sayWorkingCopy() {
	tree := w.wc.Tree()
	var ids []string
	for _, id := range tree.IDs {
		ids = append(ids, fmt.Sprintf("TreeId(%q)", id.Hex()))
	}
	shown, labels := "Resolved("+ids[0]+")", "Unlabeled"
	if len(ids) > 1 {
		shown = "Conflicted([" + strings.Join(ids, ", ") + "])"
	}
	if len(tree.Labels) > 0 {
		var quoted []string
		for _, l := range tree.Labels {
			quoted = append(quoted, fmt.Sprintf("%q", l))
		}
		labels = "Labeled([" + strings.Join(quoted, ", ") + "])"
	}
	w.ui.printf("Current operation: OperationId(%q)\n", w.wc.Operation().Hex())
	w.ui.printf("Current tree: MergedTree { tree_ids: %s, labels: %s, .. }\n", shown, labels)
}

func runDebugWorkingCopy(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return err
	}
	w.ui.printf("Type: \"local\"\n")
	w.sayWorkingCopy()
	return nil
}

func runDebugFiles(ctx context.Context, e *env, p *parsed) error {
	w, err := e.open(ctx)
	if err != nil {
		return err
	}
	w.sayWorkingCopy()
	for _, f := range w.wc.Files() {
		kind, marks := map[workcopy.FileType]string{
			workcopy.Normal: "Normal { exec_bit: ExecBit(false) }", workcopy.Executable: "Normal { exec_bit: ExecBit(true) }",
			workcopy.Symlink: "Symlink", workcopy.Submodule: "GitSubmodule",
		}[f.Type], "None"
		if f.MarkerLen > 0 {
			marks = fmt.Sprintf("Some(MaterializedConflictData { conflict_marker_len: %d })", f.MarkerLen)
		}
		w.ui.printf("%s %13d %10d %s %q\n", kind, f.Size, f.Mtime, marks, string(f.Path))
	}
	return nil
}

func runDebugObject(ctx context.Context, e *env, p *parsed, link bool) error {
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return err
	}
	what, kind := "file", "single file"
	if link {
		what, kind = "symlink", "single symlink"
	}
	path, err := fileset.Inside(p.str("path"))
	if err != nil {
		return userf("%s", err)
	}
	var id repo.FileID
	if text, ok := p.get("revision"); ok {
		c, err := w.revs.single(ctx, text)
		if err != nil {
			return err
		}
		v, err := repo.ValueAt(ctx, w.store, c.Tree, path)
		if err != nil {
			return err
		}
		t, ok := v.AsResolved()
		if !ok || link != (t.Kind == repo.Symlink) || !link && !t.IsFile() {
			return userf("The path is not a %s in the commit", kind)
		}
		id = t.FileID()
	} else {
		raw, err := hex.DecodeString(p.str("id"))
		if err != nil {
			return userf("Invalid hex %s id: %q", what, p.str("id"))
		}
		id = repo.FileID(raw)
	}
	data, err := w.store.File(ctx, id)
	if err != nil {
		return err
	}
	w.ui.printf("%s", data)
	if link {
		w.ui.printf("\n")
	}
	return nil
}

func runDebugOperation(ctx context.Context, e *env, p *parsed) error {
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return err
	}
	raw, err := hex.DecodeString(p.str("id"))
	if err != nil {
		return userf("Invalid hex operation id: %q", p.str("id"))
	}
	o, err := w.store.Operation(ctx, repo.OperationID(raw))
	if err != nil {
		path := filepath.Join(e.ws.repoDir, "op_store", "operations", p.str("id"))
		if _, serr := os.Stat(path); serr != nil {
			err = serr
		}
		return internalf(&chained{"Object " + p.str("id") + " of type operation not found", &chained{"Cannot access " + path, err}},
			"Failed to load an operation")
	}
	w.ui.printf("%s\n", operationShape(o).lines(""))
	return nil
}

func debugValue(v repo.Merge[repo.TreeValue]) string {
	var terms []string
	for _, t := range v {
		terms = append(terms, debugTerm(t))
	}
	if len(terms) == 1 {
		return "Resolved(" + terms[0] + ")"
	}
	return "Conflicted([" + strings.Join(terms, ", ") + "])"
}

func debugTerm(t repo.TreeValue) string {
	switch t.Kind {
	case repo.Absent:
		return "None"
	case repo.Symlink:
		return fmt.Sprintf("Some(Symlink(SymlinkId(%q)))", fmt.Sprintf("%x", t.ID))
	case repo.Subtree:
		return fmt.Sprintf("Some(Tree(TreeId(%q)))", fmt.Sprintf("%x", t.ID))
	case repo.Submodule:
		return fmt.Sprintf("Some(GitSubmodule(CommitId(%q)))", fmt.Sprintf("%x", t.ID))
	}
	return fmt.Sprintf("Some(File { id: FileId(%q), executable: %v, copy_id: CopyId(\"\") })", fmt.Sprintf("%x", t.ID),
		t.Kind == repo.Executable)
}
