package proof

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// fleet is a server with a repository, and agents on another machine: another
// home with a daemon of its own, which all of them share.
type fleet struct {
	t      testing.TB
	server *server
	repo   string
	home   string
	env    []string
	addr   string // where agents find the server
	agents []*committer
}

// committer is an agent in a workspace of its own.
type committer struct {
	f    *fleet
	name string
	dir  string
	safe map[string]string // commits that it was told are safe, and what file of what bytes is in them
	wait map[string]string // commits of which it was told that they wait
}

func newFleet(t testing.TB, n int) *fleet {
	t.Helper()
	s := newServer(t)
	f := newFleetOn(t, s, filepath.Join(s.home, "project"))
	f.join(n)
	return f
}

// newFleetOn starts a server that was prepared, with a repository; no agent has
// joined yet.
func newFleetOn(t testing.TB, s *server, repo string) *fleet {
	t.Helper()
	f := &fleet{t: t, server: s, repo: repo, home: testenv.Dir(t)}
	s.args = []string{"--repo", repo}
	s.start()
	f.addr = strings.TrimPrefix(s.url, "http://")
	f.env = testenv.Env(t, "HOME="+f.home, "TANDEM_API_TOKEN="+apiToken, "JJ_USER=Agent", "JJ_EMAIL=agent@example.com", "TANDEM_IDLE_EXIT=2m",
		"NO_COLOR=1")
	t.Cleanup(func() { f.tandem(f.home, "down") })
	return f
}

// join makes workspaces for agents.
func (f *fleet) join(n int) {
	f.t.Helper()
	for i := range n {
		a := &committer{f: f, name: fmt.Sprintf("agent-%d", i), dir: filepath.Join(f.home, fmt.Sprintf("w%d", i)), safe: map[string]string{},
			wait: map[string]string{}}
		if out, err := f.tandem(f.home, "init", "--tandem-server", f.addr, "--workspace", a.name, a.dir); err != nil {
			f.t.Fatalf("init: %v\n%s", err, out)
		}
		f.agents = append(f.agents, a)
	}
}

// tandem runs one command on the agents' machine and gives all it printed.
func (f *fleet) tandem(dir string, args ...string) (string, error) {
	cmd := exec.Command(testenv.Tandem(f.t), args...)
	cmd.Dir, cmd.Env = dir, f.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// commit writes a file, begins a new change, and remembers the commit when the
// command said that it is safe.
func (a *committer) commit(n int) error {
	name, text := fmt.Sprintf("%s-%d.txt", a.name, n), fmt.Sprintf("%s wrote this %d times\n", a.name, n)
	if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o644); err != nil {
		return err
	}
	out, err := a.f.tandem(a.dir, "commit", "-m", fmt.Sprintf("%s: step %d", a.name, n))
	if err != nil {
		return fmt.Errorf("%s: commit %d: %w\n%s", a.name, n, err, out)
	}
	id, err := a.f.tandem(a.dir, "log", "--ignore-working-copy", "--no-graph", "-r", "@-", "-T", "commit_id")
	if err != nil || len(id) != 40 {
		return fmt.Errorf("%s: which commit: %v %s", a.name, err, id)
	}
	a.wait[id] = name + "\n" + text
	a.told(out)
	return nil
}

// told hears what a command that went well said: unless something still waits,
// all that was committed so far is safe.
func (a *committer) told(out string) {
	if !strings.Contains(out, "to be sent") {
		maps.Copy(a.safe, a.wait)
		clear(a.wait)
	}
}

// inRepo compares every commit that was called safe with the server's git.
func (f *fleet) inRepo() (n int) {
	f.t.Helper()
	for _, a := range f.agents {
		for id, file := range a.safe {
			name, text, _ := strings.Cut(file, "\n")
			cmd := exec.Command("git", "-C", f.repo, "cat-file", "-p", id+":"+name)
			cmd.Env = f.env
			if got, err := cmd.Output(); err != nil || string(got) != text {
				f.t.Errorf("%s: commit %s was called safe, but the server has of %s: %q, %v", a.name, id, name, got, err)
			}
			n++
		}
	}
	return n
}

// sound checks the server's repository with tandem, git and stock jj.
func (f *fleet) sound() {
	f.t.Helper()
	if out, err := f.server.run("repo", "check", "project"); err != nil {
		f.t.Errorf("repo check: %v\n%s", err, out)
	}
	for _, line := range [][]string{{"git", "fsck", "--strict", "--no-dangling"},
		{testenv.Tool(f.t, "jj"), "--ignore-working-copy", "debug", "reindex"}} {
		cmd := exec.Command(line[0], line[1:]...)
		cmd.Dir, cmd.Env = f.repo, f.env
		if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("missing")) {
			f.t.Errorf("%s: %v\n%s", strings.Join(line, " "), err, out)
		}
	}
	cmd := exec.Command(testenv.Tool(f.t, "jj"), "--ignore-working-copy", "log", "--no-graph", "-r", "divergent()", "-T",
		"commit_id ++ description")
	cmd.Dir, cmd.Env = f.repo, f.env
	if out, err := cmd.CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		f.t.Errorf("divergent changes: %v\n%s", err, out)
	}
}

// Agents that commit all at once: no command fails, nothing diverges, and every
// agent reads every file of every other. Nothing is repaired.
func TestAgentsAtOnce(t *testing.T) {
	f := newFleet(t, 5)
	rounds := testenv.Rounds(100)
	began := time.Now()
	var wg sync.WaitGroup
	for _, a := range f.agents {
		wg.Go(func() {
			for n := range rounds {
				if err := a.commit(n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d commits by %d agents in %s", 5*rounds, len(f.agents), time.Since(began).Round(time.Millisecond))
	if n := f.inRepo(); n != 5*rounds {
		t.Errorf("%d commits were called safe, not %d", n, 5*rounds)
	}
	f.sound()
	for _, reader := range f.agents {
		for _, writer := range f.agents {
			want := fmt.Sprintf("%s wrote this %d times\n", writer.name, rounds-1)
			got, err := f.tandem(reader.dir, "file", "show", "-r", writer.name+"@-", fmt.Sprintf("%s-%d.txt", writer.name, rounds-1))
			if err != nil || got != want {
				t.Errorf("%s reads of %s: %q, %v", reader.name, writer.name, got, err)
			}
		}
	}
}

// The server is killed again and again while agents work, and connections are
// cut in the middle. No command fails for it, and every commit that an agent was told is safe is in the server's
// repository at the end, byte for byte.
func TestServerIsKilledWhileAgentsCommit(t *testing.T) {
	// It goes on until enough was called safe for the proof to mean something,
	// on a slow machine longer.
	agents, length, enough := 6, 10*time.Second, int64(20)
	if testenv.Soak() {
		agents, length, enough = 24, 2*time.Minute, 500
	}
	r := testenv.Random(t)
	f := newFleet(t, 0)
	wire := newShears(t, f.addr)
	f.addr = wire.addr()
	f.join(agents)
	began := time.Now()
	var safe atomic.Int64
	goesOn := func() bool {
		took := time.Since(began)
		return took < length || safe.Load() < enough && took < 6*length
	}
	var wg sync.WaitGroup
	for _, a := range f.agents {
		own := rand.New(rand.NewPCG(r.Uint64(), r.Uint64()))
		wg.Go(func() {
			for n := 0; goesOn(); n++ {
				before := len(a.safe)
				if err := a.commit(n); err != nil {
					t.Error(err)
					return
				}
				safe.Add(int64(len(a.safe) - before))
				if own.IntN(4) == 0 {
					line := [][]string{{"log"}, {"st"}, {"describe", "-m", "thinking"}, {"new", "@-"}, {"undo"}, {"squash", "-u"}, {"duplicate", "@-"},
						{"bookmark", "set", "-B", a.name, "-r", "@-"}, {"rebase", "-r", "@", "-d", "root()"}, {"abandon"}}[own.IntN(10)]
					if out, err := f.tandem(a.dir, line...); err != nil && !strings.Contains(out, "nothing was done") {
						t.Errorf("%s: %v: %v\n%s", a.name, line, err, out)
					}
				}
			}
		})
	}
	kills, cuts := 0, 0
	for goesOn() {
		for range 1 + r.IntN(3) {
			time.Sleep(time.Duration(r.IntN(1500)) * time.Millisecond)
			cuts += wire.cut()
		}
		time.Sleep(time.Duration(1000+r.IntN(2000)) * time.Millisecond)
		f.server.kill9()
		kills++
		time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
		f.server.start()
	}
	wg.Wait()
	for _, a := range f.agents {
		out, err := f.tandem(a.dir, "st")
		if err != nil || strings.Contains(out, "to be sent") {
			t.Errorf("%s after all: %v\n%s", a.name, err, out)
		}
		a.told(out)
	}
	n := f.inRepo()
	t.Logf("%d agents, %d kills, %d connections cut, %d safe commits in %s, all there", len(f.agents), kills, cuts, n,
		time.Since(began).Round(time.Second))
	if int64(n) < enough {
		t.Errorf("only %d commits were called safe; the proof wants %d", n, enough)
	}
	f.sound()
}
