package render

import (
	"slices"
	"strings"
)

// lines is the set of strokes of a graph style.
type lines struct {
	space, horizontal, parent, far   string
	mergeLeft, mergeRight, mergeBoth string
	forkLeft, forkRight, forkBoth    string
	joinLeft, joinRight, joinBoth    string
	ascii                            bool
	large                            bool // columns three wide, links two lines high
}

func graphStyle(name string) *lines {
	switch name {
	case "curved":
		return &lines{"  ", "──", "│ ", "╷ ", "╯ ", "╰─", "┴─", "╮ ", "╭─", "┬─", "┤ ", "├─", "┼─", false, false}
	case "square":
		return &lines{"  ", "──", "│ ", "· ", "┘ ", "└─", "┴─", "┐ ", "┌─", "┬─", "┤ ", "├─", "┼─", false, false}
	case "ascii":
		return &lines{space: "  ", parent: "| ", far: ". ", ascii: true}
	case "ascii-large":
		return &lines{space: "  ", parent: "| ", far: ". ", large: true}
	}
	return nil
}

func (l *lines) pad(v link) string {
	switch v {
	case vertParent:
		return l.parent
	case vertFar:
		return l.far
	}
	return l.space
}

// gap is what stands before a column.
func (l *lines) gap(i int) string {
	if l.large && i > 0 {
		return " "
	}
	return ""
}

// link draws the line, or the two lines, between a node and its parents.
func (l *lines) link(r *row) []string {
	switch {
	case l.large:
		return largeLinks(r.links)
	case l.ascii:
		return []string{asciiLink(r.links)}
	}
	var b strings.Builder
	for _, c := range r.links {
		b.WriteString(l.stroke(c, r.merge))
	}
	return []string{b.String()}
}

// largeLinks draws slanted lines: merges above, forks below.
func largeLinks(links []link) []string {
	var top, bottom strings.Builder
	choose := func(b *strings.Builder, c link, marks ...any) {
		for i := 0; i < len(marks); i += 2 {
			if c&marks[i].(link) != 0 {
				b.WriteString(marks[i+1].(string))
				return
			}
		}
		b.WriteByte(' ')
	}
	for i, c := range links {
		if i > 0 {
			choose(&top, c, leftMerge, "/", horizontal, "_")
			choose(&bottom, c, leftFork, "\\")
		}
		choose(&top, c, vertParent, "|", vertFar, ".", anyMerge, " ", horizontal, "_")
		choose(&bottom, c, vertParent, "|", vertFar, ".")
		choose(&top, c, rightMerge, "\\", horizontal, "_")
		choose(&bottom, c, rightFork, "/")
	}
	return []string{top.String(), bottom.String()}
}

// pick chooses a stroke by which sides it is joined to.
func pick(left, right bool, both, onLeft, onRight, none string) string {
	switch {
	case left && right:
		return both
	case left:
		return onLeft
	case right:
		return onRight
	}
	return none
}

func (l *lines) stroke(c link, merge bool) string {
	has := func(m link) bool { return c&m != 0 }
	switch {
	case has(horizontal):
		switch {
		case has(child), has(anyFork) && has(anyMerge), has(anyFork) && has(vertParent) && !merge:
			return l.joinBoth
		case has(anyFork):
			return l.forkBoth
		case has(anyMerge):
			return l.mergeBoth
		}
		return l.horizontal
	case has(vertParent) && !merge:
		return pick(has(leftMerge|leftFork), has(rightMerge|rightFork), l.joinBoth, l.joinLeft, l.joinRight, l.parent)
	case has(vertParent|vertFar) && !has(anyFork):
		none := l.parent
		if has(vertFar) {
			none = l.far
		}
		return pick(has(leftMerge), has(rightMerge), l.joinBoth, l.joinLeft, l.joinRight, none)
	case has(leftFork) && has(leftMerge|child):
		return l.joinLeft
	case has(rightFork) && has(rightMerge|child):
		return l.joinRight
	case has(leftMerge) && has(rightMerge):
		return l.mergeBoth
	case has(leftFork) && has(rightFork):
		return l.forkBoth
	case has(leftFork):
		return l.forkLeft
	case has(leftMerge):
		return l.mergeLeft
	case has(rightFork):
		return l.forkRight
	case has(rightMerge):
		return l.mergeRight
	}
	return l.space
}

func asciiLink(links []link) string {
	var b strings.Builder
	wide := slices.ContainsFunc(links, func(c link) bool { return c&horizontal != 0 })
	for i, c := range links {
		var next link
		if i+1 < len(links) {
			next = links[i+1]
		}
		has := func(m link) bool { return c&m != 0 }
		switch {
		case has(horizontal) && has(child|anyFork|anyMerge):
			b.WriteByte('+')
		case has(horizontal):
			b.WriteByte('-')
		case has(vertParent|vertFar) && has(anyFork|anyMerge) && wide:
			b.WriteByte('+')
		case has(vertParent):
			b.WriteByte('|')
		case has(vertFar):
			b.WriteByte('.')
		case has(anyMerge) && wide:
			b.WriteByte('\'')
		case has(anyFork) && wide:
			b.WriteByte('.')
		default:
			b.WriteByte(' ')
		}
		switch {
		case has(horizontal):
			b.WriteByte('-')
		case has(rightMerge) && next&leftFork != 0 && !wide:
			b.WriteByte('\\')
		case has(rightFork) && next&leftMerge != 0 && !wide:
			b.WriteByte('/')
		case has(rightMerge), has(rightFork):
			b.WriteByte('-')
		default:
			b.WriteByte(' ')
		}
	}
	return b.String()
}
