// Command house counts what tells how plain the code is: methods and fields of the largest types, operations that are called by a
// name in a string, packages that never run under the race detector, fixed sleeps in tests, and lines that are too wide. It reads
// source only, so it counts any commit: scripts/measure runs it on this checkout and on another commit, side by side.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// count is one line of the measure: what, how many, and where the most of it is.
type count struct {
	What  string   `json:"what"`
	N     int      `json:"n"`
	Goal  string   `json:"goal,omitempty"`
	Where []string `json:"where,omitempty"`
}

func main() {
	asJSON := flag.Bool("json", false, "print JSON")
	where := flag.Int("where", 0, "also print so many places of each")
	flag.Parse()
	root := "."
	if flag.NArg() > 0 {
		root = flag.Arg(0)
	}
	counts, err := measure(root)
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
	if *asJSON {
		if err := json.NewEncoder(os.Stdout).Encode(counts); err != nil {
			fmt.Fprintln(os.Stderr, "house:", err)
			os.Exit(1)
		}
		return
	}
	for _, c := range counts {
		fmt.Printf("%6d  %s", c.N, c.What)
		if c.Goal != "" {
			fmt.Printf(" (goal: %s)", c.Goal)
		}
		fmt.Println()
		for _, w := range c.Where[:min(*where, len(c.Where))] {
			fmt.Println("        " + w)
		}
	}
}

func measure(root string) ([]count, error) {
	s, err := read(root)
	if err != nil {
		return nil, err
	}
	out := s.largest(10)
	out = append(out,
		count{What: "operations called by a name in a string, outside tests and the wire doors", N: len(s.named), Goal: "0",
			Where: s.named},
		count{What: "fixed sleeps in tests", N: len(s.sleeps), Goal: "0", Where: s.sleeps},
		count{What: "lines over 140 columns, generated files left out", N: s.lines, Goal: "0", Where: most(s.wide)},
		count{What: "context.Background() below the daemon, outside tests", N: len(s.backgrounds), Goal: "0", Where: s.backgrounds},
	)
	seldom, whole, err := s.seldomRaced(filepath.Join(root, "scripts", "run-tests"))
	if err != nil {
		return nil, err
	}
	never := seldom
	if whole {
		out = append(out, count{What: "packages with tests that run under -race in make soak ROOM=race alone", N: len(seldom), Where: seldom})
		never = nil
	}
	out = append(out, count{What: "packages with tests that never run under -race", N: len(never), Goal: "0", Where: never})
	return append(out, journeys(filepath.Join(root, "docs", "ARCHITECTURE.md"))...), nil
}

// journeys counts the files of each journey that the map names: a heading "### Journey …" and the files in backquotes below it.
func journeys(file string) (out []count) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for _, part := range strings.Split(string(text), "\n### Journey ")[1:] {
		title, body, _ := strings.Cut(part, "\n")
		body, _, _ = strings.Cut(body, "\n## ")
		files := map[string]bool{}
		for i, word := range strings.Split(body, "`") {
			if i%2 == 1 && strings.HasSuffix(word, ".go") {
				files[word] = true
			}
		}
		out = append(out, count{What: "files of the journey " + strings.TrimSpace(title), N: len(files), Goal: "at most 12"})
	}
	return out
}
