package tunnel

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"tandem/internal/fault"
)

// Opened is a tunnel that is up.
type Opened struct {
	URL  string       // without a slash at the end
	PID  int          // of its program, when that is ours
	Wait func() error // until its program ends; nil when the tunnel is not ours to wait for
}

// Opener makes a port of loopback reachable from outside.
type Opener interface {
	// Open returns when the tunnel has an address.
	Open(ctx context.Context, port string) (Opened, error)
	// Close takes a tunnel down.
	Close(ctx context.Context, pid int, port string) error
	// Up tells whether a tunnel that nobody waits for is still there.
	Up(ctx context.Context, port string) error
}

// program is an installed program and how it is called.
type program struct {
	path string
	env  []string
}

func find(name, install string, env []string, also ...string) (program, error) {
	path, err := lookPath(name, env)
	if err == nil {
		return program{path, env}, nil
	}
	for _, p := range also {
		if executable(p) {
			return program{p, env}, nil
		}
	}
	return program{}, fault.New(fault.Conflict, "tunnel", "%s is not installed", name).WithNext("%s", install)
}

// run runs one command of the program. What it printed comes back also when it failed or did not end.
func (p program) run(ctx context.Context, patience time.Duration, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, p.path, args...)
	cmd.Env, cmd.WaitDelay = p.env, time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return string(out), err
}

// said is the last line that a program printed, for people.
func said(out string, err error) string {
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return last
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "it did not answer"
	}
	return err.Error()
}

func byOS(mac, linux, windows string) string {
	switch runtime.GOOS {
	case "darwin":
		return mac
	case "windows":
		return windows
	}
	return linux
}
