package builtin

import (
	"fmt"
	"strings"
)

// maxDiff bounds what a card shows.
const maxDiff = 400

// diff shows what changed, for people: the lines that both ends share are left out. It is no patch.
func diff(path, before, after string) string {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	top := 0
	for top < len(a) && top < len(b) && a[top] == b[top] {
		top++
	}
	end := 0
	for end < len(a)-top && end < len(b)-top && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	from := max(top-2, 0)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ line %d @@\n", path, path, top+1)
	n := 0
	line := func(mark, l string) {
		if n++; n <= maxDiff {
			out.WriteString(mark + l + "\n")
		}
	}
	for _, l := range a[from:top] {
		line(" ", l)
	}
	for _, l := range a[top : len(a)-end] {
		line("-", l)
	}
	for _, l := range b[top : len(b)-end] {
		line("+", l)
	}
	for _, l := range a[len(a)-end : min(len(a)-end+2, len(a))] {
		line(" ", l)
	}
	if n > maxDiff {
		fmt.Fprintf(&out, "… %d more lines\n", n-maxDiff)
	}
	return out.String()
}
