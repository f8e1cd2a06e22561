// What arguments exclude or need, with the errors of jj 0.45.1 in the order in which its parser, clap, finds them.

package jj

import (
	"slices"
	"strings"

	"tandem/internal/repo/dsl"
)

func (a *argParser) unexpected(what string) error {
	var tips []string
	similar, of := a.similarOption(what)
	switch {
	case of != "":
		tips = append(tips, "'"+of+" --"+similar.long+"' exists")
	case similar != nil:
		tips = append(tips, "a similar argument exists: '--"+similar.long+"'")
	}
	ends := slices.ContainsFunc(a.cmd.opts, func(o opt) bool { return o.pos && o.last })
	if (similar == nil || ends) && !a.trailer && a.takesPositional() {
		tips = append(tips, "to pass '"+what+"' as a value, use '-- "+what+"'")
	}
	var more []string
	if similar != nil && of == "" {
		more = append(more, similar.id)
	}
	if a.pending != nil { // right or wrong, it was given
		a.p.order = append(a.p.order, *a.pending)
	}
	if !strings.HasPrefix(what, "--") {
		return clapError("unexpected argument '"+what+"' found", tips, usage(a.p.path))
	}
	return clapError("unexpected argument '"+what+"' found", tips, a.usage(more...))
}

// similarOption finds the option somebody may have meant, of the command, or of
// a subcommand that is named later.
func (a *argParser) similarOption(what string) (o *opt, of string) {
	name, ok := strings.CutPrefix(what, "--")
	if !ok {
		return nil, ""
	}
	if o := mostSimilar(name, a.cmd.opts, a.global); o != nil {
		return o, ""
	}
	for _, word := range a.args[min(a.i+1, len(a.args)):] {
		for _, c := range a.cmd.subs {
			if c.name == word {
				if o := mostSimilar(name, c.opts); o != nil {
					return o, c.name
				}
			}
		}
	}
	return nil, ""
}

// mostSimilar is the option whose long name is most like name, if any is like
// it; of equals the last.
func mostSimilar(name string, lists ...[]opt) *opt {
	var best *opt
	score := 0.7
	for _, list := range lists {
		for i := range list {
			o := &list[i]
			for _, long := range append([]string{o.long}, o.alias...) {
				if s := dsl.SimilarOf(name, long); len(long) > 1 && s > 0.7 && s >= score {
					shown := *o
					shown.long = long
					best, score = &shown, s
				}
			}
		}
	}
	return best
}

func invalidValue(o *opt, val string, err error) error {
	shown := o.display()
	if o.pos && o.group != "" {
		shown = "[" + o.value + "]" + o.dots()
	}
	e := &cmdError{kind: clapErr, msg: "error: invalid value '" + val + "' for '" + shown + "': " + err.Error() +
		"\n\nFor more information, try '--help'.\n"}
	if ce, ok := err.(*cmdError); ok {
		e.cause, e.hints = ce.cause, ce.hints
	}
	return e
}

func (a *argParser) unknownCommand(s string) error {
	var names []string
	for _, c := range a.cmd.subs {
		if !c.hidden {
			names = append(names, c.name)
			names = append(names, c.alias...)
		}
	}
	return unknownCommand(a.p.path, s, names)
}

func unknownCommand(path []*command, s string, names []string) error {
	var tips []string
	similar := rankSimilar(s, names)
	switch len(similar) {
	case 0:
	case 1:
		tips = []string{"a similar subcommand exists: '" + similar[0] + "'"}
	default:
		tips = []string{"some similar subcommands exist: '" + strings.Join(similar, "', '") + "'"}
	}
	return clapError("unrecognized subcommand '"+s+"'", tips, usage(path))
}

// rankSimilar lists similar names, the least similar first, as clap does.
func rankSimilar(s string, names []string) []string {
	type cand struct {
		name  string
		score float64
	}
	var cs []cand
	for _, n := range names {
		if sc := dsl.SimilarOf(s, n); sc > 0.7 {
			cs = append(cs, cand{n, sc})
		}
	}
	slices.SortStableFunc(cs, func(a, b cand) int {
		switch {
		case a.score < b.score:
			return -1
		case a.score > b.score:
			return 1
		}
		return 0
	})
	var out []string
	for _, c := range cs {
		out = append(out, c.name)
	}
	return out
}

// validate checks conflicts, groups and what is required.
func (a *argParser) validate() error {
	c, p := a.cmd, a.p
	if a.answered() {
		return nil
	}
	ids := a.given()
	for _, id := range ids {
		if bad := c.conflicting(id, ids); len(bad) > 0 {
			return c.conflictError(p, id, bad, a.used())
		}
	}
	return c.requireError(p, a.used())
}

// conflicting lists what an option given cannot stand with of the others given;
// a group that it names counts whole.
func (c *command) conflicting(id string, ids []string) []*opt {
	o := c.opt(id)
	if o == nil {
		return nil
	}
	var names []string // of options and groups
	for _, other := range ids {
		x := c.opt(other)
		if x == nil || other == id {
			continue
		}
		if slices.Contains(c.rejects(o), other) || slices.Contains(c.rejects(x), id) {
			names = append(names, other)
		}
		for _, g := range []string{x.group, x.set} {
			if g != "" && g != o.group && slices.Contains(c.rejects(o), g) {
				names = append(names, g)
			}
		}
	}
	var bad []*opt
	for _, name := range names {
		for i := range c.opts {
			if x := &c.opts[i]; (x.id == name || x.group == name || x.set == name) && !slices.Contains(bad, x) {
				bad = append(bad, x)
			}
		}
	}
	return bad
}

// rejects lists the ids of options and groups that an option cannot stand with.
func (c *command) rejects(o *opt) []string {
	out := slices.Clone(o.conflicts)
	if o.group == "" {
		return out
	}
	g := c.group(o.group) // one that is not declared only excludes
	if g != nil {
		out = append(out, g.conflicts...)
	}
	if g == nil || !g.multiple {
		for i := range c.opts {
			if x := &c.opts[i]; x.group == o.group && x.id != o.id {
				out = append(out, x.id)
			}
		}
	}
	return out
}

func (c *command) conflictError(p *parsed, id string, bad []*opt, ids []string) error {
	var used, names []string
	for _, x := range ids {
		if !slices.ContainsFunc(bad, func(b *opt) bool { return b.id == x }) {
			used = append(used, x)
		}
	}
	for _, b := range bad {
		names = append(names, b.display())
	}
	what, use := "the argument '"+c.opt(id).display()+"' cannot be used with", smartUsage(p.path, used)
	if len(names) > 1 {
		return clapError(what+":\n  "+strings.Join(names, "\n  "), nil, use)
	}
	return clapError(what+" '"+names[0]+"'", nil, use)
}

func (c *command) requireError(p *parsed, ids []string) error {
	var opts, groups, positional, lost []string
	for _, id := range c.needs() {
		g := c.group(id)
		switch {
		case g != nil && !slices.ContainsFunc(c.opts, func(o opt) bool { return o.group == id && p.has(o.id) }):
			groups = append(groups, c.groupDisplay(g))
		case g != nil || p.has(id):
			continue
		case c.opt(id).pos:
			positional = append(positional, c.opt(id).display())
		default:
			opts = append(opts, c.opt(id).display())
		}
		lost = append(lost, id)
	}
	lack := slices.Concat(opts, groups, positional)
	if len(lack) == 0 {
		return nil
	}
	return clapError("the following required arguments were not provided:\n  "+strings.Join(lack, "\n  "), nil,
		smartUsage(p.path, append(ids, lost...)))
}
