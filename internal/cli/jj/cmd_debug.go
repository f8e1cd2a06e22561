package jj

import (
	"fmt"
	"strings"

	"tandem/internal/repo"
)

func debugCommand() *command {
	return &command{
		name: "debug", hidden: true, about: "Low-level commands not intended for users",
		subs: []*command{
			{name: "snapshot", about: "Trigger a snapshot in the op log", run: func(e *env, p *parsed) error {
				_, err := e.open()
				return err
			}},
			{name: "tree", about: "List the recursive entries of a tree", opts: []opt{
				{id: "revision", long: "revision", short: "r", value: "REVSET"},
				{id: "pos", pos: true, many: true, value: "FILESETS"},
			}, run: runDebugTree},
			{name: "reindex", about: "Rebuild commit index", run: func(e *env, p *parsed) error { return missing("`jj debug reindex`") }},
			absentCommand("copy-detection"), absentCommand("fileset"), absentCommand("index"), absentCommand("init-simple"),
			absentCommand("index-changed-paths"), absentCommand("local-working-copy"), absentCommand("object"), absentCommand("operation"),
			absentCommand("revset"), absentCommand("stacked-table"), absentCommand("template"), absentCommand("watchman"), absentCommand("working-copy"),
		},
	}
}

func runDebugTree(e *env, p *parsed) error {
	w, err := e.open()
	if err != nil {
		return err
	}
	c, err := w.single(p.or("revision", "@"))
	if err != nil {
		return err
	}
	set, err := w.fileArgs(p.all("pos"))
	if err != nil {
		return err
	}
	return repo.WalkTree(w.store, c.Tree, set, func(path repo.Path, v repo.Merge[repo.TreeValue]) error {
		w.ui.printf("%s: Ok(%s)\n", w.paths().Format(path), debugValue(v))
		return nil
	})
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
	return fmt.Sprintf("Some(File { id: FileId(%q), executable: %v, copy_id: CopyId(\"\") })", fmt.Sprintf("%x", t.ID), t.Kind == repo.Executable)
}
