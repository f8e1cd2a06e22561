package tool

import (
	"fmt"
	"strings"
)

// Unified is a unified diff of one piece, with three lines around it.
func Unified(path, before, after string) string {
	a, b := cutLines(before), cutLines(after)
	top, end := 0, 0
	for top < len(a) && top < len(b) && a[top] == b[top] {
		top++
	}
	for end < len(a)-top && end < len(b)-top && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	const around = 3
	from, after3 := max(top-around, 0), min(end, around)
	var out strings.Builder
	start := func(n, lines int) int {
		if lines == 0 {
			return n // git names the line before
		}
		return n + 1
	}
	wasLines, isLines := len(a)-end+after3-from, len(b)-end+after3-from
	fmt.Fprintf(&out, "--- %s\n+++ %s\n@@ -%d,%d +%d,%d @@\n", path, path, start(from, wasLines), wasLines, start(from, isLines), isLines)
	put := func(mark string, lines []string) {
		for _, l := range lines {
			out.WriteString(mark + strings.TrimSuffix(l, "\n") + "\n")
			if !strings.HasSuffix(l, "\n") {
				out.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	put(" ", a[from:top])
	put("-", a[top:len(a)-end])
	put("+", b[top:len(b)-end])
	put(" ", a[len(a)-end:len(a)-end+after3])
	return out.String()
}

// cutLines are a text's lines, each with its end.
func cutLines(s string) []string {
	if s == "" {
		return nil
	}
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
