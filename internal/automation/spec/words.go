package spec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Words are what a node is told: the part of a definition that a repair may change in a run. What the node may use, what it is given and
// what it gives are no part of it.
type Words struct {
	Prompt string         `json:"prompt,omitempty"` // of a turn, with System and Model
	System string         `json:"system,omitempty"`
	Model  string         `json:"model,omitempty"`
	Run    []string       `json:"run,omitempty"`   // of a command
	Input  map[string]any `json:"input,omitempty"` // of an operation
	Text   string         `json:"text,omitempty"`  // of a gate
}

// UnmarshalJSON reads words as they are stored, with numbers as they are written.
func (w *Words) UnmarshalJSON(data []byte) error {
	type plain Words
	return Decode(data, (*plain)(w))
}

// String is the words line by line, so that two of them can be compared as texts.
func (w Words) String() string {
	var b strings.Builder
	for _, one := range []struct{ name, text string }{{"model", w.Model}, {"system", w.System}, {"prompt", w.Prompt}, {"text", w.Text}} {
		if one.text != "" {
			fmt.Fprintf(&b, "%s:\n%s\n", one.name, strings.TrimSuffix(one.text, "\n"))
		}
	}
	for i, arg := range w.Run {
		fmt.Fprintf(&b, "run %d: %s\n", i, arg)
	}
	if len(w.Input) > 0 {
		text, err := json.MarshalIndent(w.Input, "", "  ")
		if err != nil { // it was read from TOML or JSON
			text = []byte("an input that cannot be shown")
		}
		fmt.Fprintf(&b, "input:\n%s\n", text)
	}
	return b.String()
}

// Words are what a node is told, false where there is no such node.
func (a *Automation) Words(node string) (w Words, ok bool) {
	i := slices.IndexFunc(a.Nodes, func(n Node) bool { return n.ID == node })
	if i < 0 {
		return w, false
	}
	n := &a.Nodes[i]
	b := n.work()
	switch {
	case b.Turn != nil:
		w.Prompt, w.System, w.Model = b.Turn.Prompt, b.Turn.System, b.Turn.Model
	case b.Command != nil:
		w.Run = b.Command.Run
	case b.Operation != nil:
		w.Input = b.Operation.Input
	case n.Gate != nil:
		w.Text = n.Gate.Text
	}
	return w, true
}

// work is what a node does itself, or a map does with each item.
func (n *Node) work() *Body {
	if n.Map != nil {
		return &n.Map.Body
	}
	return &n.Body
}

// Told is the definition in which a node is told something else, without looking whether it is right. The definition itself stays.
func (a *Automation) Told(node string, w Words) *Automation {
	out := *a
	out.Nodes = slices.Clone(a.Nodes)
	for i := range out.Nodes {
		if n := &out.Nodes[i]; n.ID == node {
			n.tell(w)
		}
	}
	return &out
}

func (n *Node) tell(w Words) {
	if n.Map != nil {
		m := *n.Map
		n.Map = &m
	}
	b := n.work()
	switch {
	case b.Turn != nil:
		t := *b.Turn
		t.Prompt, t.System, t.Model = w.Prompt, w.System, w.Model
		b.Turn = &t
	case b.Command != nil:
		c := *b.Command
		c.Run = w.Run
		b.Command = &c
	case b.Operation != nil:
		o := *b.Operation
		o.Input = w.Input
		b.Operation = &o
	case n.Gate != nil:
		g := *n.Gate
		g.Text = w.Text
		n.Gate = &g
	}
}

// Wrong is all that is wrong with a definition that was made from another one, nil when nothing is.
func (a *Automation) Wrong() error {
	if all := append(a.check(), a.spliced()...); len(all) > 0 {
		return all
	}
	return nil
}
