package main

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

var askID = regexp.MustCompile(`ask_[0-9a-z]+`)

// worst is by how much a figure may be worse before it is said first.
const worst = 1.05

// outcome is a row measured on both sides, round by round.
type outcome struct {
	row          row
	ours, theirs []float64
}

func (o outcome) ratios() (all []float64) {
	for i := range o.ours {
		all = append(all, o.ours[i]/o.theirs[i])
	}
	return all
}

// agree says what every round says: faster, slower, or nothing that all say.
func (o outcome) agree() string {
	slower, faster := 0, 0
	for _, r := range o.ratios() {
		if r > 1 {
			slower++
		} else {
			faster++
		}
	}
	switch len(o.ours) {
	case slower:
		return "all slower"
	case faster:
		return "all faster"
	}
	return fmt.Sprintf("%d slower, %d faster", slower, faster)
}

func (o outcome) worse() bool {
	m, _, _ := spread(o.ratios())
	return m > worst && o.agree() == "all slower"
}

// duel measures this checkout and another commit in turns: A B, B A, A B … for so many rounds.
func duel(commit, only string, rounds int, out string) error {
	theirs, name, err := buildOf(commit)
	if err != nil {
		return err
	}
	ours, err := build()
	if err != nil {
		return err
	}
	a, err := newSide("this checkout", ours)
	if err != nil {
		return err
	}
	b, err := newSide(name, theirs)
	if err != nil {
		return errors.Join(err, a.stop())
	}
	var all []outcome
	var noise []float64
	for _, r := range rows {
		if only != "" && !slices.Contains(strings.Split(only, ","), r.name) {
			continue
		}
		o, err := interleave(r, a, b, rounds, &noise)
		if err != nil {
			return errors.Join(err, a.stop(), b.stop())
		}
		fmt.Fprintf(os.Stderr, "bench: %s is measured\n", r.name)
		all = append(all, o)
	}
	if len(all) == 0 {
		return errors.Join(fmt.Errorf("no row is called %q; there are: %s", only, rowNames()), a.stop(), b.stop())
	}
	text := duelText(all, noise, name, rounds)
	fmt.Print(text)
	return errors.Join(a.stop(), b.stop(), os.WriteFile(out, []byte(text), 0o644))
}

func rowNames() string {
	var names []string
	for _, r := range rows {
		names = append(names, r.name)
	}
	return strings.Join(names, ", ")
}

func interleave(r row, a, b *side, rounds int, noise *[]float64) (outcome, error) {
	o := outcome{row: r}
	onceA, err := r.ready(a)
	if err != nil {
		return o, fmt.Errorf("%s of %s: %w", r.name, a.name, err)
	}
	onceB, err := r.ready(b)
	if err != nil {
		return o, fmt.Errorf("%s of %s: %w", r.name, b.name, err)
	}
	for i := range rounds {
		*noise = append(*noise, fixedLoop())
		for turn := range 2 {
			if (i+turn)%2 == 0 {
				ms, err := r.round(a, onceA)
				if err != nil {
					return o, err
				}
				o.ours = append(o.ours, ms)
				continue
			}
			ms, err := r.round(b, onceB)
			if err != nil {
				return o, err
			}
			o.theirs = append(o.theirs, ms)
		}
	}
	return o, nil
}

// duelText is the table: rows that got worse come first.
func duelText(all []outcome, noise []float64, name string, rounds int) string {
	slices.SortStableFunc(all, func(x, y outcome) int {
		switch {
		case x.worse() == y.worse():
			return 0
		case x.worse():
			return -1
		}
		return 1
	})
	var b bytes.Buffer
	m, low, high := spread(noise)
	fmt.Fprintf(&b, "# %s against %s\n\nMade by `make bench AGAINST=%s ROUNDS=%d` on %s: %s. "+
		"Both programs run in turns; a round's figure is its median. "+
		"A fixed loop beside them took %.2f ms in the median, %.2f to %.2f: so much is the machine's own (%.0f %%).\n\n"+
		"| row | this checkout, ms | %s, ms | ratio | rounds say |\n|---|---|---|---|---|\n",
		revision(), name, name, rounds, time.Now().UTC().Format("2006-01-02 15:04"), machine(), m, low, high, 100*(high-low)/m, name)
	for _, o := range all {
		oursM, oursL, oursH := spread(o.ours)
		theirsM, theirsL, theirsH := spread(o.theirs)
		ratio, ratioL, ratioH := spread(o.ratios())
		mark := ""
		if o.worse() {
			mark = "**worse** "
		}
		fmt.Fprintf(&b, "| %s%s: %s | %.2f (%.2f to %.2f) | %.2f (%.2f to %.2f) | %.2f (%.2f to %.2f) | %s |\n", mark, o.row.name, o.row.what,
			oursM, oursL, oursH, theirsM, theirsL, theirsH, ratio, ratioL, ratioH, o.agree())
	}
	return b.String()
}

// fixedLoop is work that never changes: what it takes tells how quiet the machine is.
func fixedLoop() float64 {
	data := make([]byte, 1<<20)
	began := time.Now()
	for range 8 {
		sum := sha256.Sum256(data)
		copy(data, sum[:])
	}
	return float64(time.Since(began)) / 1e6
}

// spread is the median, the least and the most.
func spread(list []float64) (middle, low, high float64) {
	if len(list) == 0 {
		return 0, 0, 0
	}
	s := slices.Sorted(slices.Values(list))
	middle = s[len(s)/2]
	if len(s)%2 == 0 {
		middle = (s[len(s)/2-1] + s[len(s)/2]) / 2
	}
	return middle, s[0], s[len(s)-1]
}

// buildOf builds another commit in a worktree of its own, once, and keeps the program among the tools.
func buildOf(commit string) (path, name string, err error) {
	full, err := git("rev-parse", "--verify", "-q", commit+"^{commit}")
	if err != nil {
		return "", "", fmt.Errorf("there is no commit %s here", commit)
	}
	name = full[:12]
	dir := filepath.Join(tools(), "bench", name)
	path = filepath.Join(dir, "tandem")
	if _, err := os.Stat(path); err == nil {
		return path, name, nil
	}
	tree := filepath.Join(dir, "tree")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return "", "", err
	}
	if _, err := git("worktree", "add", "--detach", "--force", tree, full); err != nil {
		return "", "", fmt.Errorf("check out %s: %w", name, err)
	}
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w -X tandem/internal/cli.version="+name, "-o", path, "./cmd/tandem")
	cmd.Dir, cmd.Env = tree, append(os.Environ(), "CGO_ENABLED=0")
	said, err := cmd.CombinedOutput()
	_, gone := git("worktree", "remove", "--force", tree)
	if err := errors.Join(err, gone); err != nil {
		return "", "", fmt.Errorf("build %s: %w\n%s", name, err, said)
	}
	return path, name, nil
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	return strings.TrimSpace(string(out)), err
}

func revision() string {
	if r, err := git("describe", "--always", "--dirty", "--abbrev=12"); err == nil {
		return r
	}
	return "unknown"
}

// machine is where and with whose help figures were measured.
func machine() string {
	words := []string{fmt.Sprintf("%s/%s", runtime.GOOS, runtime.GOARCH), fmt.Sprintf("%d cores", runtime.NumCPU()), runtime.Version()}
	npm := filepath.Join(tools(), "npm", "node_modules", ".bin")
	for _, peer := range [][]string{{"git", "--version"}, {filepath.Join(tools(), "jj-0.45.1", "bin", "jj"), "--version"}, {"tmux", "-V"},
		{"bwrap", "--version"}, {filepath.Join(npm, "claude"), "--version"}, {filepath.Join(npm, "opencode"), "--version"}} {
		out, err := exec.Command(peer[0], peer[1:]...).Output()
		if err != nil {
			continue
		}
		name, _, _ := strings.Cut(filepath.Base(peer[0]), ".")
		line, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		words = append(words, name+" "+strings.TrimPrefix(strings.TrimPrefix(line, "git version "), name+" "))
	}
	return strings.Join(words, ", ")
}
