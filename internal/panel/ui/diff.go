package ui

import (
	"strconv"
	"strings"
)

// DiffLine is a line of a diff: Op is ' ', '+', '-' or '@' (a gap).
type DiffLine struct {
	Op       byte
	Old, New int // line numbers, 0 where the line does not exist
	Text     string
}

const (
	diffContext = 3
	diffMost    = 1000 // lines on a side above which a diff is shown as replaced whole
	diffEdits   = 500  // edits above which nobody would read it as a diff
)

// Diff compares two texts line by line and keeps three lines around each
// change. It finds a shortest edit by Myers' method, so what a person reads is
// what changed and no more; very long texts are shown as replaced whole.
func Diff(before, after string) []DiffLine {
	a, b := splitLines(before), splitLines(after)
	if len(a) > diffMost || len(b) > diffMost {
		return trim(whole(a, b))
	}
	return trim(myers(a, b))
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

func whole(a, b []string) []DiffLine {
	var out []DiffLine
	for i, l := range a {
		out = append(out, DiffLine{'-', i + 1, 0, l})
	}
	for i, l := range b {
		out = append(out, DiffLine{'+', 0, i + 1, l})
	}
	return out
}

// myers walks the edit graph diagonal by diagonal, remembering the furthest
// reach of each step, then follows the steps back from the end.
func myers(a, b []string) []DiffLine {
	n, m := len(a), len(b)
	most := n + m
	reach := make([]int, 2*most+2)
	var steps [][]int
	at := func(k int) int { return k + most }
	for d := 0; d <= min(most, diffEdits); d++ {
		steps = append(steps, append([]int(nil), reach...))
		for k := -d; k <= d; k += 2 {
			x := 0
			if k == -d || k != d && reach[at(k-1)] < reach[at(k+1)] {
				x = reach[at(k+1)]
			} else {
				x = reach[at(k-1)] + 1
			}
			y := x - k
			for x < n && y < m && a[x] == b[y] {
				x, y = x+1, y+1
			}
			reach[at(k)] = x
			if x >= n && y >= m {
				return walkBack(a, b, steps, most)
			}
		}
	}
	return whole(a, b)
}

func walkBack(a, b []string, steps [][]int, most int) []DiffLine {
	var rev []DiffLine
	x, y := len(a), len(b)
	for d := len(steps) - 1; d >= 0; d-- {
		v, k := steps[d], x-y
		prev := k - 1
		if k == -d || k != d && v[k-1+most] < v[k+1+most] {
			prev = k + 1
		}
		px := v[prev+most]
		py := px - prev
		for x > px && y > py && x > 0 && y > 0 {
			rev = append(rev, DiffLine{' ', x, y, a[x-1]})
			x, y = x-1, y-1
		}
		if d == 0 {
			break
		}
		if x == px {
			rev = append(rev, DiffLine{'+', 0, y, b[y-1]})
		} else {
			rev = append(rev, DiffLine{'-', x, 0, a[x-1]})
		}
		x, y = px, py
	}
	out := make([]DiffLine, len(rev))
	for i, l := range rev {
		out[len(rev)-1-i] = l
	}
	return out
}

// trim drops what is far from any change and marks the gaps.
func trim(lines []DiffLine) []DiffLine {
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l.Op == ' ' {
			continue
		}
		for j := max(0, i-diffContext); j <= min(len(lines)-1, i+diffContext); j++ {
			keep[j] = true
		}
	}
	var out []DiffLine
	for i := 0; i < len(lines); {
		if keep[i] {
			out = append(out, lines[i])
			i++
			continue
		}
		j := i
		for j < len(lines) && !keep[j] {
			j++
		}
		what := " lines unchanged"
		if j-i == 1 {
			what = " line unchanged"
		}
		out = append(out, DiffLine{Op: '@', Text: strconv.Itoa(j-i) + what})
		i = j
	}
	return out
}

func (l DiffLine) class() string {
	switch l.Op {
	case '+':
		return "add"
	case '-':
		return "del"
	case '@':
		return "gap"
	}
	return "same"
}

func (l DiffLine) said() string {
	switch l.Op {
	case '+':
		return "added: "
	case '-':
		return "removed: "
	}
	return ""
}

func lineNo(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
