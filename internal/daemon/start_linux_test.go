package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"tandem/internal/client"
	"tandem/internal/testenv"
)

// held is what this process holds open below a folder or as a socket, and what works in it, by names that nothing else gets.
func held(t *testing.T, folder string) map[string]string {
	t.Helper()
	out := map[string]string{}
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		to, err := os.Readlink(filepath.Join("/proc/self/fd", f.Name()))
		if err == nil && (strings.HasPrefix(to, folder) || strings.HasPrefix(to, "socket:")) {
			out[to] = to
		}
	}
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for one := range strings.SplitSeq(string(stacks), "\n\n") {
		if name, _, ok := strings.Cut(one, " ["); ok && strings.Contains(one, "tandem/internal/") && !strings.Contains(one, "testing.tRunner") {
			out[name] = one
		}
	}
	children, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range children {
		if pids, err := os.ReadFile(c); err == nil {
			for _, pid := range strings.Fields(string(pids)) {
				out["process "+pid] = "process " + pid
			}
		}
	}
	return out
}

// Whatever step of a start fails, nothing stays behind: no open file, no socket, no process and nobody at work. The next start finds the
// folder free.
func TestAStartThatFailsLeavesNothing(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // collecting closes what nobody closed
	home := t.TempDir()
	was := held(t, home) // by the tests before this one
	start := func(before func(step string) error, ready func(d *Daemon, stop func())) error {
		s := settingsAt(t, home)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		d := &Daemon{Settings: s, Version: "test", before: before, Ready: func(d *Daemon) { ready(d, cancel) }}
		return d.Run(ctx)
	}
	var steps []string
	err := start(func(step string) error { steps = append(steps, step); return nil }, func(_ *Daemon, stop func()) {
		go func() { // the space has a seat, which later starts take
			defer stop()
			c := client.Socket(SocketPath(filepath.Join(home, ".tandem"), ""))
			if err := c.Call(t.Context(), "space.create", map[string]string{"name": "crew"}, nil); err != nil {
				t.Errorf("a space with a seat: %v", err)
			}
		}()
	})
	if err != nil || len(steps) < 20 {
		t.Fatalf("a start of %d steps: %v", len(steps), err)
	}
	left := func() (more []string) {
		for name, what := range held(t, home) {
			if was[name] == "" {
				more = append(more, what)
			}
		}
		return more
	}
	if !testenv.Within(time.Minute, func() bool { return len(left()) == 0 }) {
		t.Fatalf("a start that was stopped left:\n%s", strings.Join(left(), "\n\n"))
	}
	broken := errors.New("this step breaks")
	for _, bad := range steps {
		err := start(func(step string) error {
			if step == bad {
				return broken
			}
			return nil
		}, func(_ *Daemon, stop func()) { stop() })
		if !errors.Is(err, broken) {
			t.Errorf("%s broke, and the start ended with %v", bad, err)
		}
		if !testenv.Within(30*time.Second, func() bool { return len(left()) == 0 }) {
			t.Errorf("before it could %s a start ended, and left:\n%s", bad, strings.Join(left(), "\n\n"))
		}
	}
	if err := start(nil, func(_ *Daemon, stop func()) { stop() }); err != nil {
		t.Errorf("the start after them: %v", err)
	}
}
