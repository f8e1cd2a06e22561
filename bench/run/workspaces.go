package main

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"time"
)

// workspaces measures jj over the network on a thousand files.
func workspaces(int) (section, error) {
	return distances(section{title: "Workspaces: 1,000 files",
		how: "Agents and server on this machine, a relay of our own between them, the same for every contestant; medians. " +
			"Stock jj 0.45.1 works on a local clone; git commits and pushes through git daemon; the seed is the crate jj-tandem 0.3.3, " +
			"as published and with TCP_NODELAY forced on its server's sockets (bench/run/preload)."},
		thousand, 9, 40*time.Second)
}

// largeWorkspaces measures the same on a long history.
func largeWorkspaces(int) (section, error) {
	return distances(section{title: "Workspaces: 50,000 commits, 20,000 files",
		how: "As above. The seed's client is stopped when it has not made a workspace after 20 s."},
		large, 5, 20*time.Second)
}

// lane is a contestant on its own copy.
type lane struct {
	dir      string
	log, new []string
}

func distances(s section, fill func(*yard) error, runs int, patience time.Duration) (section, error) {
	y, err := newYard(fill)
	if err != nil {
		return s, err
	}
	defer y.stop()
	plain := lane{filepath.Join(y.dir, "plain"), []string{y.jj, "log"}, []string{y.jj, "new"}}
	if err := y.run(y.dir, "git", "clone", "--quiet", y.repo, plain.dir); err != nil {
		return s, err
	}
	if err := y.run(plain.dir, y.jj, "git", "init", "--colocate"); err != nil {
		return s, err
	}
	git, err := y.gitLane()
	if err != nil {
		return s, err
	}
	defer git.stop()
	old, err := y.seedLanes(patience)
	if err != nil {
		return s, err
	}
	defer old.stop()
	began := time.Now()
	ours := lane{log: []string{y.tandem, "log"}, new: []string{y.tandem, "new"}}
	if ours.dir, err = y.workspace("far", y.relay.addr()); err != nil {
		return s, err
	}
	s.figures = append(s.figures, figure{what: "a workspace from nothing (init), 0 ms away", value: span(time.Since(began)),
		compared: old.initText + " the seed with NODELAY"})
	for _, rtt := range []time.Duration{0, 20 * time.Millisecond, 100 * time.Millisecond} {
		y.relay.distance(rtt)
		git.relay.distance(rtt)
		if err := y.distance(&s, rtt, runs, ours, plain, git, old); err != nil {
			return s, err
		}
	}
	y.relay.distance(0)
	f, err := y.watching(ours.dir)
	s.figures = append(s.figures, f)
	return s, err
}

// distance compares reading and committing at one round trip. Contestants take
// turns, so that whatever disturbs the machine disturbs all of them.
func (y *yard) distance(s *section, rtt time.Duration, runs int, ours, plain lane, git *gitLane, old *seedLanes) error {
	if err := y.run(ours.dir, y.tandem, "log"); err != nil { // the watch begins, and hears
		return err
	}
	time.Sleep(500*time.Millisecond + 3*rtt)
	nothing := func(int) error { return nil }
	tag := rtt.String()
	var t [5]time.Duration
	for i, m := range []struct {
		before func(int) error
		line   []string
		dir    string
	}{
		{nothing, ours.log, ours.dir}, {nothing, plain.log, plain.dir},
		{files(ours.dir, tag), ours.new, ours.dir}, {files(plain.dir, tag), plain.new, plain.dir},
		{files(git.dir, tag), []string{"sh", "-ec", "git add -A; git commit -qm step; git push -q"}, git.dir},
	} {
		var err error
		if t[i], err = median(runs, m.before, func() error { return y.run(m.dir, m.line...) }); err != nil {
			return err
		}
	}
	pull, err := median(runs, nothing, func() error { return y.run(git.dir, "git", "pull", "-q") })
	if err != nil {
		return err
	}
	seedLog, seedNew, err := old.measure(rtt)
	if err != nil {
		return err
	}
	away := rtt.Milliseconds()
	s.figures = append(s.figures,
		figure{what: fmt.Sprintf("log, %d ms away, watch current", away), value: span(t[0]),
			compared: fmt.Sprintf("%s stock jj alone; %s; %s git pull", span(t[1]), seedLog, span(pull)),
			target:   "1.2 × stock jj", met: float64(t[0]) <= 1.2*float64(t[1])},
		figure{what: fmt.Sprintf("new with 32 files, %d ms away", away), value: span(t[2]),
			compared: fmt.Sprintf("%s stock jj alone; %s; %s git commit and push", span(t[3]), seedNew, span(t[4])),
			target:   "stock jj + one round trip + 30 ms", met: t[2] <= t[3]+rtt+30*time.Millisecond})
	return nil
}

// gitLane is git with a remote behind git daemon and a relay.
type gitLane struct {
	dir    string
	daemon *exec.Cmd
	relay  *relay
}

func (y *yard) gitLane() (*gitLane, error) {
	g := &gitLane{dir: filepath.Join(y.dir, "git")}
	bare := filepath.Join(y.dir, "bare.git")
	if err := y.run(y.dir, "git", "clone", "--quiet", "--bare", y.repo, bare); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	g.daemon = exec.Command("git", "daemon", "--export-all", "--enable=receive-pack", "--listen=127.0.0.1", fmt.Sprintf("--port=%d", port),
		"--base-path="+y.dir, y.dir)
	g.daemon.Env = y.env
	if err := g.daemon.Start(); err != nil {
		return nil, err
	}
	to := fmt.Sprintf("127.0.0.1:%d", port)
	for range 200 {
		if c, err := net.Dial("tcp", to); err == nil {
			c.Close()
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if g.relay, err = startRelay(to, 0); err != nil {
		return nil, err
	}
	if err := y.run(y.dir, "git", "clone", "--quiet", "git://"+g.relay.addr()+"/bare.git", g.dir); err != nil {
		g.stop()
		return nil, err
	}
	return g, y.run(g.dir, "git", "config", "push.default", "current")
}

func (g *gitLane) stop() {
	if g.relay != nil {
		g.relay.l.Close()
	}
	g.daemon.Process.Kill()
	g.daemon.Wait() // it was killed
}

// seedLanes is the seed's client in one workspace, which meets its server as
// published and with its delay taken away.
type seedLanes struct {
	servers  [2]*seed // as published, at once
	relays   [2]*relay
	dir      string
	broken   string // why nothing can be measured
	initText string
	n        int
}

func (y *yard) seedLanes(patience time.Duration) (*seedLanes, error) {
	repo := filepath.Join(y.dir, "seedrepo")
	if err := y.run(y.dir, "cp", "-a", y.repo, repo); err != nil {
		return nil, err
	}
	// It serves what jj made; ours is a repository of jj's too, but not yet
	// there when this one is copied.
	if err := y.run(repo, "sh", "-ec", `test -d .jj || "$0" git init --colocate`, y.jj); err != nil {
		return nil, err
	}
	o := &seedLanes{dir: filepath.Join(y.dir, "seedws")}
	for i := range o.servers {
		s, err := newSeed(y, repo)
		if err == nil {
			err = s.start(i == 1)
		}
		if err == nil {
			o.servers[i] = s
			o.relays[i], err = startRelay(s.addr, 0)
		}
		if err != nil {
			o.stop()
			return nil, err
		}
	}
	quick := o.servers[1]
	took, err := quick.run(patience, y.dir, quick.addr, "init", "--server", quick.addr, "--workspace", "seedws", o.dir)
	o.initText = text(took, err)
	if err != nil {
		o.broken = "the seed made no workspace (" + o.initText + ")"
	}
	return o, nil
}

func (o *seedLanes) stop() {
	for i, s := range o.servers {
		if o.relays[i] != nil {
			o.relays[i].l.Close()
		}
		if s != nil {
			s.stop()
		}
	}
}

// measure runs log and new with 32 files once for each server.
func (o *seedLanes) measure(rtt time.Duration) (log, new string, err error) {
	if o.broken != "" {
		return o.broken, o.broken, nil
	}
	var texts [2][2]string
	for i, s := range o.servers {
		o.relays[i].distance(rtt)
		addr := o.relays[i].addr()
		texts[0][i] = text(s.run(30*time.Second, o.dir, addr, "log"))
		o.n++
		if err := files(o.dir, fmt.Sprintf("seed-%d", o.n))(0); err != nil {
			return "", "", err
		}
		texts[1][i] = text(s.run(30*time.Second, o.dir, addr, "new"))
	}
	words := func(t [2]string) string { return fmt.Sprintf("%s the seed, %s with NODELAY", t[0], t[1]) }
	return words(texts[0]), words(texts[1]), nil
}
