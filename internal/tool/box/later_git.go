package box

import (
	"slices"
	"strings"
)

// alternates names other stores from which a repository takes objects as its own.
const alternates = "objects/info/alternates"

// borrows says which stores out of the folder a repository takes objects from that it did not before. What is set aside leaves the others.
func borrows(part, was Part, inside func(place string) bool, l *Left) string {
	had := strings.Split(string(was.Data), "\n")
	var stay, bad []string
	for line := range strings.Lines(string(part.Data)) {
		if to := strings.TrimSpace(line); to == "" || strings.HasPrefix(to, "#") || slices.Contains(had, to) || inside(to) {
			stay = append(stay, line)
		} else {
			bad = append(bad, to)
		}
	}
	if len(bad) == 0 && part.Mode.IsRegular() && part.Size <= maxPart {
		return ""
	}
	l.Instead = nil
	if len(stay) > 0 {
		l.Instead = &Part{Mode: 0o644, Data: []byte(strings.Join(stay, ""))}
	}
	return "a pointer to objects of another repository: " + strings.Join(bad, ", ")
}

// strategies are git's own ways of merging; any other is a program that is looked for.
var strategies = []string{"ort", "recursive", "resolve", "octopus", "ours", "subtree"}

// goesOn says which programs a rebase under way would start when somebody lets it go on. What is set aside leaves the rest of its list.
func goesOn(name string, part, was Part, l *Left) string {
	readable := part.Mode.IsRegular() && part.Size <= maxPart
	if name == "strategy" {
		if readable && slices.Contains(strategies, strings.TrimSpace(string(part.Data))) {
			return ""
		}
		return "a program by which a rebase would merge"
	}
	had := strings.Split(string(was.Data), "\n")
	var stay strings.Builder
	var runs []string
	for line := range strings.Lines(string(part.Data)) {
		words := strings.Fields(line)
		if len(words) > 0 && (words[0] == "exec" || words[0] == "x") && !slices.Contains(had, strings.TrimSuffix(line, "\n")) {
			runs = append(runs, strings.Join(words[1:], " "))
			continue
		}
		stay.WriteString(line)
	}
	switch {
	case !readable:
		return "a list of what a rebase does that cannot be read"
	case len(runs) == 0:
		return ""
	}
	l.Instead = &Part{Mode: 0o644, Data: []byte(stay.String())}
	return "commands that a rebase would run when it goes on: " + strings.Join(runs, "; ")
}
