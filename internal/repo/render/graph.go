package render

import (
	"slices"
	"strings"
)

// EdgeKind says how a node of a graph is joined to an ancestor.
type EdgeKind uint8

// The kinds of edges: to a parent, to a farther ancestor because nodes between
// are not shown, and to something that is not shown at all.
const (
	Direct EdgeKind = iota
	Indirect
	Missing
)

// Edge leads from a node to an ancestor.
type Edge[K comparable] struct {
	To   K
	Kind EdgeKind
}

// Graph draws nodes, newest first, with lines to their ancestors in front of
// their text. The layout is that of Sapling's renderdag.
type Graph[K comparable] struct {
	style  *lines
	cols   []column[K]
	pad    string
	hasPad bool
}

type slot uint8

const (
	empty slot = iota
	blocked
	far    // waits for a farther ancestor
	parent // waits for a parent
)

type column[K comparable] struct {
	slot slot
	id   K
}

// link is what one column shows in the row between two nodes.
type link uint16

const (
	horizontal link = 1 << iota
	vertParent
	vertFar
	leftFork
	rightFork
	leftMerge
	rightMerge
	child
)

const (
	anyFork  = leftFork | rightFork
	anyMerge = leftMerge | rightMerge
)

// NewGraph makes a graph in a style: curved, square or ascii. It returns nil
// for a style it does not know.
func NewGraph[K comparable](style string) *Graph[K] {
	s := graphStyle(style)
	if s == nil {
		return nil
	}
	return &Graph[K]{style: s}
}

func (g *Graph[K]) find(id K) int {
	return slices.IndexFunc(g.cols, func(c column[K]) bool { return c.slot >= far && c.id == id })
}

func (g *Graph[K]) firstEmpty() int {
	return slices.IndexFunc(g.cols, func(c column[K]) bool { return c.slot == empty })
}

func (e Edge[K]) column() column[K] {
	switch e.Kind {
	case Direct:
		return column[K]{parent, e.To}
	case Indirect:
		return column[K]{far, e.To}
	}
	return column[K]{slot: blocked}
}

func (c column[K]) vertical() link {
	switch c.slot {
	case parent:
		return vertParent
	case far:
		return vertFar
	}
	return 0
}

// Width is how many columns of the terminal the lines before a node's text
// take.
func (g *Graph[K]) Width(id K, edges []Edge[K]) int {
	w := len(g.cols)
	free := 0
	for _, c := range g.cols {
		if c.slot == empty {
			free++
		}
	}
	if g.find(id) < 0 {
		if free == 0 {
			w++
		} else {
			free--
		}
	}
	need := 0
	for _, e := range edges {
		if e.Kind == Missing || g.find(e.To) < 0 {
			need++
		}
	}
	w += max(0, max(0, need-free)-1)
	if g.style.large {
		return w * 3
	}
	return w*2 + 1
}

// Row draws one node with its symbol and text.
func (g *Graph[K]) Row(id K, edges []Edge[K], symbol, message string) string {
	at := g.find(id)
	if at < 0 {
		if at = g.firstEmpty(); at < 0 {
			g.cols = append(g.cols, column[K]{})
			at = len(g.cols) - 1
		}
	}
	g.cols[at] = column[K]{}
	r := &row{at: at, merge: len(edges) > 1}
	for _, c := range g.cols {
		r.push(c.vertical())
	}
	places := g.place(r, at, edges)
	for i, e := range places {
		if e.Kind == Missing {
			r.term[i], r.hasTerm = true, true
		}
	}
	if len(edges) == 1 {
		g.pullIn(r, at, places)
	}
	g.connect(r, at, places)
	for i := range g.cols {
		if g.cols[i].slot == blocked {
			g.cols[i] = column[K]{}
		}
	}
	for len(g.cols) > 0 && g.cols[len(g.cols)-1].slot == empty {
		g.cols = g.cols[:len(g.cols)-1]
	}
	return g.draw(r, symbol, message)
}

type row struct {
	at      int
	merge   bool
	node    []link
	links   []link
	pads    []link
	term    []bool
	hasLink bool
	hasTerm bool
}

func (r *row) push(v link) {
	r.node = append(r.node, v)
	r.links = append(r.links, v)
	r.pads = append(r.pads, v)
	r.term = append(r.term, false)
}

// place gives every edge a column: one that already waits for the same
// ancestor, else a free one, else a new one.
func (g *Graph[K]) place(r *row, at int, edges []Edge[K]) map[int]Edge[K] {
	places := map[int]Edge[K]{}
	for _, e := range edges {
		i := -1
		if e.Kind != Missing {
			i = g.find(e.To)
		}
		if i < 0 {
			if i = at; g.cols[at].slot != empty {
				i = g.firstEmpty()
			}
		}
		if i < 0 {
			g.cols = append(g.cols, e.column())
			i = len(g.cols) - 1
			r.push(0)
		} else if c := e.column(); c.slot > g.cols[i].slot {
			g.cols[i] = c
		}
		places[i] = e
	}
	return places
}

// pullIn moves the line to an only parent from the right into the node's own
// column, so that graphs do not drift.
func (g *Graph[K]) pullIn(r *row, at int, places map[int]Edge[K]) {
	for i, e := range places {
		if i <= at {
			return
		}
		g.cols[at], g.cols[i] = g.cols[i], g.cols[at]
		delete(places, i)
		places[at] = e
		r.links[at] |= rightFork
		for j := at + 1; j < i; j++ {
			r.links[j] |= horizontal
		}
		r.links[i] = leftMerge
		r.hasLink = true
		r.pads[i] = 0
		return
	}
}

func (g *Graph[K]) connect(r *row, at int, places map[int]Edge[K]) {
	if len(places) == 0 {
		return
	}
	lo, hi := at, at
	for i := range places {
		lo, hi = min(lo, i), max(hi, i)
	}
	for i := lo + 1; i < hi; i++ {
		if i != at {
			r.links[i] |= horizontal
		}
		r.hasLink = true
	}
	if hi > at {
		r.links[at] |= rightMerge
		r.hasLink = true
	}
	if lo < at {
		r.links[at] |= leftMerge
		r.hasLink = true
	}
	for i, e := range places {
		r.pads[i] = g.cols[i].vertical()
		switch {
		case i < at:
			r.links[i] |= rightFork
		case i > at:
			r.links[i] |= leftFork
		case e.Kind == Indirect:
			r.links[i] |= child | vertFar
		default:
			r.links[i] |= child | vertParent
		}
	}
}

func (g *Graph[K]) draw(r *row, symbol, message string) string {
	var out strings.Builder
	text := splitLines(message)
	line := func(prefix string) {
		if len(text) > 0 {
			prefix += " " + text[0]
			text = text[1:]
		}
		out.WriteString(strings.TrimRight(prefix, " "))
		out.WriteByte('\n')
	}
	if g.hasPad {
		out.WriteString(strings.TrimRight(g.pad, " ") + "\n")
		g.hasPad = false
	}
	var b strings.Builder
	for i, v := range r.node {
		b.WriteString(g.style.gap(i))
		if i == r.at {
			b.WriteString(symbol + " ")
		} else {
			b.WriteString(g.style.pad(v))
		}
	}
	line(b.String())
	if r.hasLink {
		for _, l := range g.style.link(r) {
			line(l)
		}
	}
	base := ""
	for i, v := range r.pads {
		base += g.style.gap(i) + g.style.pad(v)
	}
	extra := false
	if r.hasTerm {
		for _, mark := range []string{g.style.pad(vertParent), "~ "} {
			b.Reset()
			for i, t := range r.term {
				b.WriteString(g.style.gap(i))
				if t {
					b.WriteString(mark)
				} else {
					b.WriteString(g.style.pad(r.pads[i]))
				}
			}
			line(b.String())
		}
		extra = true
	}
	for len(text) > 0 {
		line(base)
		extra = false
	}
	if extra {
		g.pad, g.hasPad = base, true
	}
	return out.String()
}

// splitLines takes a text apart. A carriage return before the end of a line belongs to the end.
func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
}
