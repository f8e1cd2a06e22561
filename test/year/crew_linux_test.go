package year

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tandem/internal/testenv"
)

// crew are agents on other machines, who commit as long as they may.
type crew struct {
	h        *house
	machines []*machine
	agents   []*agent
	halt     chan struct{}
	wg       sync.WaitGroup
}

// machine is a home with a daemon of its own.
type machine struct {
	home string
	env  []string
}

// agent has a workspace on a machine.
type agent struct {
	h         *house
	m         *machine
	name, dir string
	n         int
	safe      map[string]string // commits that it was told are safe: the file in each, and its text
	wait      map[string]string // commits that wait to be sent
}

// newCrew lets two machines in by an invitation; the first has two workspaces.
func newCrew(t *testing.T, h *house) *crew {
	t.Helper()
	c := &crew{h: h}
	var made struct{ Invite string }
	if err := h.call("join.invite", map[string]any{"uses": 2}, &made); err != nil {
		t.Fatal(err)
	}
	for i, workspaces := range []int{2, 1} {
		m := &machine{home: testenv.Dir(t)}
		m.env = testenv.Env(t, "HOME="+m.home, "TANDEM_SECRET_KEEPER=file", "TANDEM_MOVED_CLOCK="+h.clock, "TANDEM_IDLE_EXIT=2m", "NO_COLOR=1",
			"JJ_USER=Agent", "JJ_EMAIL=agent@example.com")
		c.machines = append(c.machines, m)
		t.Cleanup(func() { m.tandem(h, m.home, "down", "--force") })
		for j := range workspaces {
			a := &agent{h: h, m: m, name: fmt.Sprintf("agent-%d-%d", i, j), safe: map[string]string{}, wait: map[string]string{}}
			a.dir = filepath.Join(m.home, a.name)
			if out, err := m.tandem(h, m.home, "init", "--tandem-server", h.addr+"#"+made.Invite, "--workspace", a.name, a.dir); err != nil {
				t.Fatalf("init: %v\n%s", err, out)
			}
			c.agents = append(c.agents, a)
		}
	}
	return c
}

// tandem types a command on a machine of the crew.
func (m *machine) tandem(h *house, dir string, args ...string) (string, error) {
	line := slices.Concat(h.near, []string{h.program}, args)
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Dir, cmd.Env = dir, m.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// work lets everybody commit until rest is called. No command of theirs may fail, whatever becomes of the server: what cannot be sent
// waits, and says so.
func (c *crew) work() {
	c.halt = make(chan struct{})
	for _, a := range c.agents {
		c.wg.Go(func() {
			for {
				select {
				case <-c.halt:
					return
				default:
				}
				if err := a.commit(); err != nil {
					c.h.t.Error(err)
					return
				}
			}
		})
	}
}

// rest waits for commands under way.
func (c *crew) rest() {
	close(c.halt)
	c.wg.Wait()
}

// leave ends the daemons of the crew's machines: their next commands start them.
func (c *crew) leave() {
	c.h.t.Helper()
	for _, m := range c.machines {
		if out, err := m.tandem(c.h, m.home, "down", "--force"); err != nil && !strings.Contains(out, "not running") {
			c.h.t.Errorf("down on a machine of the crew: %v\n%s", err, out)
		}
	}
}

func (a *agent) commit() error {
	a.n++
	name, text := fmt.Sprintf("%s-%d.txt", a.name, a.n), fmt.Sprintf("%s wrote this in step %d\n", a.name, a.n)
	if err := os.WriteFile(filepath.Join(a.dir, name), []byte(text), 0o644); err != nil {
		return err
	}
	if a.n > 20 { // a project does not grow for ever
		os.Remove(filepath.Join(a.dir, fmt.Sprintf("%s-%d.txt", a.name, a.n-20)))
	}
	out, err := a.m.tandem(a.h, a.dir, "commit", "-m", fmt.Sprintf("%s: step %d", a.name, a.n))
	if err != nil {
		return fmt.Errorf("%s: commit %d: %w\n%s", a.name, a.n, err, out)
	}
	id, err := a.m.tandem(a.h, a.dir, "log", "--ignore-working-copy", "--no-graph", "-r", "@-", "-T", "commit_id")
	if err != nil || len(id) != 40 {
		return fmt.Errorf("%s: which commit: %v %s", a.name, err, id)
	}
	a.wait[id] = name + "\n" + text
	a.told(out)
	return nil
}

// told hears a command that went well: unless something still waits, all so far is safe.
func (a *agent) told(out string) {
	if !strings.Contains(out, "to be sent") {
		maps.Copy(a.safe, a.wait)
		clear(a.wait)
	}
}

// settled expects that with a server that runs nothing waits any more.
func (c *crew) settled() {
	c.h.t.Helper()
	for _, a := range c.agents {
		var said string
		if !testenv.Within(30*time.Second, func() bool {
			out, err := a.m.tandem(c.h, a.dir, "st")
			if said = out; err != nil {
				return false
			}
			a.told(out)
			return !strings.Contains(out, "to be sent")
		}) {
			c.h.t.Fatalf("%s still waits:\n%s", a.name, said)
		}
	}
}

// there compares every commit that was called safe with the server's git, and says how many there are.
func (c *crew) there() int {
	c.h.t.Helper()
	want := map[string]string{}
	var ask strings.Builder
	var order []string
	for _, a := range c.agents {
		for id, file := range a.safe {
			name, text, _ := strings.Cut(file, "\n")
			key := id + ":" + name
			want[key] = text
			order = append(order, key)
			fmt.Fprintln(&ask, key)
		}
	}
	line := slices.Concat(c.h.enter, []string{"git", "-C", filepath.Join(c.h.home, "project"), "cat-file", "--batch"})
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env, cmd.Stdin = c.h.env, strings.NewReader(ask.String())
	out, err := cmd.Output()
	if err != nil {
		c.h.t.Fatalf("git cat-file: %v", err)
	}
	rest := string(out)
	for _, key := range order {
		head, body, _ := strings.Cut(rest, "\n")
		text := want[key]
		if strings.HasSuffix(head, "missing") || !strings.HasPrefix(body, text+"\n") {
			c.h.t.Fatalf("%s was called safe, but the server has: %s", key, head)
		}
		rest = body[len(text)+1:]
	}
	return len(order)
}
