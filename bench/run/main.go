// Command run measures what tandem promises about speed and writes
// bench/RESULTS.md. Each figure stands beside the plain thing it is compared
// with, measured in the same run, so that a slow machine changes both.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// figure is one line of the results.
type figure struct {
	what, value, compared, target string
	met                           bool
}

type results struct {
	sections []section
}

type section struct {
	title, how string
	figures    []figure
}

func main() {
	entries := flag.Int("entries", 1_000_000, "how long the long journal is")
	out := flag.String("o", "bench/RESULTS.md", "where to write the results")
	only := flag.String("only", "", "measure only this: state, http, policy, people, program, workspaces, workspaces-large, crowd, spaces, "+
		"agents, jj, sessions, authority, bigfile, memory, automation or queue, print it, and replace its section in the results")
	bare := flag.String("bare", "", "serve the bare handler at this address and nothing else")
	relay := flag.String("relay", "", "pass WebSocket messages on at this address and nothing else")
	against := flag.String("against", "", "measure this commit's program and this checkout's in turns; -only then names rows: "+rowNames())
	rounds := flag.Int("rounds", 5, "how many turns each program has")
	redraw := flag.Bool("curves", false, "draw docs/speed.md from the history of the results, and measure nothing")
	peer := flag.String("opencode", "", "measure OpenCode's server at this path, print it as JSON, and nothing else")
	flag.Parse()
	if *relay != "" {
		fmt.Fprintln(os.Stderr, "bench:", serveRelay(*relay))
		os.Exit(1)
	}
	if *peer != "" {
		if err := insideOpenCode(*peer); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if *bare != "" {
		fmt.Fprintln(os.Stderr, "bench:", serveBare(*bare))
		os.Exit(1)
	}
	if *against != "" || *redraw {
		err := instead(*against, *only, *rounds, *out)
		if err := errors.Join(err, removeScratches()); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	var r results
	failed := false
	for _, m := range []struct {
		name    string
		measure func(int) (section, error)
	}{{"state", stateOperations}, {"http", httpOperations}, {"policy", policyDecisions}, {"people", people}, {"program", theProgram},
		{"sessions", sessions},
		{"authority", authority}, {"agents", realAgents}, {"jj", nativeJJ}, {"workspaces", workspaces}, {"crowd", crowds}, {"spaces", spaces},
		{"workspaces-large", largeWorkspaces}, {"bigfile", bigFile}, {"memory", finding}, {"automation", steps},
		{"queue", merging}} {
		if *only != "" && *only != m.name {
			continue
		}
		s, err := m.measure(*entries)
		if err != nil { // what was measured before and comes after still counts
			fmt.Fprintln(os.Stderr, "bench:", m.name+":", err)
			s.how, failed = s.how+"\n\n**This measurement broke off.**", true
		}
		r.sections = append(r.sections, s)
		fmt.Fprintln(os.Stderr, "bench:", m.name, "is measured")
		text := r.text(*entries)
		if *only != "" { // the others stay as they were measured
			old, err := os.ReadFile(*out)
			if err != nil {
				continue
			}
			text = replace(old, s)
		}
		text = worseFirst(text)
		if err := os.WriteFile(*out, text, 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
	}
	if err := errors.Join(tell(r, *out), removeScratches()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		failed = true
	}
	if failed {
		os.Exit(1)
	}
}

// instead runs what is not a measurement of this checkout alone: a comparison with another commit, or the pictures.
func instead(against, only string, rounds int, out string) error {
	if against != "" {
		return duel(against, only, rounds, filepath.Join(filepath.Dir(out), "AGAINST.md"))
	}
	now, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	return curves(string(now))
}

// tell prints what was measured, what got worse before everything else, and draws the curves.
func tell(r results, out string) error {
	now, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	fmt.Print(gotWorse(string(now)))
	for _, s := range r.sections {
		fmt.Print(s.text())
	}
	return curves(string(now))
}

const worseTitle = "**Worse than the last committed run"

// worseFirst puts what got worse before the first section, in place of what stood there.
func worseFirst(results []byte) []byte {
	head, rest, ok := strings.Cut(string(results), "\n\n## ")
	if !ok {
		return results
	}
	head, _, _ = strings.Cut(head, "\n\n"+worseTitle)
	if worse := strings.TrimSpace(gotWorse(string(results))); worse != "" {
		head += "\n\n" + worse
	}
	return []byte(head + "\n\n## " + rest)
}

// replace puts a section where the results have the one of the same title, or
// at their end.
func replace(results []byte, s section) []byte {
	parts := strings.SplitAfter(string(results), "\n\n## ")
	for i, p := range parts[1:] {
		if strings.HasPrefix(p, s.title+"\n") {
			parts[i+1] = strings.TrimPrefix(s.text(), "## ")
			if i+1 < len(parts)-1 {
				parts[i+1] += "## "
			}
			return []byte(strings.Join(parts, ""))
		}
	}
	return append(results, s.text()...)
}

func (s section) text() string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s\n%s\n\n| what | measured | compared with | target | met |\n|---|---|---|---|---|\n", s.title, s.how)
	for _, f := range s.figures {
		met := "yes"
		switch {
		case f.target == "":
			met = ""
		case !f.met:
			met = "**no**"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", f.what, f.value, f.compared, f.target, met)
	}
	b.WriteString("\n")
	return b.String()
}

func (r results) text(entries int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Measurements\n\nMade by `make bench` on %s at %s: %s, a journal of up to %d entries. Do not edit.\n\n",
		time.Now().UTC().Format("2006-01-02"), revision(), machine(), entries)
	for _, s := range r.sections {
		b.WriteString(s.text())
	}
	return b.Bytes()
}

// rate runs fn from some callers at once for a while and returns how often a
// second it finished.
func rate(callers int, length time.Duration, fn func(caller, n int) error) (float64, error) {
	type end struct {
		n   int
		err error
	}
	ends := make(chan end, callers)
	began := time.Now()
	for c := range callers {
		go func() {
			n := 0
			for time.Since(began) < length {
				if err := fn(c, n); err != nil {
					ends <- end{n, err}
					return
				}
				n++
			}
			ends <- end{n, nil}
		}()
	}
	total := 0
	var failed error
	for range callers {
		e := <-ends
		total += e.n
		if e.err != nil {
			failed = e.err
		}
	}
	return float64(total) / time.Since(began).Seconds(), failed
}

// compare measures two things in turns, so that whatever disturbs the machine
// disturbs both, and returns the best rate of each.
func compare(callers int, one, other func(caller, n int) error) (a, b float64, err error) {
	for range 6 {
		for _, side := range []struct {
			top *float64
			fn  func(caller, n int) error
		}{{&a, one}, {&b, other}} {
			r, err := rate(callers, sample, side.fn)
			if err != nil {
				return 0, 0, err
			}
			*side.top = max(*side.top, r)
		}
	}
	return a, b, nil
}

func perSecond(r float64) string { return fmt.Sprintf("%.0f/s", r) }
func percent(r float64) string   { return fmt.Sprintf("%.0f %%", 100*r) }
