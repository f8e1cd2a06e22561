package tmux

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tandem/internal/fault"
)

// Server is one tmux server.
type Server struct {
	socket string // -L name, or a path for -S; "" is the user's own server
	prefix string // of the sessions that exist for us
	env    []string

	path atomic.Pointer[string] // of tmux, once it was found

	mu     sync.Mutex
	client *client
}

// New prepares a server. socket is a name (tmux -L), a path (tmux -S) or ""
// for the user's own; env is what tmux and new panes see, and nothing else.
func New(socket, prefix string, env []string) *Server {
	return &Server{socket: socket, prefix: prefix, env: env}
}

// program is where tmux is. It is looked for until it is found, since somebody may install it while we run, and then stays: one that
// appears later in a folder of the PATH is not run.
func (s *Server) program() string {
	if at := s.path.Load(); at != nil {
		return *at
	}
	at, err := exec.LookPath("tmux")
	if err != nil {
		return "tmux"
	}
	s.path.CompareAndSwap(nil, &at)
	return *s.path.Load()
}

// Missing says that there is no tmux now.
func (s *Server) Missing() error {
	if _, err := exec.LookPath(s.program()); err != nil {
		return fault.New(fault.Conflict, "tmux", "tmux is not installed").
			WithNext("install it (apt-get install tmux, brew install tmux), and type the same again; what else is missing: tandem doctor")
	}
	return nil
}

// flags say which server it is, and that we read UTF-8 whatever the locale: to a client that does not, tmux prints every tab and
// every letter beyond ASCII as an underscore.
func (s *Server) flags() []string {
	switch {
	case s.socket == "":
		return []string{"-u"}
	case strings.Contains(s.socket, "/"):
		return []string{"-u", "-S", s.socket}
	}
	return []string{"-u", "-L", s.socket}
}

// deadline bounds a command that its caller did not bound.
const deadline = 5 * time.Second

// Run gives tmux one command and returns what it printed.
func (s *Server) Run(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	if c := s.control(ctx); c != nil {
		out, err := c.run(ctx, args)
		if !errors.Is(err, errGone) {
			return out, err
		}
		s.forget(c)
	}
	return s.exec(ctx, args...)
}

func (s *Server) exec(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, s.program(), append(s.flags(), args...)...)
	cmd.Env = s.env
	var out, errb bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errb
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return "", failure(args[0], strings.TrimSpace(errb.String()), err)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// failure turns tmux's words into a fault a caller can act on.
func failure(command, said string, err error) error {
	switch {
	case strings.Contains(said, "can't find"), strings.Contains(said, "no server running"), strings.Contains(said, "error connecting"),
		strings.Contains(said, "no such session"), strings.Contains(said, "server exited"), strings.Contains(said, "lost server"),
		strings.Contains(said, "no current"):
		return fault.New(fault.NotFound, "tmux."+command, "the terminal is gone: %s", said)
	case strings.Contains(said, "duplicate session"):
		return fault.New(fault.Conflict, "tmux."+command, "a terminal of that name exists already")
	case said == "" && err != nil:
		return fault.New(fault.Unavailable, "tmux."+command, "tmux did not answer: %w", err)
	}
	return fault.New(fault.Unavailable, "tmux."+command, "tmux said: %s", said)
}

// control is the long-lived client, started when there is a session for it to
// attach to; nil when there is none.
func (s *Server) control(ctx context.Context) *client {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		return s.client
	}
	names, err := s.exec(ctx, "list-sessions", "-F", "#{session_name}")
	if err != nil {
		return nil
	}
	for _, name := range strings.Split(names, "\n") {
		if !strings.HasPrefix(name, s.prefix) {
			continue
		}
		c, err := start(s.program(), append(s.flags(), "-C", "attach-session", "-f", "ignore-size,no-output", "-t", "="+name), s.env)
		if err == nil {
			s.client = c
			return c
		}
	}
	return nil
}

func (s *Server) forget(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == c {
		s.client = nil
	}
	c.close()
}

// Close ends the client. The server and its sessions live on.
func (s *Server) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		s.client.close()
		s.client = nil
	}
}
