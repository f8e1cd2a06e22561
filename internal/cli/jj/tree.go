package jj

import (
	"strings"
)

// commandTree is all commands. It is built for each run: most of it is a few
// slices, and nothing of it is needed before.
func commandTree() *command {
	root := &command{name: "jj", about: "Jujutsu (An experimental VCS)", opts: []opt{{id: "version", long: "version", short: "V"}}}
	root.subs = []*command{
		abandonCommand(), absorbCommand(), bisectCommand(), bookmarkCommand(), commitCommand(), configCommand(), convergeCommand(), describeCommand(),
		diffCommand(), diffeditCommand(), duplicateCommand(), editCommand(), evologCommand(), fileCommand(), fixCommand(), gitCommand(), helpCommand(),
		interdiffCommand(), logCommand(), metaeditCommand(), newCommand(), nextCommand(), operationCommand(), parallelizeCommand(),
		prevCommand(), rebaseCommand(), redoCommand(), resolveCommand(), restoreCommand(), revertCommand(), rootCommand(), runCommand(),
		showCommand(), signCommand(), simplifyParentsCommand(), sparseCommand(), splitCommand(), squashCommand(), statusCommand(), tagCommand(),
		undoCommand(), unsignCommand(), utilCommand(), versionCommand(), workspaceCommand(), debugCommand(),
	}
	for _, name := range []string{"arrange", "bench", "gerrit"} {
		root.subs = append(root.subs, absentCommand(name))
	}
	return root
}

// absentCommand is a command of jj's that is not built here.
func absentCommand(name string) *command {
	return &command{
		name: name, absent: true,
		run: func(*env, *parsed) error { return missing("`jj %s`", name) },
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

func helpText(path []*command) string {
	c := path[len(path)-1]
	var b strings.Builder
	if c.about != "" {
		b.WriteString(c.about + "\n\n")
	}
	b.WriteString(usage(path) + "\n")
	if len(c.subs) > 0 {
		b.WriteString("\nCommands:\n")
		w := 0
		for _, s := range c.subs {
			w = max(w, len(s.name))
		}
		for _, s := range c.subs {
			if !s.hidden {
				b.WriteString(strings.TrimRight("  "+s.name+strings.Repeat(" ", w-len(s.name)+2)+s.about, " ") + "\n")
			}
		}
	}
	writeOptions(&b, "Options", c.opts)
	writeOptions(&b, "Global Options", globalOpts)
	return b.String()
}

func writeOptions(b *strings.Builder, title string, opts []opt) {
	head := false
	for i := range opts {
		o := &opts[i]
		if o.pos || o.hidden {
			continue
		}
		if !head {
			b.WriteString("\n" + title + ":\n")
			head = true
		}
		short := "    "
		if o.short != "" && o.long != "" {
			short = "-" + o.short + ", "
		}
		b.WriteString("  " + short + o.display())
		if o.help != "" {
			b.WriteString("  " + o.help)
		}
		b.WriteString("\n")
	}
}
