package render

import "testing"

type node struct {
	id    string
	edges []Edge[string]
}

func draw(style string, nodes []node) string {
	g := NewGraph[string](style)
	out := ""
	for _, n := range nodes {
		out += g.Row(n.id, n.edges, "○", n.id+"\n")
	}
	return out
}

func d(ids ...string) []Edge[string] {
	var out []Edge[string]
	for _, id := range ids {
		out = append(out, Edge[string]{id, Direct})
	}
	return out
}

func TestGraph(t *testing.T) {
	got := draw("curved", []node{{"e", d("a", "d")}, {"d", d("c")}, {"c", d("z")}, {"b", d("a")}, {"a", d("z")}, {"z", nil}})
	want := "○    e\n├─╮\n│ ○  d\n│ ○  c\n│ │ ○  b\n├───╯\n○ │  a\n├─╯\n○  z\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	got = draw("curved", []node{{"b", []Edge[string]{{"", Missing}}}, {"a", []Edge[string]{{"z", Indirect}}}, {"z", nil}})
	want = "○  b\n│\n~\n\n○  a\n○  z\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
