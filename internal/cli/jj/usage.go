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

// smartUsage is the usage line of an error: what was used and what is missing.
func smartUsage(path []*command, used []string, missing []string) string {
	c := path[len(path)-1]
	var b strings.Builder
	b.WriteString("Usage: " + pathName(path))
	groups := map[string]bool{}
	showGroup := func(o *opt) bool {
		g := c.group(o.group)
		if g == nil || !g.required {
			return false
		}
		if !groups[g.id] {
			groups[g.id] = true
			b.WriteString(" " + c.groupDisplay(g))
		}
		return true
	}
	for i := range c.opts {
		o := &c.opts[i]
		if o.pos || o.hidden {
			continue
		}
		in := slices.Contains(used, o.id)
		if in && !showGroup(o) {
			b.WriteString(" " + o.display())
		} else if o.required && !in {
			b.WriteString(" " + o.display())
		}
	}
	for _, m := range missing {
		if g := c.group(m); g != nil && !groups[g.id] {
			groups[g.id] = true
			b.WriteString(" " + c.groupDisplay(g))
		}
	}
	for i := range c.opts {
		o := &c.opts[i]
		if !o.pos || o.hidden {
			continue
		}
		g := c.group(o.group)
		if g != nil && g.required {
			showGroup(o)
			continue
		}
		switch {
		case slices.Contains(used, o.id) || o.required:
			b.WriteString(" <" + o.value + ">" + o.dots())
		default:
			b.WriteString(" " + o.display())
		}
	}
	return b.String()
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
