package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	largeCommits = 50_000
	largeFiles   = 20_000
)

// large serves a clone of a repository of 50,000 commits and 20,000 files, which
// is made once and kept beside the test programs.
func large(y *yard) error {
	from, err := largeRepo(y)
	if err != nil {
		return err
	}
	return y.run(y.dir, "git", "clone", "--quiet", "--local", from, y.repo)
}

func largeRepo(y *yard) (string, error) {
	dir := filepath.Join(tools(), "bench", fmt.Sprintf("large-%d-%d.git", largeCommits, largeFiles))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	work := dir + ".new"
	if err := errors.Join(os.RemoveAll(work), os.MkdirAll(filepath.Dir(dir), 0o755)); err != nil {
		return "", err
	}
	if err := y.run(y.dir, "git", "init", "--quiet", "--bare", "--initial-branch=main", work); err != nil {
		return "", err
	}
	cmd := exec.Command("git", "-C", work, "fast-import", "--quiet")
	cmd.Env = y.env
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", err
	}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return "", err
	}
	err = errors.Join(history(in), in.Close())
	if err = errors.Join(err, cmd.Wait()); err != nil {
		return "", fmt.Errorf("make the large repository: %w\n%s", err, said.String())
	}
	if err := y.run(y.dir, "git", "-C", work, "gc", "--quiet"); err != nil {
		return "", err
	}
	return dir, os.Rename(work, dir)
}

// history writes commits for git fast-import: the first has all files, each
// other one changes one of them.
func history(to interface{ Write([]byte) (int, error) }) error {
	w := bufio.NewWriterSize(to, 1<<20)
	path := func(i int) string { return fmt.Sprintf("d%02d/e%02d/f%05d.txt", i%40, i/40%25, i) }
	for n := range largeCommits {
		message := fmt.Sprintf("step %d", n)
		fmt.Fprintf(w, "commit refs/heads/main\nmark :%d\ncommitter B <b@example.com> %d +0000\ndata %d\n%s\n", n+1, 1_500_000_000+60*n,
			len(message), message)
		first, last := n*7919%largeFiles, n*7919%largeFiles+1
		if n == 0 {
			first, last = 0, largeFiles
		} else {
			fmt.Fprintf(w, "from :%d\n", n)
		}
		for i := first; i < last; i++ {
			text := fmt.Sprintf("file %d\nchanged in step %d\n", i, n)
			fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", path(i), len(text), text)
		}
	}
	return w.Flush()
}
