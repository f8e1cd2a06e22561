package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// crowds lets many agents commit at once, ours and the seed's.
func crowds(int) (section, error) {
	s := section{title: "Agents at once", how: "All agents in workspaces of their own on this machine, each a new file and a commit again " +
		"and again; a repository of 1,000 files. The seed's agents work for 30 s with its server as published and for 30 s with NODELAY " +
		"forced; the commits they finished are counted."}
	y, err := newYard(thousand)
	if err != nil {
		return s, err
	}
	defer y.stop()
	five, rate, clean, err := y.crowd(5, 10)
	if err != nil {
		return s, err
	}
	fifty, quick, whole, err := y.crowd(50, 20)
	if err != nil {
		return s, err
	}
	published, words, err := seedCrowds(y)
	if err != nil {
		return s, err
	}
	five.compared = strings.Join(words, "; ")
	five.target, five.met = "50 × the seed as published, none failed", rate >= 50*published && clean
	fifty.target, fifty.met = "> 30 commits/s on two cores, nothing lost, no divergence, none failed", quick > 30 && whole
	s.figures = []figure{five, fifty}
	return s, nil
}

// seedCrowds lets five of the seed's agents work, and tells how many commits a
// second they made with its server as published.
func seedCrowds(y *yard) (published float64, words []string, err error) {
	repo := filepath.Join(y.dir, "seedrepo")
	if err := y.run(y.dir, "cp", "-a", y.repo, repo); err != nil {
		return 0, nil, err
	}
	old, err := newSeed(y, repo)
	if err != nil {
		return 0, nil, err
	}
	for _, way := range []struct {
		atOnce bool
		name   string
	}{{true, "with NODELAY"}, {false, "as published"}} {
		// Workspaces are made through the quick server: with the other it takes
		// minutes. Each run has fresh ones, which nobody has left stale.
		if err := old.start(true); err != nil {
			return 0, nil, err
		}
		dirs, err := old.workspaces(5, strings.ReplaceAll(way.name, " ", "-"))
		if err = errors.Join(err, old.stop()); err != nil {
			return 0, nil, err
		}
		if err := old.start(way.atOnce); err != nil {
			return 0, nil, err
		}
		var failed int64
		published, failed = old.crowd(dirs, 30*time.Second)
		if err := old.stop(); err != nil {
			return 0, nil, err
		}
		words = append(words, fmt.Sprintf("%.2f commits/s, %d commands failed: the seed %s", published, failed, way.name))
	}
	return published, words, nil
}

// crowd lets agents commit all at once, and looks at the end whether everything
// is there.
func (y *yard) crowd(agents, commits int) (f figure, rate float64, clean bool, err error) {
	var dirs []string
	for i := range agents {
		dir, err := y.workspace(fmt.Sprintf("c%d-%d", agents, i), y.addr)
		if err != nil {
			return f, 0, false, err
		}
		dirs = append(dirs, dir)
	}
	began := time.Now()
	failed := make(chan error, agents*commits)
	var wg sync.WaitGroup
	for a, dir := range dirs {
		wg.Go(func() {
			for n := range commits {
				err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("own-%d-%d-%d", agents, a, n)), []byte(fmt.Sprintln(a, n)), 0o644)
				if err = errors.Join(err, y.run(dir, y.tandem, "commit", "-m",
					fmt.Sprintf("crowd of %d: agent %d step %d", agents, a, n))); err != nil {
					failed <- err
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	close(failed)
	lost, divergent, err := y.count(agents, commits)
	if err != nil {
		return f, 0, false, err
	}
	rate = float64(agents*commits) / took.Seconds()
	f = figure{what: fmt.Sprintf("%d agents × %d commits", agents, commits),
		value: fmt.Sprintf("%.1f s, %.1f commits/s, %d commands failed, %d commits lost, %d divergent", took.Seconds(), rate, len(failed), lost,
			divergent)}
	return f, rate, len(failed) == 0 && lost == 0 && divergent == 0, nil
}

// count asks stock jj in the served folder what is there.
func (y *yard) count(agents, commits int) (lost, divergent int, err error) {
	cmd := exec.Command(y.jj, "--ignore-working-copy", "log", "--no-graph", "-r", "all()", "-T",
		`if(divergent, "divergent ") ++ description.first_line() ++ "\n"`)
	cmd.Dir, cmd.Env = y.repo, y.env
	out, err := cmd.Output()
	if err != nil {
		return 0, 0, fmt.Errorf("jj log: %w", err)
	}
	seen := map[string]bool{}
	for line := range bytes.Lines(out) {
		text := strings.TrimSpace(string(line))
		if rest, ok := strings.CutPrefix(text, "divergent "); ok {
			divergent++
			text = rest
		}
		if strings.HasPrefix(text, fmt.Sprintf("crowd of %d: ", agents)) {
			seen[text] = true
		}
	}
	return agents*commits - len(seen), divergent, nil
}
