package unified

import (
	"strconv"
	"strings"
)

const (
	diffContext = 3
	diffMost    = 1000 // lines on a side above which a diff is shown as replaced whole
	diffEdits   = 500  // edits above which nobody would read it as a diff
)

// Diff compares two texts line by line and keeps three lines around each
// change. It finds a shortest edit by Myers' method, so what a person reads is
// what changed and no more; very long texts are shown as replaced whole.
func Diff(before, after string) []Line {
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

func whole(a, b []string) []Line {
	var out []Line
	for i, l := range a {
		out = append(out, Line{Op: '-', Old: i + 1, New: 0, Text: l})
	}
	for i, l := range b {
		out = append(out, Line{Op: '+', Old: 0, New: i + 1, Text: l})
	}
	return out
}

// myers walks the edit graph diagonal by diagonal, remembering the furthest
// reach of each step, then follows the steps back from the end.
func myers(a, b []string) []Line {
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

func walkBack(a, b []string, steps [][]int, most int) []Line {
	var rev []Line
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
			rev = append(rev, Line{Op: ' ', Old: x, New: y, Text: a[x-1]})
			x, y = x-1, y-1
		}
		if d == 0 {
			break
		}
		if x == px {
			rev = append(rev, Line{Op: '+', Old: 0, New: y, Text: b[y-1]})
		} else {
			rev = append(rev, Line{Op: '-', Old: x, New: 0, Text: a[x-1]})
		}
		x, y = px, py
	}
	out := make([]Line, len(rev))
	for i, l := range rev {
		out[len(rev)-1-i] = l
	}
	return out
}

// trim drops what is far from any change and marks the gaps.
func trim(lines []Line) []Line {
	keep := make([]bool, len(lines))
	for i, l := range lines {
		if l.Op == ' ' {
			continue
		}
		for j := max(0, i-diffContext); j <= min(len(lines)-1, i+diffContext); j++ {
			keep[j] = true
		}
	}
	var out []Line
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
		out = append(out, Line{Op: '@', Text: strconv.Itoa(j-i) + what})
		i = j
	}
	return out
}
