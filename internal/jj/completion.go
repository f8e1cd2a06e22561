// Completion of a command line, with the candidates of jj 0.45.1 in its order.

package jj

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"tandem/internal/jj/config"
	"tandem/internal/repo"
	"tandem/internal/repo/revset"
)

// candidate is one way to go on with a word.
type candidate struct {
	value, about string
	file         bool
}

// completeFor answers a shell that asks how to go on: COMPLETE names the shell
// and the words follow "--". Without words it is given the script that asks.
func (e *env) completeFor(ctx context.Context, shell string, args []string) int {
	script, known := completionScripts[shell]
	if !known {
		names := slices.Sorted(maps.Keys(completionScripts))
		fmt.Fprintf(e.io.Stderr, "error: unknown shell `%s`, expected one of `%s`", shell, strings.Join(names, "`, `"))
		return 2
	}
	if len(args) == 0 || args[0] != "--" {
		e.ui.printf("%s", script)
		return 0
	}
	words := args[1:]
	at := len(words) - 1
	if n, err := strconv.Atoi(e.io.getenv("_CLAP_COMPLETE_INDEX")); err == nil && n < len(words) {
		at = n
	}
	if at < 1 {
		return 0
	}
	sep := e.io.getenv("_CLAP_IFS")
	for i, c := range e.complete(ctx, words[1:at], words[at]) {
		switch {
		case shell == "fish" || shell == "powershell":
			e.ui.printf("%s", c.value)
			if c.about != "" {
				e.ui.printf("\t%s", c.about)
			}
			e.ui.printf("\n")
		case shell == "zsh":
			if i > 0 {
				e.ui.printf("\n")
			}
			e.ui.printf("%s:%s", strings.ReplaceAll(c.value, ":", `\:`), c.about)
		default:
			if i > 0 && sep == "" {
				sep = "\n"
			}
			if i > 0 {
				e.ui.printf("%s", sep)
			}
			e.ui.printf("%s", c.value)
		}
	}
	return 0
}

// complete lists how a word can go on after the words before it.
func (e *env) complete(ctx context.Context, before []string, word string) []candidate {
	if e.loadBaseConfig(before) != nil {
		return nil
	}
	root := commandTree()
	if full, err := e.aliases(root, before); err == nil {
		before = full
	}
	a := &argParser{p: &parsed{path: []*command{root}, vals: map[string][]string{}, global: &globals{}}, cmd: root, global: globalOpts}
	var pending *opt
	if n := len(before); n > 0 {
		if a.args = before[:n-1]; a.run() != nil {
			return nil
		}
		if !a.trailer {
			pending = a.waiting(before[n-1])
		}
		if a.args = before; pending == nil && a.run() != nil {
			return nil
		}
	}
	e.global = a.p.global
	e.global.repository, e.global.ignoreWorkingCopy = a.p.str("repository"), true
	var out []candidate
	switch {
	case pending != nil:
		out = e.valuesFor(ctx, a, pending)
	case strings.HasPrefix(word, "--") && strings.Contains(word, "="):
		name, _, _ := strings.Cut(word[2:], "=")
		if o := a.find(func(o *opt) bool { return o.long == name }); o != nil {
			for _, c := range e.valuesFor(ctx, a, o) {
				out = append(out, candidate{value: "--" + name + "=" + c.value, about: c.about})
			}
		}
	case strings.HasPrefix(word, "-") && !a.trailer:
		out = optionWords(a, word)
	default:
		out = append(e.commandWords(a), e.positionalWords(ctx, a)...)
		if word == "" && !a.trailer {
			out = append(out, optionWords(a, word)...)
		}
	}
	if out = stepwise(out, word); len(out) == 0 {
		return nil
	}
	return slices.DeleteFunc(out, func(c candidate) bool { return !strings.HasPrefix(c.value, word) })
}

// waiting is the option whose value the next word will be.
func (a *argParser) waiting(s string) *opt {
	match := func(o *opt) bool { return false }
	if n, ok := strings.CutPrefix(s, "--"); ok {
		match = func(o *opt) bool { return o.long == n || len(n) > 1 && slices.Contains(o.alias, n) }
	} else if len(s) == 2 && s[0] == '-' {
		match = func(o *opt) bool { return o.short == s[1:] || slices.Contains(o.alias, s[1:]) }
	}
	if o := a.find(match); o != nil && o.value != "" && !o.optional {
		return o
	}
	return nil
}

// optionWords lists the options of a command, by their letters where just a
// dash was typed.
func optionWords(a *argParser, word string) (out []candidate) {
	words := helpTexts().of(a.p.path)
	for _, o := range a.cmd.listed(len(a.p.path) == 1) {
		switch {
		case word == "-" && o.short != "":
			out = append(out, candidate{value: "-" + o.short, about: words.entry(o).text})
		case o.long != "":
			out = append(out, candidate{value: "--" + o.long, about: words.entry(o).text})
		}
	}
	return out
}

// listed is a command's options in the order of stock jj, those of all commands
// included.
func (c *command) listed(root bool) []*opt {
	_, own, diffs := c.shown()
	global, help := sharedOptions()
	if root || len(own)+len(diffs) == 0 {
		return append(append(global, help), own...)
	}
	return slices.Concat(own, []*opt{help}, diffs, global)
}

// stepwise offers files one folder at a time.
func stepwise(in []candidate, word string) (out []candidate) {
	for _, c := range in {
		if c.file {
			if i := strings.IndexByte(strings.TrimPrefix(c.value, word), '/'); i >= 0 && strings.HasPrefix(c.value, word) {
				c.value = c.value[:len(word)+i+1]
			}
			if len(out) > 0 && out[len(out)-1].value == c.value {
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

func (e *env) commandWords(a *argParser) (out []candidate) {
	for _, c := range a.cmd.subs {
		if !c.hidden {
			out = append(out, candidate{value: c.name, about: helpTexts().of(append(slices.Clone(a.p.path), c)).about})
		}
	}
	if t := e.conf.Table("aliases"); t != nil && len(a.p.path) == 1 {
		for _, k := range t.Keys {
			if len(k) > 2 { // shorter ones are typed as fast
				out = append(out, candidate{value: k})
			}
		}
	}
	return out
}

func (e *env) positionalWords(ctx context.Context, a *argParser) []candidate {
	n := 0
	for i := range a.cmd.opts {
		o := &a.cmd.opts[i]
		if !o.pos {
			continue
		}
		if n == a.posAt {
			return e.valuesFor(ctx, a, o)
		}
		n++
	}
	return nil
}

// valuesFor lists what can stand for a value, by what it is the name of.
func (e *env) valuesFor(ctx context.Context, a *argParser, o *opt) []candidate {
	switch {
	case o.values != nil:
		return named(o.values)
	case o.id == "tool":
		return e.toolWords(a)
	case o.value == "NAME" && len(a.p.path) > 1 && a.p.path[1].name == "config":
		return named(config.Names(a.cmd.name == "list"))
	case o.id == "template":
		aliases, err := e.templateAliases()
		if err != nil {
			return nil
		}
		return named(slices.Sorted(slices.Values(aliases.SymbolNames())))
	}
	w, err := e.openNoSnapshot(ctx)
	if err != nil {
		return nil
	}
	switch group := pathName(a.p.path); {
	case strings.HasPrefix(group, "jj bookmark") && o.pos, o.value == "BOOKMARK", o.value == "BRANCH":
		return named(slices.Sorted(maps.Keys(w.repo.View.Bookmarks)))
	case strings.HasPrefix(group, "jj tag") && o.pos:
		return named(slices.Sorted(maps.Keys(w.repo.View.Tags)))
	case o.value == "REMOTE" || o.id == "old":
		all, _ := w.git.remotes(ctx)
		return named(slices.Sorted(maps.Keys(all)))
	case o.value == "WORKSPACES" || o.value == "WORKSPACE":
		return named(slices.Sorted(maps.Keys(w.repo.View.Workspaces)))
	case strings.HasPrefix(o.value, "REVSET"):
		return w.print.revisionWords(ctx, slices.Contains(rewriting, a.cmd.name) && o.id != "onto" && o.id != "insert-after")
	case strings.HasPrefix(o.value, "FILESET") || o.value == "PATH":
		return w.fileWords(ctx)
	case strings.Contains(o.value, "OPERATION"):
		return w.ops.words(ctx)
	}
	return nil
}

func named(names []string) (out []candidate) {
	for _, n := range names {
		out = append(out, candidate{value: n})
	}
	return out
}

// toolWords lists programs that can do what the command wants of a tool.
func (e *env) toolWords(a *argParser) []candidate {
	kind, first := "diff-args", []string{}
	switch {
	case a.cmd.name == "resolve":
		kind, first = "merge-args", []string{":builtin", ":ours", ":theirs"}
	case !slices.ContainsFunc(a.cmd.opts, func(o opt) bool { return o.id == "color-words" }):
		kind, first = "edit-args", []string{":builtin"}
	default:
		for _, f := range builtinFormats {
			first = append(first, ":"+f)
		}
	}
	var own []string
	if t := e.conf.Table("merge-tools"); t != nil {
		for _, k := range t.Keys {
			args, err := e.conf.Strings("merge-tools", k, kind)
			if e.conf.Get("merge-tools", k, kind) == nil && kind != "merge-args" || err == nil && len(args) > 0 {
				own = append(own, k)
			}
		}
	}
	return named(append(first, own...))
}

// rewriting are commands that want revisions they may rewrite.
var rewriting = []string{
	"abandon", "absorb", "describe", "diffedit", "edit", "fix", "metaedit", "parallelize", "rebase", "resolve", "restore", "run", "sign",
	"simplify-parents", "split", "squash", "unsign",
}

// revisionWords lists names of revisions people may mean.
func (pr *printer) revisionWords(ctx context.Context, mutable bool) []candidate {
	out := named(slices.Sorted(maps.Keys(pr.repo.View.Bookmarks)))
	set := pr.conf.Str("revsets.log")
	if mutable {
		set = "(" + set + ") & mutable()"
	} else {
		out = append(out, named(slices.Sorted(maps.Keys(pr.repo.View.Tags)))...)
	}
	x, err := pr.revs.compile(set)
	if err != nil {
		return out
	}
	ids, err := pr.revs.ids(ctx, revset.Union(x, revset.Present(revset.Commits())))
	if err != nil {
		return out
	}
	l, err := pr.language(ctx)
	if err != nil {
		return out
	}
	tmpl, err := pr.template(l, "change_id.shortest() ++ '\n' ++ if(description, description.first_line(), description_placeholder)", l.Commit)
	if err != nil {
		return out
	}
	for _, id := range ids[:min(100, len(ids))] {
		c, err := pr.store.Commit(ctx, id)
		if err != nil {
			return out
		}
		if s, err := tmpl.String(c); err == nil {
			name, about, _ := strings.Cut(s, "\n")
			out = append(out, candidate{value: name, about: about})
		}
	}
	return out
}

func (st *state) fileWords(ctx context.Context) (out []candidate) {
	c, err := st.wcCommit(ctx)
	if err != nil || c == nil {
		return nil
	}
	repo.WalkTree(ctx, st.store, c.Tree, repo.Everything{}, func(p repo.Path, _ repo.Merge[repo.TreeValue]) error {
		out = append(out, candidate{value: st.paths().Format(p), file: true})
		return nil
	})
	return out
}

func (l *opLog) words(ctx context.Context) []candidate {
	var out []candidate
	repo.WalkOperations(ctx, l.store, []repo.OperationID{l.repo.Operation.ID}, func(o *repo.Operation) (bool, error) {
		out = append(out, candidate{value: shortOp(o.ID), about: o.Meta.Description})
		return len(out) < 100, nil
	})
	return out
}
