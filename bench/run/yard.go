package main

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// yard is one machine of agents and one server, with stock jj beside them.
type yard struct {
	tandem, jj string
	dir        string
	env        []string
	repo       string
	addr       string
	server     *exec.Cmd
	relay      *relay
}

// tools is where make test-tools and scripts/tools-seed put programs.
func tools() string {
	if dir := os.Getenv("TANDEM_TEST_TOOLS"); dir != "" {
		return dir
	}
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		cache = filepath.Join(os.Getenv("HOME"), ".cache")
	}
	return filepath.Join(cache, "tandem-test")
}

// newYard makes a place for a measurement; make fills the served repository's
// folder.
func newYard(make func(y *yard) error) (y *yard, err error) {
	bin, err := build()
	if err != nil {
		return nil, err
	}
	y = &yard{tandem: bin, jj: filepath.Join(tools(), "jj-0.45.1", "bin", "jj")}
	if _, err := os.Stat(y.jj); err != nil {
		return nil, fmt.Errorf("stock jj is missing: run make test-tools")
	}
	if y.dir, err = scratch("tw"); err != nil {
		return nil, err
	}
	y.env = []string{"HOME=" + y.dir, "PATH=" + os.Getenv("PATH"), "TANDEM_API_TOKEN=" + benchToken, "JJ_USER=B", "JJ_EMAIL=b@example.com",
		"TANDEM_DATA=" + filepath.Join(y.dir, "agents"), "GIT_AUTHOR_NAME=B", "GIT_AUTHOR_EMAIL=b@example.com", "GIT_COMMITTER_NAME=B",
		"GIT_COMMITTER_EMAIL=b@example.com"}
	y.repo = filepath.Join(y.dir, "project")
	if err := make(y); err != nil {
		return nil, err
	}
	if err := y.serve(); err != nil {
		return nil, err
	}
	if y.relay, err = startRelay(y.addr, 0); err != nil {
		return nil, errors.Join(err, y.stop())
	}
	return y, nil
}

// thousand makes a repository of a thousand files.
func thousand(y *yard) error {
	if err := y.run(y.dir, y.jj, "git", "init", "--colocate", y.repo); err != nil {
		return err
	}
	for i := range 1000 {
		path := filepath.Join(y.repo, fmt.Sprintf("d%02d", i%20), fmt.Sprintf("f%04d.txt", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path, bytes.Repeat([]byte(fmt.Sprintln(i)), 100), 0o644)); err != nil {
			return err
		}
	}
	if err := y.run(y.repo, y.jj, "commit", "-m", "a thousand files"); err != nil {
		return err
	}
	return y.run(y.repo, y.jj, "bookmark", "create", "main", "-r", "@-")
}

func (y *yard) serve() error {
	port, err := freePort()
	if err != nil {
		return err
	}
	y.addr = fmt.Sprintf("127.0.0.1:%d", port)
	y.server = exec.Command(y.tandem, "serve", "--data", filepath.Join(y.dir, "server"), "--listen", y.addr, "--repo", y.repo)
	y.server.Env = y.env
	if err := y.server.Start(); err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < 2*time.Minute; time.Sleep(5 * time.Millisecond) {
		if resp, err := http.Get("http://" + y.addr + "/global/health"); err == nil {
			resp.Body.Close()
			return nil
		}
	}
	return errors.Join(errors.New("the server is not healthy after two minutes"), y.stop())
}

func (y *yard) stop() error {
	down := y.run(y.dir, y.tandem, "down")
	if y.relay != nil {
		y.relay.l.Close()
	}
	err := y.server.Process.Signal(syscall.SIGTERM)
	return errors.Join(down, err, y.server.Wait())
}

func (y *yard) run(dir string, line ...string) error {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env = dir, y.env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(line, " "), err, out)
	}
	return nil
}

func (y *yard) workspace(name, addr string) (string, error) {
	dir := filepath.Join(y.dir, name)
	return dir, y.run(y.dir, y.tandem, "init", "--tandem-server", addr, "--workspace", name, dir)
}

// median is the middle of several runs; before prepares each.
func median(n int, before func(i int) error, run func() error) (time.Duration, error) {
	var took []time.Duration
	for i := range n {
		if err := before(i); err != nil {
			return 0, err
		}
		began := time.Now()
		if err := run(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[n/2], nil
}

func span(d time.Duration) string {
	if d > 10*time.Second {
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f ms", float64(d.Microseconds())/1000)
}

// files writes 32 new ones into a folder.
func files(dir, tag string) func(int) error {
	return func(i int) error {
		for f := range 32 {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("new-%s-%d-%d", tag, i, f)), []byte(fmt.Sprintln(tag, i, f)), 0o644); err != nil {
				return err
			}
		}
		return nil
	}
}
