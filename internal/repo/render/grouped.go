package render

import "slices"

// Node is a node of a graph with its edges.
type Node[K comparable] struct {
	ID    K
	Edges []Edge[K]
}

// grouper reorders nodes so that branches stay together.
type grouper[K comparable] struct {
	input   []Node[K]
	nodes   map[K]*groupNode[K]
	ready   []K
	heads   []K
	blocked map[K]bool
}

type groupNode[K comparable] struct {
	children map[K]bool
	item     *Node[K]
}

func (g *grouper[K]) node(k K) *groupNode[K] {
	n := g.nodes[k]
	if n == nil {
		n = &groupNode[K]{children: map[K]bool{}}
		g.nodes[k] = n
	}
	return n
}

// Group orders nodes that come children first so that the commits of a branch
// follow each other; branches of the nodes in first come first.
func Group[K comparable](nodes []Node[K], first []K) []Node[K] {
	g := &grouper[K]{input: nodes, nodes: map[K]*groupNode[K]{}, blocked: map[K]bool{}}
	for _, k := range first {
		g.node(k)
		g.heads = append(g.heads, k)
	}
	var out []Node[K]
	for {
		n, ok := g.next()
		if !ok {
			return out
		}
		out = append(out, n)
	}
}

func targets[K comparable](n *Node[K]) []K {
	var out []K
	for _, e := range n.Edges {
		if e.Kind != Missing {
			out = append(out, e.To)
		}
	}
	return out
}

// populate takes one more node from the input.
func (g *grouper[K]) populate() bool {
	if len(g.input) == 0 {
		return false
	}
	item := &g.input[0]
	g.input = g.input[1:]
	for _, p := range targets(item) {
		g.node(p).children[item.ID] = true
	}
	if n := g.nodes[item.ID]; n != nil {
		n.item = item
	} else {
		g.node(item.ID).item = item
		g.heads = append(g.heads, item.ID)
	}
	return true
}

func (g *grouper[K]) next() (Node[K], bool) {
	for {
		switch {
		case len(g.ready) > 0:
			id := g.ready[len(g.ready)-1]
			n := g.nodes[id]
			if n == nil {
				g.ready = g.ready[:len(g.ready)-1]
				continue
			}
			if len(n.children) > 0 {
				g.ready = g.ready[:len(g.ready)-1]
				g.blocked[id] = true
				continue
			}
			if n.item == nil {
				if !g.populate() {
					g.ready = g.ready[:len(g.ready)-1]
					delete(g.nodes, id)
				}
				continue
			}
			g.ready = g.ready[:len(g.ready)-1]
			delete(g.nodes, id)
			for _, p := range targets(n.item) {
				pn := g.nodes[p]
				if pn == nil {
					continue
				}
				delete(pn.children, id)
				if len(pn.children) == 0 {
					delete(g.blocked, p)
					g.ready = append(g.ready, p)
				} else {
					g.blocked[p] = true
				}
			}
			return *n.item, true
		case len(g.heads) > 0:
			g.flush()
		default:
			if !g.populate() {
				return Node[K]{}, false
			}
		}
	}
}

// flush chooses the next branch: one that keeps others waiting, if any does.
func (g *grouper[K]) flush() {
	if len(g.blocked) == 0 || len(g.heads) <= 1 {
		g.ready = append(g.ready, g.heads[0])
		g.heads = g.heads[1:]
		clear(g.blocked)
		return
	}
	seen := map[K]bool{}
	var work []K
	for k := range g.blocked {
		seen[k] = true
		work = append(work, k)
	}
	for len(work) > 0 {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		for c := range g.nodes[k].children {
			if !seen[c] {
				seen[c] = true
				work = append(work, c)
			}
		}
	}
	at := max(0, slices.IndexFunc(g.heads, func(k K) bool { return seen[k] }))
	head := g.heads[at]
	g.heads = slices.Delete(slices.Clone(g.heads), at, at+1)
	delete(seen, head)
	work = append(work, head)
	for len(work) > 0 {
		k := work[len(work)-1]
		work = work[:len(work)-1]
		if n := g.nodes[k]; n != nil && n.item != nil {
			for _, p := range targets(n.item) {
				if seen[p] {
					delete(seen, p)
					work = append(work, p)
				}
			}
		}
	}
	for k := range g.blocked {
		if !seen[k] {
			delete(g.blocked, k)
		}
	}
	g.ready = append(g.ready, head)
}

// Reverse turns a graph upside down.
func Reverse[K comparable](nodes []Node[K]) []Node[K] {
	edges := map[K][]Edge[K]{}
	for _, n := range nodes {
		for _, e := range n.Edges {
			edges[e.To] = append(edges[e.To], Edge[K]{n.ID, e.Kind})
		}
	}
	out := make([]Node[K], 0, len(nodes))
	for _, n := range slices.Backward(nodes) {
		out = append(out, Node[K]{n.ID, edges[n.ID]})
	}
	return out
}
