package terminal

import (
	"context"
	"os"
	"path/filepath"

	"tandem/internal/fault"
	"tandem/internal/session/agents"
	"tandem/internal/tool/box"
)

// machine is bubblewrap as it works here. It is tried once; a machine that gets it later is asked again.
func (d *Driver) machine(ctx context.Context) (*box.Machine, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.boxes.Works() {
		return d.boxes, nil
	}
	m, err := box.Find(ctx, box.Bubblewrap)
	if err != nil {
		return nil, err
	}
	d.boxes = m
	return m, nil
}

// confinement is how a program that is opened now is kept. A sandbox that does not answer is not one that is missing.
func (d *Driver) confinement(ctx context.Context) (string, error) {
	switch d.Confine {
	case "bwrap":
		return "bwrap", nil
	case "auto":
		m, err := d.machine(ctx)
		if err != nil {
			return "", err
		}
		if m.Works() {
			return "bwrap", nil
		}
	}
	return "none", nil
}

// box is what a confined program sees: the system, its working folder, its own state, and the session's folder with the socket.
// Nothing else of the home folder, no tmux socket, no other session, and no other process: whoever sees one of the same user may end
// it, and as root walk through /proc into the world that it sees.
func (s *seat) box(l Launch) (box.Box, error) {
	d := s.d
	b := box.Box{Argv: l.Argv, Dir: s.row.Folder, Env: l.Env, Network: true, Whole: true, Tmp: l.tmp, Terminal: true}
	if _, nests := box.Nesting[s.row.Agent]; nests {
		b.Nests = s.row.Agent
	}
	b.Mounts = append(b.Mounts, box.Empty(d.Home))
	for _, p := range l.state {
		if err := os.MkdirAll(p, 0o700); err != nil {
			return b, err
		}
	}
	b.Mounts = append(b.Mounts, box.Write(l.state...)...)
	for at, p := range l.own {
		b.Mounts = append(b.Mounts, box.Mount{From: p, At: at, Write: true})
	}
	for _, p := range l.files {
		b.Mounts = append(b.Mounts, box.Mount{From: p, Write: true, Optional: true})
	}
	b.Mounts = append(b.Mounts, box.Mount{From: filepath.Join(d.Home, ".gitconfig"), Optional: true}, box.Mount{From: s.row.Folder, Write: true})
	if box.Below(s.row.Folder, d.data()) {
		b.Mounts = append(b.Mounts, box.Empty(d.data())) // a working folder that holds tandem's own does not show it
	}
	b.Mounts = append(b.Mounts, box.Read(append([]string{d.place(s.row.Program), d.place(d.Self), s.folder(), filepath.Dir(s.socket)}, l.see...)...)...)
	return b, nil
}

// confine puts the program into its box.
func (s *seat) confine(ctx context.Context, l Launch) (Launch, error) {
	m, err := s.d.machine(ctx)
	if err != nil {
		return l, err
	}
	if !m.Works() {
		return l, fault.New(fault.Conflict, "session.open", "this session is confined, and %s", m.Why).WithNext("install bubblewrap, or set TANDEM_CONFINE=none")
	}
	b, err := s.box(l)
	if err != nil {
		return l, err
	}
	if len(l.Server) > 0 { // both of them live in the same small world
		inner := filepath.Join(s.folder(), "inner.json")
		if err := agents.WriteJSON(inner, l); err != nil {
			return l, err
		}
		b.Argv = []string{s.d.Self, "launch", inner}
	}
	argv, env, err := m.Argv(b)
	return Launch{Argv: argv, Env: env}, err
}
