package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// everyday are the commands of which every check has to pass.
var everyday = []string{
	"new", "describe", "commit", "status", "log", "diff", "bookmark", "file", "squash", "rebase", "abandon", "undo", "op",
}

// jjBench compares the native engine with stock jj.
type jjBench struct {
	ours, stock string // called as jj
	tools, dir  string
	env         []string
	s           section
}

// nativeJJ replays jj's own command-line tests without stock jj in reach, and
// times the everyday commands beside it in repositories of three sizes.
func nativeJJ(int) (section, error) {
	b := &jjBench{s: section{
		title: "jj",
		how: "The program called as `jj`. Score: jj's own command-line tests, replayed with no stock jj on PATH. Timings: " +
			"hyperfine, stock jj 0.45.1 in the same call, " +
			"the mean of each; in the small repository 5 commits, in the middle one 1,000 files, in the big one 50,000 commits and 20,000 files " +
			"(made by git fast-import). " +
			"Each has one changed file. Memory: the highest resident size of one run.",
	}}
	if err := b.prepare(); err != nil {
		return b.s, err
	}
	if err := b.score(); err != nil {
		return b.s, err
	}
	for _, size := range []struct {
		name           string
		commits, files int
		limit          float64
	}{{"small", 5, 3, 1}, {"1,000 files", 20, 1000, 1.2}, {"50,000 commits, 20,000 files", 50_000, 20_000, 1.2}} {
		repo, err := b.repository(size.commits, size.files)
		if err != nil {
			return b.s, err
		}
		if size.limit == 1 {
			if err := b.time("start (`jj --version`)", repo, 0.5, "--version"); err != nil {
				return b.s, err
			}
		}
		for _, cmd := range []string{"log", "st", "diff"} {
			if err := b.time(fmt.Sprintf("`jj %s`, %s", cmd, size.name), repo, size.limit, cmd); err != nil {
				return b.s, err
			}
		}
		if size.commits > 1000 {
			if err := b.time("`jj log -r ::@`, all of them", repo, size.limit, "log", "-r", "::@"); err != nil {
				return b.s, err
			}
		}
		if err := b.memory("memory of `jj log`, "+size.name, repo, "log"); err != nil {
			return b.s, err
		}
	}
	return b.s, nil
}

func (b *jjBench) prepare() error {
	bin, err := build()
	if err != nil {
		return err
	}
	b.tools = os.Getenv("TANDEM_TEST_TOOLS")
	if b.tools == "" {
		b.tools = filepath.Join(os.Getenv("HOME"), ".cache", "tandem-test")
	}
	b.stock = filepath.Join(b.tools, "jj-0.45.1", "bin", "jj")
	if _, err := os.Stat(b.stock); err != nil {
		return errors.New("stock jj is missing: run make test-tools")
	}
	if _, err := exec.LookPath("hyperfine"); err != nil {
		return errors.New("hyperfine is missing: run make test-tools")
	}
	if b.dir, err = scratch("tj"); err != nil {
		return err
	}
	b.ours = filepath.Join(b.dir, "bin", "jj")
	if err := errors.Join(os.Mkdir(filepath.Dir(b.ours), 0o755), os.Symlink(bin, b.ours)); err != nil {
		return err
	}
	b.env = []string{"HOME=" + b.dir, "PATH=" + withoutJJ(os.Getenv("PATH")), "JJ_USER=B", "JJ_EMAIL=b@example.com"}
	return nil
}

// withoutJJ is a search path on which there is no jj.
func withoutJJ(path string) string {
	var out []string
	for _, dir := range filepath.SplitList(path) {
		if _, err := os.Stat(filepath.Join(dir, "jj")); err != nil {
			out = append(out, dir)
		}
	}
	return strings.Join(out, string(os.PathListSeparator))
}

// score replays the tests that came with the task. They are not part of the
// project: TANDEM_JJ_CONFORMANCE says where they are.
func (b *jjBench) score() error {
	dir := os.Getenv("TANDEM_JJ_CONFORMANCE")
	if dir == "" {
		dir = filepath.Join("..", "shared", "conformance", "jj")
	}
	replay := filepath.Join(dir, "replay.py")
	if _, err := os.Stat(replay); err != nil {
		b.s.figures = append(b.s.figures, figure{what: "jj's own tests",
			value: "not measured: set TANDEM_JJ_CONFORMANCE to the folder of replay.py"})
		return nil
	}
	cmd := exec.Command("python3", replay, b.ours, filepath.Join(dir, "open.jsonl"), "-j", strconv.Itoa(runtime.NumCPU()+1))
	cmd.Env, cmd.Stderr = b.env, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	count := func(line, key string) int {
		m := regexp.MustCompile(`'` + key + `': (\d+)`).FindStringSubmatch(line)
		if m == nil {
			return 0
		}
		n, _ := strconv.Atoi(m[1])
		return n
	}
	ok, all := count(lines[0], "checks_ok"), count(lines[0], "checks")
	b.s.figures = append(b.s.figures, figure{
		what: "jj's own tests", value: fmt.Sprintf("%d of %d checks (%.1f %%)", ok, all, 100*float64(ok)/float64(all)),
		compared: "stock jj: 100 %", target: "at least 60 %", met: float64(ok) >= 0.6*float64(all),
	})
	var missed []string
	passed := 0
	for _, name := range everyday {
		m := regexp.MustCompile(`'` + name + `': \{([^}]*)\}`).FindStringSubmatch(lines[len(lines)-1])
		if m == nil {
			continue
		}
		passed += count(m[1], "ok")
		if bad := count(m[1], "bad"); bad > 0 {
			missed = append(missed, fmt.Sprintf("%s: %d", name, bad))
		}
	}
	f := figure{what: "of these, of " + strings.Join(everyday, ", "), value: fmt.Sprintf("%d pass", passed), compared: "fail: none",
		target: "all", met: len(missed) == 0}
	if len(missed) > 0 {
		f.compared = "fail: " + strings.Join(missed, ", ")
	}
	b.s.figures = append(b.s.figures, f)
	return nil
}

// repository is a colocated one of so many commits and files, kept among the
// tools because the big one takes a while to make.
func (b *jjBench) repository(commits, files int) (string, error) {
	dir := filepath.Join(b.tools, "jj-bench-3", fmt.Sprintf("%d-%d", commits, files))
	if _, err := os.Stat(filepath.Join(dir, "ready")); err == nil {
		return filepath.Join(dir, "repo"), nil
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755)); err != nil {
		return "", err
	}
	repo := filepath.Join(dir, "repo")
	if err := b.run(dir, "git", "init", "-q", "-b", "main", repo); err != nil {
		return "", err
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stderr = repo, b.env, jjHistory(commits, files), os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git fast-import: %w", err)
	}
	for _, step := range [][]string{{"git", "checkout", "-q", "-b", "main", "--no-track", "origin/main"},
		{b.stock, "git", "init", "--colocate"}} {
		if err := b.run(repo, step...); err != nil {
			return "", err
		}
	}
	if err := os.WriteFile(filepath.Join(repo, filePath(1)), []byte("changed\n"), 0o644); err != nil {
		return "", err
	}
	if err := b.run(repo, b.stock, "st"); err != nil {
		return "", err
	}
	return repo, os.WriteFile(filepath.Join(dir, "ready"), nil, 0o644)
}

func filePath(i int) string { return fmt.Sprintf("d%03d/e%d/f%05d.txt", i%200, i/200%5, i) }

// jjHistory is a stream for git fast-import: all files at first, then one
// changed by each commit.
func jjHistory(commits, files int) *strings.Reader {
	var s strings.Builder
	blob := func(text string) { fmt.Fprintf(&s, "data %d\n%s\n", len(text), text) }
	for c := range commits {
		fmt.Fprintf(&s, "commit refs/remotes/origin/main\ncommitter B <b@example.com> %d +0000\n", 1_600_000_000+60*c)
		blob(fmt.Sprintf("commit %d\n", c))
		first, last := c%files, c%files+1
		if c == 0 {
			first, last = 0, files
		}
		for i := first; i < last; i++ {
			fmt.Fprintf(&s, "M 100644 inline %s\n", filePath(i))
			blob(fmt.Sprintf("file %d\nas of commit %d\nand a third line\n", i, c))
		}
	}
	return strings.NewReader(s.String())
}

func (b *jjBench) run(dir string, words ...string) error {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir, cmd.Env = dir, b.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(words, " "), err, out)
	}
	return nil
}

// time runs a command with both programs in turn.
func (b *jjBench) time(what, repo string, limit float64, args ...string) error {
	out := filepath.Join(b.dir, "times.json")
	line := strings.Join(args, " ")
	cmd := exec.Command("hyperfine", "-N", "--warmup", "2", "--min-runs", "5", "--max-runs", "40", "--export-json", out, b.ours+" "+line,
		b.stock+" "+line)
	cmd.Dir, cmd.Env = repo, b.env
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("hyperfine: %w\n%s", err, said)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	var r struct {
		Results []struct{ Mean float64 }
	}
	if err := json.Unmarshal(data, &r); err != nil || len(r.Results) != 2 {
		return fmt.Errorf("hyperfine wrote %d results: %w", len(r.Results), err)
	}
	ours, stock := r.Results[0].Mean, r.Results[1].Mean
	b.s.figures = append(b.s.figures, figure{
		what: what, value: fmt.Sprintf("%.1f ms", 1000*ours), compared: fmt.Sprintf("stock jj %.1f ms: %.2f ×", 1000*stock, ours/stock),
		target: fmt.Sprintf("≤ %.1f ×", limit), met: ours <= limit*stock,
	})
	return nil
}
