package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// point is a figure in the results of one commit.
type point struct {
	commit, day string
	n           float64
}

// drawn is how many points a curve has at most: the newest.
const drawn = 30

// curves draws docs/speed.md: how each figure went from one committed run to the next, taken from the history of the results.
func curves(now string) error {
	log, err := git("log", "--reverse", "--date=short", "--format=%h %ad", "--", "bench/RESULTS.md")
	if err != nil {
		return err
	}
	history := map[string][]point{}
	add := func(commit, day, results string) {
		for what, value := range readings(results) {
			if n, _, ok := amount(value); ok {
				history[what] = append(history[what], point{commit, day, n})
			}
		}
	}
	for line := range strings.Lines(log) {
		commit, day, _ := strings.Cut(strings.TrimSpace(line), " ")
		if results, err := git("show", commit+":bench/RESULTS.md"); err == nil {
			add(commit, day, results)
		}
	}
	add("now", "", now)
	return page(history)
}

// page writes the text and a picture for each section.
func page(history map[string][]point) error {
	sections := map[string][]string{}
	for _, what := range sortedKeys(history) {
		title, _, _ := strings.Cut(what, ": ")
		if len(history[what]) > 1 {
			sections[title] = append(sections[title], what)
		}
	}
	dir := filepath.Join("docs", "speed")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return err
	}
	var text bytes.Buffer
	text.WriteString("# How fast it is\n\nThe figures of today, with their targets, " +
		"are in [bench/RESULTS.md](../bench/RESULTS.md); a comparison with " +
		"an earlier program is made by `make bench AGAINST=COMMIT ROUNDS=5`.\n" +
		"Below is how each figure went from one committed run to the next: a line is scaled to its own highest " +
		"value, its first and last value stand beside it. Made by `make bench`; do not edit.\n")
	for _, title := range sortedKeys(sections) {
		words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return r < 'a' || r > 'z' })
		name := strings.Join(words, "-") + ".svg"
		fmt.Fprintf(&text, "\n## %s\n\n![%s](speed/%s)\n", title, title, name)
		if err := os.WriteFile(filepath.Join(dir, name), picture(sections[title], history), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join("docs", "speed.md"), text.Bytes(), 0o644)
}

const (
	rowHeight = 34
	nameWidth = 400
	lineWidth = 260
)

// picture is one small line for each figure of a section.
func picture(names []string, history map[string][]point) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		nameWidth+lineWidth+190, rowHeight*len(names)+8)
	b.WriteString(`<rect width="100%" height="100%" fill="white"/>` + "\n")
	for i, what := range names {
		points := history[what]
		points = points[max(0, len(points)-drawn):]
		_, label, _ := strings.Cut(what, ": ")
		if len([]rune(label)) > 62 {
			label = string([]rune(label)[:61]) + "…"
		}
		top := float64(i*rowHeight + 8)
		fmt.Fprintf(&b, `<text x="8" y="%.0f">%s</text>`+"\n", top+17, html.EscapeString(label))
		highest := slices.MaxFunc(points, func(p, q point) int { return int(math.Copysign(1, p.n-q.n)) }).n
		var line strings.Builder
		for j, p := range points {
			x := nameWidth + float64(j)*lineWidth/float64(max(1, len(points)-1))
			fmt.Fprintf(&line, "%.0f,%.1f ", x, top+22-20*p.n/highest)
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="#3367aa" stroke-width="1.5"/>`+"\n", strings.TrimSpace(line.String()))
		fmt.Fprintf(&b, `<text x="%d" y="%.0f" fill="#555">%.4g → %.4g</text>`+"\n", nameWidth+lineWidth+10, top+17,
			points[0].n, points[len(points)-1].n)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
