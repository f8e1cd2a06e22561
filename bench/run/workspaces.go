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
	"sync"
	"time"
)

// yard is one machine of agents and one server, with stock jj beside them.
type yard struct {
	tandem, jj string
	dir        string
	env        []string
	addr       string
	server     *exec.Cmd
}

const benchFiles = 1000

// newYard serves a repository of a thousand files.
func newYard() (*yard, error) {
	bin, err := build()
	if err != nil {
		return nil, err
	}
	tools := os.Getenv("TANDEM_TEST_TOOLS")
	if tools == "" {
		tools = filepath.Join(os.Getenv("HOME"), ".cache", "tandem-test")
	}
	y := &yard{tandem: bin, jj: filepath.Join(tools, "jj-0.45.1", "bin", "jj")}
	if _, err := os.Stat(y.jj); err != nil {
		return nil, fmt.Errorf("stock jj is missing: run make test-tools")
	}
	if y.dir, err = os.MkdirTemp("", "tw"); err != nil {
		return nil, err
	}
	y.env = []string{"HOME=" + y.dir, "PATH=" + os.Getenv("PATH"), "TANDEM_API_TOKEN=" + benchToken, "JJ_USER=B", "JJ_EMAIL=b@example.com",
		"TANDEM_DATA=" + filepath.Join(y.dir, "agents")}
	repo := filepath.Join(y.dir, "project")
	if err := y.run(y.dir, y.jj, "git", "init", "--colocate", repo); err != nil {
		return nil, err
	}
	for i := range benchFiles {
		path := filepath.Join(repo, fmt.Sprintf("d%02d", i%20), fmt.Sprintf("f%04d.txt", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, bytes.Repeat([]byte(fmt.Sprintln(i)), 100), 0o644)); err != nil {
			return nil, err
		}
	}
	if err := y.run(repo, y.jj, "commit", "-m", "a thousand files"); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	y.addr = fmt.Sprintf("127.0.0.1:%d", port)
	y.server = exec.Command(bin, "serve", "--data", filepath.Join(y.dir, "server"), "--listen", y.addr, "--repo", repo)
	y.server.Env = y.env
	if err := y.server.Start(); err != nil {
		return nil, err
	}
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(5 * time.Millisecond) {
		if resp, err := http.Get("http://" + y.addr + "/global/health"); err == nil {
			resp.Body.Close()
			return y, nil
		}
	}
	return nil, errors.Join(errors.New("the server is not healthy after 20 s"), y.stop())
}

func (y *yard) stop() error {
	down := y.run(y.dir, y.tandem, "down")
	err := y.server.Process.Signal(os.Interrupt)
	return errors.Join(down, err, y.server.Wait(), os.RemoveAll(y.dir))
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

// workspaces measures jj over the network beside stock jj alone.
func workspaces(int) (section, error) {
	s := section{title: "Workspaces", how: "A repository of 1,000 files; agents and server on this machine, a relay of our own between them. Stock jj 0.45.1 works on a local clone in the same run."}
	y, err := newYard()
	if err != nil {
		return s, err
	}
	defer y.stop()
	plain := filepath.Join(y.dir, "plain")
	if err := y.run(y.dir, "git", "clone", "--quiet", filepath.Join(y.dir, "project"), plain); err != nil {
		return s, err
	}
	if err := y.run(plain, y.jj, "git", "init", "--colocate"); err != nil {
		return s, err
	}
	for _, rtt := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond} {
		if err := y.distance(&s, plain, rtt); err != nil {
			return s, err
		}
	}
	for _, c := range []struct{ agents, commits int }{{5, 10}, {50, 20}} {
		if err := y.crowd(&s, c.agents, c.commits); err != nil {
			return s, err
		}
	}
	return s, nil
}

// distance compares reading and committing at one round trip.
func (y *yard) distance(s *section, plain string, rtt time.Duration) error {
	r, err := startRelay(y.addr, rtt)
	if err != nil {
		return err
	}
	defer r.l.Close()
	dir, err := y.workspace(fmt.Sprintf("at-%d", rtt.Milliseconds()), r.addr())
	if err != nil {
		return err
	}
	time.Sleep(500*time.Millisecond + 3*rtt) // the watch begins
	const runs = 9
	nothing := func(int) error { return nil }
	files := func(dir string) func(int) error {
		return func(i int) error {
			for f := range 32 {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("new-%d-%d", i, f)), []byte(fmt.Sprintln(i, f)), 0o644); err != nil {
					return err
				}
			}
			return nil
		}
	}
	var took [4]time.Duration
	for i, m := range []struct {
		before func(int) error
		line   []string
		dir    string
	}{
		{nothing, []string{y.tandem, "log"}, dir}, {nothing, []string{y.jj, "log"}, plain},
		{files(dir), []string{y.tandem, "new"}, dir}, {files(plain), []string{y.jj, "new"}, plain},
	} {
		if took[i], err = median(runs, m.before, func() error { return y.run(m.dir, m.line...) }); err != nil {
			return err
		}
	}
	ms := func(d time.Duration) string { return fmt.Sprintf("%.0f ms", float64(d.Microseconds())/1000) }
	s.figures = append(s.figures,
		figure{what: fmt.Sprintf("log, %d ms away, watch current", rtt.Milliseconds()), value: ms(took[0]), compared: ms(took[1]) + " stock jj alone",
			target: "1.2 × stock jj", met: float64(took[0]) <= 1.2*float64(took[1])},
		figure{what: fmt.Sprintf("new with 32 files, %d ms away", rtt.Milliseconds()), value: ms(took[2]), compared: ms(took[3]) + " stock jj alone",
			target: "stock jj + one round trip + 30 ms", met: took[2] <= took[3]+rtt+30*time.Millisecond})
	return nil
}

// crowd lets agents commit all at once.
func (y *yard) crowd(s *section, agents, commits int) error {
	var dirs []string
	for i := range agents {
		dir, err := y.workspace(fmt.Sprintf("c%d-%d", agents, i), y.addr)
		if err != nil {
			return err
		}
		dirs = append(dirs, dir)
	}
	began := time.Now()
	failed := make(chan error, agents*commits)
	var wg sync.WaitGroup
	for a, dir := range dirs {
		wg.Go(func() {
			for n := range commits {
				err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("own-%d-%d", a, n)), []byte(fmt.Sprintln(a, n)), 0o644)
				if err = errors.Join(err, y.run(dir, y.tandem, "commit", "-m", fmt.Sprintf("agent %d step %d", a, n))); err != nil {
					failed <- err
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(began)
	close(failed)
	f := figure{what: fmt.Sprintf("%d agents × %d commits", agents, commits), value: fmt.Sprintf("%.1f s, %.0f commits/s, %d commands failed", took.Seconds(), float64(agents*commits)/took.Seconds(), len(failed))}
	switch agents {
	case 5:
		f.compared, f.target, f.met = "637 s, 19 failed: the seed's program, as published", "50 × the seed, none failed", took < 637*time.Second/50 && len(failed) == 0
	default:
		f.target, f.met = "30 commits/s on two idle cores, none failed", float64(agents*commits)/took.Seconds() > 30 && len(failed) == 0
	}
	s.figures = append(s.figures, f)
	return nil
}
