package spec

import (
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// value is ref for a name that must lead to a typed value.
func (c *checker) value(n *Node, r Ref, say func(string, ...any)) *jsonschema.Schema {
	s, ok := c.ref(n, r, say)
	if ok && s == nil {
		say("%s is an artifact, and no value", clip(string(r)))
	}
	return s
}

// ref checks that a name leads to an output, and gives its schema: nil for an artifact.
func (c *checker) ref(n *Node, r Ref, say func(string, ...any)) (*jsonschema.Schema, bool) {
	node, way := r.Split()
	if len(way) == 0 {
		say("%q names no output; write node.output", clip(string(r)))
		return nil, false
	}
	var schema *Schema
	if node == given {
		schema = c.a.Inputs[way[0]]
		if schema == nil {
			say("the automation has no input %s", clip(way[0]))
			return nil, false
		}
	} else {
		from := c.nodes[node]
		if from == nil || node == n.ID {
			say("%q names %s, which is no other node", clip(string(r)), clip(node))
			return nil, false
		}
		out, there := from.Output[way[0]]
		if !there {
			say("node %s has no output %s", node, clip(way[0]))
			return nil, false
		}
		if out.Artifact != "" || out.Schema == nil {
			if len(way) > 1 {
				say("%s.%s is an artifact: it has no fields", node, way[0])
			}
			return nil, len(way) == 1
		}
		schema = out.Schema
		if from.Map != nil { // a list of what each item gave
			if len(way) > 1 {
				say("%s.%s is a list, one for each item: it has no fields", node, way[0])
				return nil, false
			}
			return &jsonschema.Schema{Type: "array", Items: &schema.Schema}, true
		}
	}
	s := schema.at(way[1:])
	if s == nil {
		say("%s has no field %s", strings.Join(append([]string{node}, way[0]), "."), clip(strings.Join(way[1:], ".")))
	}
	return s, s != nil
}

// OnlyAfter reports whether a node comes after another without being given anything by it.
func (n *Node) OnlyAfter(first string) bool {
	return slices.Contains(n.After, first) && !slices.Contains(n.data(), first)
}

// data are the nodes whose outputs n is given or looks at.
func (n *Node) data() (out []string) {
	add := func(r Ref) {
		if node, _ := r.Split(); node != given {
			out = append(out, node)
		}
	}
	for _, r := range n.Inputs {
		add(r)
	}
	switch {
	case n.Gate != nil:
		for _, r := range n.Gate.Shows {
			add(r)
		}
	case n.Branch != nil:
		add(n.Branch.On)
	case n.Map != nil:
		add(n.Map.Over)
	case n.Wait != nil:
		for _, r := range n.Wait.Match {
			add(r)
		}
	}
	return out
}

// needs are the nodes that come before n.
func (c *checker) needs(n *Node) []string {
	out := slices.Concat(n.After, n.data())
	for id, other := range c.nodes {
		if b := other.Branch; b != nil && b.Names(n.ID) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func casesOf(b *Branch) (out []string) {
	for _, to := range b.Cases {
		out = append(out, to...)
	}
	return out
}

// before reports whether one node always comes before another.
func (c *checker) before(first, then string) bool {
	seen := map[string]bool{}
	var look func(id string) bool
	look = func(id string) bool {
		if seen[id] || c.nodes[id] == nil {
			return false
		}
		seen[id] = true
		for _, need := range c.needs(c.nodes[id]) {
			if need == first || look(need) {
				return true
			}
		}
		return false
	}
	return look(then)
}

// rings refuses nodes that wait for each other.
func (c *checker) rings() {
	const walking, done = 1, 2
	state := map[string]int{}
	var way []string
	var walk func(id string) bool
	walk = func(id string) bool {
		switch state[id] {
		case walking:
			ring := append(way[slices.Index(way, id):], id)
			c.at("")("nodes wait for each other: %s", strings.Join(ring, " → "))
			return false
		case done:
			return true
		}
		state[id], way = walking, append(way, id)
		for _, need := range c.needs(c.nodes[id]) {
			if !walk(need) {
				return false
			}
		}
		state[id], way = done, way[:len(way)-1]
		return true
	}
	for i := range c.a.Nodes {
		if !walk(c.a.Nodes[i].ID) {
			return
		}
	}
}

// Needs gives, for each node of a definition that was read, the nodes that come before it. Nobody changes it.
func (a *Automation) Needs() map[string][]string { return a.needs }

func (a *Automation) before() map[string][]string {
	c := &checker{a: a, nodes: map[string]*Node{}}
	for i := range a.Nodes {
		c.nodes[a.Nodes[i].ID] = &a.Nodes[i]
	}
	out := make(map[string][]string, len(a.Nodes))
	for id, n := range c.nodes {
		out[id] = c.needs(n)
	}
	return out
}
