package jj

import (
	"cmp"
	"context"
	"slices"
)

// commandTree is all commands. It is built for each run: most of it is a few
// slices, and nothing of it is needed before.
func commandTree() *command {
	root := &command{name: "jj", opts: []opt{{id: "version", long: "version", short: "V"}}}
	root.subs = []*command{
		abandonCommand(), absorbCommand(), arrangeCommand(), bisectCommand(), bookmarkCommand(), commitCommand(), configCommand(),
		convergeCommand(), describeCommand(),
		diffCommand(), diffeditCommand(), duplicateCommand(), editCommand(), evologCommand(), fileCommand(), fixCommand(), gerritCommand(),
		gitCommand(), helpCommand(),
		interdiffCommand(), logCommand(), metaeditCommand(), newCommand(), nextCommand(), operationCommand(), parallelizeCommand(),
		prevCommand(), rebaseCommand(), redoCommand(), resolveCommand(), restoreCommand(), revertCommand(), rootCommand(), runCommand(),
		showCommand(), signCommand(), simplifyParentsCommand(), sparseCommand(), splitCommand(), squashCommand(), statusCommand(), tagCommand(),
		undoCommand(), unsignCommand(), utilCommand(), versionCommand(), workspaceCommand(), debugCommand(),
	}
	for _, name := range []string{"bench"} {
		root.subs = append(root.subs, absentCommand(name))
	}
	slices.SortFunc(root.subs, func(a, b *command) int { return cmp.Compare(a.name, b.name) })
	return root
}

// absentCommand is a command of jj's that is not built here.
func absentCommand(name string) *command {
	return &command{
		name: name, absent: true, hidden: name == "bench",
		run: func(context.Context, *env, *parsed) error { return missing("`jj %s`", name) },
	}
}

func posRevs(value string) opt { return opt{id: "pos", pos: true, many: true, value: value} }

// revArgs are revisions given positionally and with an option, in the order of
// the command line.
func (p *parsed) inOrder(ids ...string) []string {
	var out []string
	for _, g := range p.order {
		for _, id := range ids {
			if g.id == id {
				out = append(out, g.value)
			}
		}
	}
	return out
}
