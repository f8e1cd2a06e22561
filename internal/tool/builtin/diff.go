package builtin

import (
	"fmt"
	"path/filepath"
	"strings"
)

// maxDiff bounds what a card shows.
const maxDiff = 400

// nearby is how many equal lines stand beside a change, as in every unified diff.
const nearby = 3

// diff is what changed in a file as a unified diff that git apply takes in the folder dir: one piece, without the lines that both ends
// share. Nothing before means that the file is new, nothing after that it is gone. What is longer than a card ends with how much was
// left out, and is no patch any more.
func diff(dir, path string, before, after []byte, existed, exists bool) string {
	a, b := lines(string(before)), lines(string(after))
	top := 0
	for top < len(a) && top < len(b) && a[top] == b[top] {
		top++
	}
	end := 0
	for end < len(a)-top && end < len(b)-top && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	from, tail := max(top-nearby, 0), min(end, nearby)
	var out strings.Builder
	name := below(dir, path)
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ -%s +%s @@\n", side("a/", name, existed), side("b/", name, exists),
		reach(from, len(a)-end+tail), reach(from, len(b)-end+tail))
	n := 0
	put := func(mark string, some []string) {
		for _, l := range some {
			if n++; n > maxDiff {
				continue
			}
			out.WriteString(mark + l)
			if !strings.HasSuffix(l, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	put(" ", a[from:top])
	put("-", a[top:len(a)-end])
	put("+", b[top:len(b)-end])
	put(" ", a[len(a)-end:len(a)-end+tail])
	if n > maxDiff {
		fmt.Fprintf(&out, "… %d more lines\n", n-maxDiff)
	}
	return out.String()
}

// lines are a text's lines, each with what ends it.
func lines(s string) []string {
	if s == "" {
		return nil
	}
	all := strings.SplitAfter(s, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// reach is where a piece begins and how many lines it has; an empty one stands behind the line before it.
func reach(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func side(prefix, name string, there bool) string {
	if !there {
		return "/dev/null"
	}
	return prefix + name
}

// below is a path as somebody in dir names it; one that is elsewhere keeps its own.
func below(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return strings.TrimPrefix(filepath.ToSlash(path), "/")
}
