package plot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever waits for whatever: everything has a place of its own, what waits stands to the right, each line passes each column between its
// ends once, and as lines of text everything is there once, below something that it waits for.
func TestEverythingHasAPlace(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var nodes []Node
		n := rapid.IntRange(0, 14).Draw(rt, "things")
		for i := range n {
			node := Node{Name: fmt.Sprint(i)}
			for range rapid.IntRange(0, 3).Draw(rt, "waits") {
				node.After = append(node.After, fmt.Sprint(rapid.IntRange(0, n+1).Draw(rt, "for"))) // circles, itself, and what is not there
			}
			nodes = append(nodes, node)
		}
		p := Lay(nodes)
		taken, at := map[[2]int]string{}, map[string]Place{}
		for _, s := range p.Places {
			if other, is := taken[[2]int{s.Column, s.Row}]; is {
				rt.Fatalf("%s stands on %s", s.Name, other)
			}
			if s.Column >= p.Columns || s.Row >= p.Rows {
				rt.Fatalf("%+v is outside of %d × %d", s, p.Columns, p.Rows)
			}
			taken[[2]int{s.Column, s.Row}], at[s.Name] = s.Name, s
		}
		if len(at) != n {
			rt.Fatalf("%d of %d have a place", len(at), n)
		}
		for _, l := range p.Lines {
			if at[l.From].Column >= at[l.To].Column || len(l.Through) != at[l.To].Column-at[l.From].Column-1 {
				rt.Fatalf("a line from column %d to %d passes %v", at[l.From].Column, at[l.To].Column, l.Through)
			}
			for i, s := range l.Through {
				if name, is := taken[[2]int{s.Column, s.Row}]; is || s.Column != at[l.From].Column+1+i {
					rt.Fatalf("a line passes %q at %+v", name, s)
				}
				taken[[2]int{s.Column, s.Row}] = l.From + "→" + l.To
			}
		}
		seen := map[string]bool{}
		for _, r := range Rows(nodes) {
			if seen[r.Name] || r.Under != "" && !seen[r.Under] {
				rt.Fatalf("%q is there twice, or before %q", r.Name, r.Under)
			}
			seen[r.Name] = true
		}
		if len(seen) != n {
			rt.Fatalf("%d of %d have a line", len(seen), n)
		}
	})
}

// Where nothing goes round, every wait has its line.
func TestEveryWaitHasItsLine(t *testing.T) {
	nodes := []Node{{"plan", nil}, {"build", []string{"plan"}}, {"test", []string{"build"}}, {"docs", []string{"plan"}},
		{"ship", []string{"test", "docs", "plan"}}}
	p := Lay(nodes)
	var got []string
	for _, l := range p.Lines {
		got = append(got, fmt.Sprintf("%s-%s:%d", l.From, l.To, len(l.Through)))
	}
	slices.Sort(got)
	if s := strings.Join(got, " "); s != "build-test:0 docs-ship:1 plan-build:0 plan-docs:0 plan-ship:2 test-ship:0" || p.Columns != 4 {
		t.Errorf("%s in %d columns", s, p.Columns)
	}
	var text strings.Builder
	for _, r := range Rows(nodes) {
		fmt.Fprintf(&text, "%s%s %s\n", r.Stem, r.Name, strings.Join(r.Also, ","))
	}
	if want := "plan \n├─ build \n│  └─ test \n│     └─ ship docs,plan\n└─ docs \n"; text.String() != want {
		t.Errorf("\n%swant\n%s", text.String(), want)
	}
}

// A thousand things in a line, and a thousand that wait for one, are laid out at once.
func TestManyThings(t *testing.T) {
	var long, wide []Node
	for i := range 1000 {
		long = append(long, Node{fmt.Sprint(i), []string{fmt.Sprint(i - 1)}})
		wide = append(wide, Node{fmt.Sprint(i), []string{"0"}})
	}
	if p := Lay(long); p.Columns != 1000 || p.Rows != 1 {
		t.Errorf("%d × %d", p.Columns, p.Rows)
	}
	if p := Lay(wide); p.Columns != 2 || p.Rows != 999 {
		t.Errorf("%d × %d", p.Columns, p.Rows)
	}
}
