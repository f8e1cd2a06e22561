package jj

import (
	"slices"
	"strings"
)

func (o *opt) display() string {
	switch {
	case o.pos && o.required:
		return "<" + o.value + ">" + o.dots()
	case o.pos:
		return "[" + o.value + "]" + o.dots()
	}
	name := "--" + o.long
	if o.long == "" {
		name = "-" + o.short
	}
	if o.value == "" {
		return name
	}
	if o.optional {
		return name + "[=<" + o.value + ">]"
	}
	return name + " <" + o.value + ">"
}

func (o *opt) dots() string {
	if o.many {
		return "..."
	}
	return ""
}

func pathName(path []*command) string {
	names := make([]string, len(path))
	for i, c := range path {
		names[i] = c.name
	}
	return strings.Join(names, " ")
}

// usage is the general usage line of a command.
func usage(path []*command) string {
	c := path[len(path)-1]
	var b strings.Builder
	b.WriteString("Usage: " + pathName(path) + " [OPTIONS]")
	grouped := map[string]bool{}
	for i := range c.opts {
		o := &c.opts[i]
		if g := c.group(o.group); g != nil && g.required && !grouped[g.id] {
			grouped[g.id] = true
			b.WriteString(" " + c.groupDisplay(g))
		} else if !o.pos && o.required && o.group == "" {
			b.WriteString(" " + o.display())
		}
	}
	for i := range c.opts {
		o := &c.opts[i]
		if g := c.group(o.group); o.pos && !o.hidden && (g == nil || !g.required) {
			if o.last {
				b.WriteString(" --")
			}
			b.WriteString(" " + o.display())
		}
	}
	if len(c.subs) > 0 {
		if c.raw {
			b.WriteString(" [COMMAND]")
		} else {
			b.WriteString(" <COMMAND>")
		}
	}
	return b.String()
}

func (c *command) groupDisplay(g *group) string {
	var parts []string
	for i := range c.opts {
		o := &c.opts[i]
		if o.group != g.id || o.hidden {
			continue
		}
		if o.pos {
			parts = append(parts, o.value)
		} else {
			parts = append(parts, o.display())
		}
	}
	return "<" + strings.Join(parts, "|") + ">"
}

// usage is the usage line of an error: what the command needs, and what was
// given to it already, in that order. With nothing given it is the general one.
func (a *argParser) usage(more ...string) string {
	return smartUsage(a.p.path, append(a.used(), more...))
}

// given lists the options given to the command itself, each once.
func (a *argParser) given() []string {
	var ids []string
	for _, g := range a.p.order[a.from:] {
		if !slices.Contains(ids, g.id) {
			ids = append(ids, g.id)
		}
	}
	return ids
}

// used lists those of the given options that may be shown.
func (a *argParser) used() []string {
	return slices.DeleteFunc(a.given(), func(id string) bool { return a.opt(id).hidden })
}

func (a *argParser) opt(id string) *opt {
	if o := a.cmd.opt(id); o != nil {
		return o
	}
	return globalOpt(id)
}

func globalOpt(id string) *opt {
	for i := range globalOpts {
		if globalOpts[i].id == id {
			return &globalOpts[i]
		}
	}
	return nil
}

func smartUsage(path []*command, used []string) string {
	if len(used) == 0 {
		return usage(path)
	}
	c := path[len(path)-1]
	var opts, groups []string
	grouped := map[string]bool{}
	ids := slices.Concat(c.needs(), used)
	for _, id := range ids {
		if g := c.group(id); g != nil && !grouped[id] {
			grouped[id] = true
			groups = append(groups, c.groupDisplay(g))
		}
	}
	for _, id := range ids {
		o := c.opt(id)
		if o == nil {
			o = globalOpt(id)
		}
		if o == nil || o.pos || grouped[o.group] || slices.Contains(opts, o.display()) {
			continue
		}
		opts = append(opts, o.display())
	}
	var b strings.Builder
	b.WriteString("Usage: " + pathName(path))
	for _, word := range slices.Concat(opts, groups) {
		b.WriteString(" " + word)
	}
	for i := range c.opts {
		o := &c.opts[i]
		if !o.pos || o.hidden || grouped[o.group] {
			continue
		}
		name := "<" + o.value + ">" + o.dots()
		switch given := slices.Contains(ids, o.id); {
		case given && o.last:
			name = "-- " + name
		case !given && o.last:
			name = "[-- " + name + "]"
		case !given:
			name = o.display()
		}
		b.WriteString(" " + name)
	}
	if len(c.subs) > 0 && !c.raw {
		b.WriteString(" <COMMAND>")
	}
	return b.String()
}

// needs lists what a command cannot do without: options and groups of them.
func (c *command) needs() []string {
	var ids []string
	for i := range c.opts {
		o := &c.opts[i]
		if g := c.group(o.group); g != nil && g.required {
			if !slices.Contains(ids, g.id) {
				ids = append(ids, g.id)
			}
		} else if o.required {
			ids = append(ids, o.id)
		}
	}
	return ids
}

func clapError(msg string, tips []string, use string) *cmdError {
	var b strings.Builder
	b.WriteString("error: " + msg + "\n")
	for _, t := range tips {
		b.WriteString("\n  tip: " + t + "\n")
	}
	if use != "" {
		b.WriteString("\n" + use + "\n")
	}
	b.WriteString("\nFor more information, try '--help'.\n")
	return &cmdError{kind: clapErr, msg: b.String()}
}
