// Package plot lays out what waits for what: things in columns, each behind all that it waits for, and the lines between them. It draws
// nothing: a page makes a drawing of it, a command makes lines. Circles, and names of what is not there, do no harm.
package plot

import (
	"cmp"
	"slices"
)

// Node is a thing, and the names of what it waits for.
type Node struct {
	Name  string
	After []string
}

// Place is where a thing stands: columns from the left, rows from above.
type Place struct {
	Name        string
	Column, Row int
}

// Line leads from a thing to one that waits for it. It passes through a place of its own in each column between them.
type Line struct {
	From, To string
	Through  []Place
}

// Picture is where everything stands.
type Picture struct {
	Places        []Place // in the order in which they were given
	Lines         []Line
	Columns, Rows int
}

// sweeps is how often the rows are put in order, there and back.
const sweeps = 4

// slot is a place in a column: of a thing, or of a line that passes.
type slot struct {
	name  string // of the thing; "" of a line
	left  []*slot
	right []*slot
	col   int
	row   int
	at    float64 // where its neighbours would have it
}

// Lay lays things out.
func Lay(nodes []Node) Picture {
	col := columns(nodes)
	slots := map[string]*slot{}
	var grid [][]*slot
	put := func(s *slot) *slot {
		for len(grid) <= s.col {
			grid = append(grid, nil)
		}
		s.row = len(grid[s.col])
		grid[s.col] = append(grid[s.col], s)
		return s
	}
	for _, n := range nodes {
		if slots[n.Name] == nil {
			slots[n.Name] = put(&slot{name: n.Name, col: col[n.Name]})
		}
	}
	type way struct {
		from, to string
		through  []*slot
	}
	var ways []way
	for _, n := range nodes {
		for i, before := range n.After {
			if slots[before] == nil || col[before] >= col[n.Name] || slices.Contains(n.After[:i], before) {
				continue
			}
			w := way{from: before, to: n.Name}
			last := slots[before]
			for c := col[before] + 1; c < col[n.Name]; c++ {
				s := put(&slot{col: c})
				join(last, s)
				w.through, last = append(w.through, s), s
			}
			join(last, slots[n.Name])
			ways = append(ways, w)
		}
	}
	straighten(grid)
	var p Picture
	p.Columns = len(grid)
	for _, c := range grid {
		p.Rows = max(p.Rows, len(c))
	}
	for _, n := range nodes {
		p.Places = append(p.Places, Place{n.Name, slots[n.Name].col, slots[n.Name].row})
	}
	for _, w := range ways {
		l := Line{From: w.from, To: w.to}
		for _, s := range w.through {
			l.Through = append(l.Through, Place{"", s.col, s.row})
		}
		p.Lines = append(p.Lines, l)
	}
	return p
}

func join(a, b *slot) { a.right, b.left = append(a.right, b), append(b.left, a) }

// columns are how long the longest way to each thing is. A way that comes back to where it was ends there.
func columns(nodes []Node) map[string]int {
	after := map[string][]string{}
	for _, n := range nodes {
		after[n.Name] = n.After
	}
	col, open := map[string]int{}, map[string]bool{}
	var walk func(string) int
	walk = func(name string) int {
		if c, ok := col[name]; ok {
			return c
		}
		open[name] = true
		c := 0
		for _, before := range after[name] {
			if _, there := after[before]; there && !open[before] {
				c = max(c, walk(before)+1)
			}
		}
		delete(open, name)
		col[name] = c
		return c
	}
	for _, n := range nodes {
		walk(n.Name)
	}
	return col
}

// straighten puts the rows of each column in the order of their neighbours' rows, from the left and back, so that few lines cross.
func straighten(grid [][]*slot) {
	for range sweeps {
		for c := 1; c < len(grid); c++ {
			arrange(grid[c], func(s *slot) []*slot { return s.left })
		}
		for c := len(grid) - 2; c >= 0; c-- {
			arrange(grid[c], func(s *slot) []*slot { return s.right })
		}
	}
}

func arrange(column []*slot, beside func(*slot) []*slot) {
	for _, s := range column {
		near := beside(s)
		if s.at = float64(s.row); len(near) == 0 {
			continue
		}
		sum := 0
		for _, n := range near {
			sum += n.row
		}
		s.at = float64(sum) / float64(len(near))
	}
	slices.SortStableFunc(column, func(a, b *slot) int { return cmp.Compare(a.at, b.at) })
	for i, s := range column {
		s.row = i
	}
}
