package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

//go:embed preload/nodelay.c
var nodelaySource []byte

const seedVersion = "0.3.3"

// seed is the published program that workspaces replace: crate jj-tandem, one
// server with and one without its sockets' delay taken away, over one
// repository.
type seed struct {
	y       *yard
	bin     string
	repo    string
	preload string
	addr    string
	server  *exec.Cmd
}

func newSeed(y *yard, repo string) (*seed, error) {
	s := &seed{y: y, repo: repo, bin: filepath.Join(tools(), "jj-tandem-"+seedVersion, "bin", "tandem")}
	if _, err := os.Stat(s.bin); err != nil {
		return nil, fmt.Errorf("the seed's program is missing: run scripts/tools-seed")
	}
	source := filepath.Join(y.dir, "nodelay.c")
	s.preload = filepath.Join(y.dir, "nodelay.so")
	if err := os.WriteFile(source, nodelaySource, 0o644); err != nil {
		return nil, err
	}
	return s, y.run(y.dir, "cc", "-shared", "-fPIC", "-o", s.preload, source, "-ldl")
}

// start serves the repository; without delay the sockets are told to send at
// once.
func (s *seed) start(atOnce bool) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	s.addr = fmt.Sprintf("127.0.0.1:%d", port)
	s.server = exec.Command(s.bin, "serve", "--listen", s.addr, "--repo", s.repo, "--log-level", "error", "--control-socket",
		filepath.Join(s.y.dir, "seed.sock"))
	s.server.Env = s.y.env
	if atOnce {
		s.server.Env = append(s.server.Env, "LD_PRELOAD="+s.preload)
	}
	if err := s.server.Start(); err != nil {
		return err
	}
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", s.addr); err == nil {
			return c.Close()
		}
	}
	return errors.Join(errors.New("the seed's server does not listen after 20 s"), s.stop())
}

func (s *seed) stop() error {
	if s.server == nil {
		return nil
	}
	err := s.server.Process.Kill()
	s.server.Wait() // it was killed
	s.server = nil
	return err
}

// run runs the seed's client against an address, for at most some time.
func (s *seed) run(limit time.Duration, dir, addr string, args ...string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, s.bin, args...)
	cmd.Dir, cmd.Env = dir, append(s.y.env, "TANDEM_SERVER="+addr)
	cmd.WaitDelay = time.Second
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if ctx.Err() != nil {
		return took, errTooLong
	}
	if err != nil {
		err = fmt.Errorf("%v: %w\n%s", args, err, out)
	}
	return took, err
}

var errTooLong = errors.New("not finished")

// text is what a run of the seed's came to.
func text(took time.Duration, err error) string {
	switch {
	case errors.Is(err, errTooLong):
		return fmt.Sprintf("> %.0f s (stopped)", took.Seconds())
	case err != nil:
		return "failed"
	}
	return span(took)
}

// workspaces makes workspaces of the seed's.
func (s *seed) workspaces(n int, tag string) (dirs []string, err error) {
	for i := range n {
		dir := filepath.Join(s.y.dir, fmt.Sprintf("seed-%s-%d", tag, i))
		if _, err := s.run(time.Minute, s.y.dir, s.addr, "init", "--server", s.addr, "--workspace", fmt.Sprintf("%s-%d", tag, i),
			dir); err != nil {
			return nil, fmt.Errorf("the seed makes a workspace: %w", err)
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// crowd lets the seed's agents commit for a while and counts what they
// finished.
func (s *seed) crowd(dirs []string, length time.Duration) (rate float64, failed int64) {
	var done, bad atomic.Int64
	began := time.Now()
	var wg sync.WaitGroup
	for a, dir := range dirs {
		wg.Go(func() {
			for n := 0; time.Since(began) < length; n++ {
				if os.WriteFile(filepath.Join(dir, fmt.Sprintf("own-%d-%d", a, n)), []byte(fmt.Sprintln(a, n)), 0o644) != nil {
					return
				}
				switch _, err := s.run(length, dir, s.addr, "commit", "-m", fmt.Sprintf("agent %d step %d", a, n)); {
				case errors.Is(err, errTooLong):
				case err != nil:
					bad.Add(1)
				default:
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / time.Since(began).Seconds(), bad.Load()
}
