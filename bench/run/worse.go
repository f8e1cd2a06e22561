package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var quantity = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?(ns|µs|ms|s|m|KB|MB|/s)\b`)

var units = map[string]float64{"ns": 1e-6, "µs": 1e-3, "ms": 1, "s": 1e3, "m": 6e4, "KB": 1, "MB": 1e3, "/s": 1}

// amount is a figure as a number of its kind, and whether more of it is better; ok is false for what is no amount ("20 of 20").
func amount(value string) (n float64, more, ok bool) {
	m := quantity.FindStringSubmatch(strings.Trim(value, "* "))
	if m == nil {
		return 0, false, false
	}
	n, err := strconv.ParseFloat(m[1], 64)
	return n * units[m[2]], m[2] == "/s", err == nil && n > 0
}

// readings are the measured figures of results, by section and line.
func readings(results string) map[string]string {
	out := map[string]string{}
	for _, part := range strings.Split(results, "\n## ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		for line := range strings.Lines(body) {
			cells := strings.Split(line, " | ")
			if len(cells) >= 3 && strings.HasPrefix(line, "| ") && !strings.HasPrefix(line, "| what |") {
				out[title+": "+strings.TrimPrefix(cells[0], "| ")] = cells[1]
			}
		}
	}
	return out
}

// gotWorse lists figures that are more than a tenth worse than in the results that were committed last.
func gotWorse(now string) string {
	committed, err := git("show", "HEAD:bench/RESULTS.md")
	if err != nil {
		return ""
	}
	before, today := readings(committed), readings(now)
	var b strings.Builder
	for _, what := range sortedKeys(today) {
		x, more, ok := amount(before[what])
		y, _, also := amount(today[what])
		if !ok || !also {
			continue
		}
		ratio := y / x
		if more {
			ratio = x / y
		}
		if ratio > 1.10 {
			fmt.Fprintf(&b, "- %s: %s, was %s (%.2f × as bad)\n", what, today[what], before[what], ratio)
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return worseTitle + " by more than 10 %:**\n\n" + b.String() + "\n"
}
