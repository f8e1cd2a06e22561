package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const bigBytes = 1 << 30

// bigFile measures a file of 1 GB on its way from one workspace to another.
func bigFile(int) (section, error) {
	s := section{title: "A file of 1 GB", how: "Bytes of chance, in an empty repository. A commit with its push to the server, and a fetch " +
		"with its checkout in another workspace; beside them git (add, commit and push; clone) through git daemon and stock jj (commit) alone. " +
		"Memory is the highest resident size of the command above that of `tandem log`, and of the server above its own before."}
	y, err := newYard(func(y *yard) error { return y.run(y.dir, y.jj, "git", "init", "--colocate", y.repo) })
	if err != nil {
		return s, err
	}
	defer y.stop()
	var dirs [2]string
	for i, name := range []string{"one", "two"} {
		if dirs[i], err = y.workspace(name, y.addr); err != nil {
			return s, err
		}
	}
	idle, _, err := y.watched(dirs[0], y.tandem, "log", "--ignore-working-copy")
	if err != nil {
		return s, err
	}
	before := residentNow(y.server.Process.Pid)
	if err := bigBytesTo(filepath.Join(dirs[0], "big")); err != nil {
		return s, err
	}
	const all = "--config=snapshot.max-new-file-size=0"
	up, upTook, err := y.watched(dirs[0], y.tandem, "commit", "-m", "big", all)
	if err != nil {
		return s, err
	}
	down, downTook, err := y.watched(dirs[1], y.tandem, "new", `description("big*")`)
	if err != nil {
		return s, err
	}
	server := highWater(y.server.Process.Pid) - before
	g, err := y.gitLane()
	if err != nil {
		return s, err
	}
	defer g.stop()
	if err := os.Link(filepath.Join(dirs[0], "big"), filepath.Join(g.dir, "big")); err != nil {
		return s, err
	}
	_, gitUp, err := y.watched(g.dir, "sh", "-ec", "git add -A; git commit -qm big; git push -q")
	if err != nil {
		return s, err
	}
	_, gitDown, err := y.watched(y.dir, "git", "clone", "-q", "git://"+g.relay.addr()+"/bare.git", filepath.Join(y.dir, "cloned"))
	if err != nil {
		return s, err
	}
	jj := filepath.Join(y.dir, "plain")
	if err := y.run(y.dir, y.jj, "git", "init", jj); err != nil {
		return s, err
	}
	if err := os.Link(filepath.Join(dirs[0], "big"), filepath.Join(jj, "big")); err != nil {
		return s, err
	}
	stock, stockTook, err := y.watched(jj, y.jj, "commit", "-m", "big", all)
	if err != nil {
		return s, err
	}
	megabytes := func(kib int64) string { return fmt.Sprintf("%d MB", kib>>10) }
	s.figures = append(s.figures,
		figure{what: "commit and push", value: span(upTook),
			compared: fmt.Sprintf("%s git; %s stock jj, commit alone", span(gitUp), span(stockTook))},
		figure{what: "fetch and checkout", value: span(downTook), compared: span(gitDown) + " git clone"},
		figure{what: "memory of commit and push, above idle", value: megabytes(up - idle),
			compared: megabytes(stock) + " stock jj, commit alone, in all", target: "≤ 64 MB", met: up-idle <= 64<<10},
		figure{what: "memory of fetch and checkout, above idle", value: megabytes(down - idle), target: "≤ 64 MB", met: down-idle <= 64<<10},
		figure{what: "memory of the server, above idle", value: megabytes(server), target: "≤ 64 MB", met: server <= 64<<10})
	return s, nil
}

func bigBytesTo(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var seed [32]byte
	_, err = io.Copy(f, io.LimitReader(rand.NewChaCha8(seed), bigBytes))
	return err
}

// watched runs a command, and says how many KiB it had at most and how long it took.
func (y *yard) watched(dir string, line ...string) (peak int64, took time.Duration, err error) {
	var said bytes.Buffer
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, y.env, &said, &said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		peak = max(peak, highWater(cmd.Process.Pid))
		select {
		case err := <-ended:
			if err != nil {
				err = fmt.Errorf("%s: %w\n%s", strings.Join(line, " "), err, said.String())
			}
			return peak, time.Since(began), err
		case <-time.After(time.Millisecond):
		}
	}
}
