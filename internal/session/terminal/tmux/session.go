package tmux

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tandem/internal/fault"
)

// Pane is a session's one pane as tmux sees it.
type Pane struct {
	Session string
	PID     int
	Dead    bool
	Code    string // exit code or signal, when tmux knows it
	Title   string
	Command string
	InMode  bool   // copy mode: keys would not reach the program
	Clients int    // people attached
	Started string // the command it was started with
}

// Spec is a new session.
type Spec struct {
	Name   string
	Folder string
	Argv   []string
	Env    []string // NAME=value, all the program sees beside what tmux sets
	Width  int
	Height int
}

func (s *Server) target(name string) string { return "=" + s.prefix + name + ":" }

// Open starts a program in a session of its own, directly and not through a
// shell. When it ends, the pane stays to be looked at.
func (s *Server) Open(ctx context.Context, spec Spec) error {
	if strings.ContainsAny(spec.Name, ":.= \t\n'\"#") || spec.Name == "" {
		return fault.New(fault.Invalid, "tmux.open", "%q cannot name a terminal", spec.Name).WithNext("use letters, digits, - and _")
	}
	args := []string{"new-session", "-d", "-s", s.prefix + spec.Name, "-c", spec.Folder, "-x", strconv.Itoa(max(spec.Width, 120)), "-y",
		strconv.Itoa(max(spec.Height, 40))}
	// env -i would need a shell's PATH; exec'ing through env(1) keeps the program's view to what was allowed.
	args = append(args, "env", "-i")
	args = append(args, spec.Env...)
	args = append(args, spec.Argv...)
	for _, a := range args {
		if strings.ContainsAny(a, "\n\x00") {
			return fault.New(fault.Invalid, "tmux.open", "an argument holds a line break")
		}
	}
	// As one process: the option must be set before the program can end.
	args = append(args, ";", "set-option", "-t", s.target(spec.Name), "remain-on-exit", "on", ";", "set-option", "-t", s.target(spec.Name),
		"history-limit", "50000")
	for tries := 0; ; tries++ {
		_, err := s.exec(ctx, args...)
		if !fault.Is(err, fault.NotFound) || tries == 20 {
			return err
		}
		select { // tmux was about to end with its last session, and took nothing any more: the next one is there at once
		case <-ctx.Done():
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

const paneFormat = "#{session_name}\t#{pane_pid}\t#{pane_dead}\t#{pane_dead_status}\t#{pane_dead_signal}\t" +
	"#{pane_current_command}\t#{pane_in_mode}\t#{session_attached}\t#{pane_start_command}\t#{pane_title}"

// Panes are all sessions with the prefix.
func (s *Server) Panes(ctx context.Context) ([]Pane, error) {
	out, err := s.Run(ctx, "list-panes", "-a", "-F", paneFormat)
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Pane
	for _, line := range strings.Split(out, "\n") {
		f := strings.SplitN(line, "\t", 10)
		if len(f) != 10 || !strings.HasPrefix(f[0], s.prefix) {
			continue
		}
		p := Pane{Session: strings.TrimPrefix(f[0], s.prefix), Dead: f[2] == "1", Code: f[3], Command: f[5], InMode: f[6] == "1", Started: f[8],
			Title: f[9]}
		p.PID, _ = strconv.Atoi(f[1])
		p.Clients, _ = strconv.Atoi(f[7])
		if f[4] != "" {
			p.Code = "signal " + f[4]
		}
		all = append(all, p)
	}
	return all, nil
}

// Pane is one session.
func (s *Server) Pane(ctx context.Context, name string) (Pane, error) {
	all, err := s.Panes(ctx)
	if err != nil {
		return Pane{}, err
	}
	for _, p := range all {
		if p.Session == name {
			return p, nil
		}
	}
	return Pane{}, fault.New(fault.NotFound, "tmux.pane", "there is no terminal %s%s", s.prefix, name)
}

// Capture is the screen's text, lines joined as the program wrote them; history
// asks for so many lines above it.
func (s *Server) Capture(ctx context.Context, name string, history int) (string, error) {
	return s.Run(ctx, "capture-pane", "-p", "-J", "-S", strconv.Itoa(-history), "-t", s.target(name))
}

// Paste puts text into the program as a bracketed paste, byte for byte. It
// does not submit it.
func (s *Server) Paste(ctx context.Context, name, text string) error {
	dir, err := os.MkdirTemp("", "tandem-paste-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "text")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	buffer := fmt.Sprintf("tandem-%s-%d", name, os.Getpid())
	if _, err := s.Run(ctx, "load-buffer", "-b", buffer, file); err != nil {
		return err
	}
	_, err = s.Run(ctx, "paste-buffer", "-d", "-p", "-r", "-b", buffer, "-t", s.target(name))
	return err
}

// Keys presses keys by tmux's names (Enter, Escape, C-u).
func (s *Server) Keys(ctx context.Context, name string, keys ...string) error {
	_, err := s.Run(ctx, append([]string{"send-keys", "-t", s.target(name)}, keys...)...)
	return err
}

// Kill ends a session and its program.
func (s *Server) Kill(ctx context.Context, name string) error {
	_, err := s.Run(ctx, "kill-session", "-t", "="+s.prefix+name)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// Respawn replaces the program of a session; whoever is attached stays so.
func (s *Server) Respawn(ctx context.Context, spec Spec) error {
	args := append([]string{"respawn-pane", "-k", "-c", spec.Folder, "-t", s.target(spec.Name), "env", "-i"}, spec.Env...)
	args = append(args, spec.Argv...)
	for _, a := range args {
		if strings.ContainsAny(a, "\n\x00") {
			return fault.New(fault.Invalid, "tmux.respawn", "an argument holds a line break")
		}
	}
	_, err := s.Run(ctx, args...)
	return err
}

// Type types one line of text as if by hand, without submitting it.
func (s *Server) Type(ctx context.Context, name, text string) error {
	if strings.ContainsAny(text, "\n\r\x00") {
		return fault.New(fault.Invalid, "tmux.type", "only one line can be typed")
	}
	_, err := s.Run(ctx, "send-keys", "-l", "-t", s.target(name), "--", text)
	return err
}
