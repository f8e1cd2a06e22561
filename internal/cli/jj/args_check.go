package jj

import (
	"slices"
	"strings"

	"tandem/internal/repo/dsl"
)

func (a *argParser) unexpected(what string) error {
	var tips []string
	if similar := a.similarOption(what); similar != "" {
		tips = append(tips, "a similar argument exists: '"+similar+"'")
	} else if a.takesPositional() {
		tips = append(tips, "to pass '"+what+"' as a value, use '-- "+what+"'")
	}
	return clapError("unexpected argument '"+what+"' found", tips, usage(a.p.path))
}

func (a *argParser) similarOption(what string) string {
	name, ok := strings.CutPrefix(what, "--")
	if !ok {
		return ""
	}
	best, score := "", 0.7
	consider := func(o *opt) {
		if o.long != "" && !o.hidden {
			if s := dsl.SimilarOf(name, o.long); s > score {
				best, score = "--"+o.long, s
			}
		}
	}
	for i := range a.cmd.opts {
		consider(&a.cmd.opts[i])
	}
	for i := range a.global {
		consider(&a.global[i])
	}
	return best
}

func invalidValue(o *opt, val string, err error) error {
	shown := o.display()
	if o.pos && o.group != "" {
		shown = "[" + o.value + "]" + o.dots()
	}
	e := &cmdError{kind: clapErr, msg: "error: invalid value '" + val + "' for '" + shown + "': " + err.Error() + "\n\nFor more information, try '--help'.\n"}
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
	if p.has("help") || p.has("version") {
		return nil
	}
	var ids []string
	for _, g := range p.order {
		if !slices.Contains(ids, g.id) {
			ids = append(ids, g.id)
		}
	}
	for _, id := range ids {
		o := c.opt(id)
		if o == nil {
			continue
		}
		var bad []*opt
		for i := range c.opts {
			x := &c.opts[i]
			if x.id != id && p.has(x.id) && c.conflict(o, x) {
				bad = append(bad, x)
			}
		}
		if len(bad) > 0 {
			return c.conflictError(p, o, bad, ids)
		}
	}
	return c.requireError(p, ids)
}

func (c *command) conflict(a, b *opt) bool {
	if slices.Contains(a.conflicts, b.id) || slices.Contains(b.conflicts, a.id) {
		return true
	}
	if a.group != "" && a.group == b.group {
		g := c.group(a.group) // one that is not declared only excludes
		return g == nil || !g.multiple
	}
	return false
}

func (c *command) conflictError(p *parsed, o *opt, bad []*opt, ids []string) error {
	var used []string
	for _, id := range ids {
		if x := c.opt(id); x != nil && !slices.Contains(bad, x) && !(x != o && c.conflict(o, x)) {
			used = append(used, id)
		}
	}
	use := smartUsage(p.path, used, nil)
	var all []string
	for i := range c.opts {
		if x := &c.opts[i]; x != o && slices.Contains(o.conflicts, x.id) && (p.has(x.id) || c.twin(bad, x)) {
			all = append(all, x.display())
		}
	}
	if len(all) > 1 {
		return clapError("the argument '"+o.display()+"' cannot be used with:\n  "+strings.Join(all, "\n  "), nil, use)
	}
	return clapError("the argument '"+o.display()+"' cannot be used with '"+bad[0].display()+"'", nil, use)
}

// twin says whether x shares a group with one of the conflicting options, as
// clap then names the whole group.
func (c *command) twin(bad []*opt, x *opt) bool {
	return x.group != "" && slices.ContainsFunc(bad, func(b *opt) bool { return b.group == x.group })
}

func (c *command) requireError(p *parsed, ids []string) error {
	var lack []string
	var groups []string
	for i := range c.groups {
		g := &c.groups[i]
		if !g.required {
			continue
		}
		given := slices.ContainsFunc(c.opts, func(o opt) bool { return o.group == g.id && p.has(o.id) })
		if !given {
			lack = append(lack, c.groupDisplay(g))
			groups = append(groups, g.id)
		}
	}
	for i := range c.opts {
		if o := &c.opts[i]; o.required && !p.has(o.id) {
			lack = append(lack, o.display())
		}
	}
	if len(lack) == 0 {
		return nil
	}
	return clapError("the following required arguments were not provided:\n  "+strings.Join(lack, "\n  "), nil, smartUsage(p.path, ids, groups))
}
