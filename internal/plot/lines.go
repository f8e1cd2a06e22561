package plot

import "slices"

// Row is a thing as a list shows it, below that which it waits for longest.
type Row struct {
	Name  string
	Stem  string   // what is drawn before its name
	Under string   // the thing above, whose end opens it last; "" where it waits for nothing
	Also  []string // what else it waits for
}

// Rows are things as lines: each once, below the one of those it waits for that stands furthest to the right.
func Rows(nodes []Node) []Row {
	col := columns(nodes)
	over, below := map[string]string{}, map[string][]Node{}
	var first []Node
	for i, n := range nodes {
		if slices.ContainsFunc(nodes[:i], func(o Node) bool { return o.Name == n.Name }) {
			continue
		}
		best, at := -1, ""
		for _, before := range n.After {
			if c, there := col[before]; there && c < col[n.Name] && c > best {
				best, at = c, before
			}
		}
		if at == "" {
			first = append(first, n)
			continue
		}
		over[n.Name] = at
		below[at] = append(below[at], n)
	}
	var out []Row
	var list func(nodes []Node, stem string, top bool)
	list = func(nodes []Node, stem string, top bool) {
		for i, n := range nodes {
			r := Row{Name: n.Name, Under: over[n.Name]}
			for j, before := range n.After {
				if _, there := col[before]; there && before != r.Under && before != n.Name && !slices.Contains(n.After[:j], before) {
					r.Also = append(r.Also, before)
				}
			}
			next := ""
			switch last := i == len(nodes)-1; {
			case top:
			case last:
				r.Stem, next = stem+"└─ ", stem+"   "
			default:
				r.Stem, next = stem+"├─ ", stem+"│  "
			}
			out = append(out, r)
			list(below[n.Name], next, false)
		}
	}
	list(first, "", true)
	return out
}
