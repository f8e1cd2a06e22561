package watch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// State is how files stand: each by its path below the folder, with what tells one writing of it from another.
type State map[string]string

// Text is a state as it is kept: a line for each file, in the order of their names.
func (s State) Text() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s\t%s\n", s[name], name)
	}
	return b.String()
}

// Read is the state that a text says.
func Read(text string) State {
	s := State{}
	for line := range strings.Lines(text) {
		mark, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if ok {
			s[name] = mark
		}
	}
	return s
}

// Difference is what became of files between two states, each list in the order of names.
type Difference struct{ Added, Changed, Removed []string }

// Between is what differs.
func Between(was, is State) (d Difference) {
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if mark, there := was[name]; !there {
			d.Added = append(d.Added, name)
		} else if mark != is[name] {
			d.Changed = append(d.Changed, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if _, there := is[name]; !there {
			d.Removed = append(d.Removed, name)
		}
	}
	return d
}

// Count is how many files differ.
func (d Difference) Count() int { return len(d.Added) + len(d.Changed) + len(d.Removed) }

// Words say it in short.
func (d Difference) Words() string {
	var out []string
	for _, one := range []struct {
		what string
		n    int
	}{{"new", len(d.Added)}, {"changed", len(d.Changed)}, {"gone", len(d.Removed)}} {
		if one.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", one.n, one.what))
		}
	}
	return strings.Join(out, ", ")
}

// Body is what a run is told, of each kind at most that many names.
func (d Difference) Body(most int) map[string]any {
	list := func(names []string) []any {
		out := []any{}
		for _, n := range names[:min(len(names), most)] {
			out = append(out, n)
		}
		return out
	}
	return map[string]any{"added": list(d.Added), "changed": list(d.Changed), "removed": list(d.Removed), "files": d.Count()}
}
