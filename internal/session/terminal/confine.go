package terminal

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/session/agents"
	"tandem/internal/tool"
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
func (s *seat) box(ctx context.Context, l Launch) (box.Box, error) {
	d := s.d
	b := box.Box{Argv: l.Argv, Dir: s.row.Folder, Env: l.Env, Network: true, Whole: true, Tmp: l.tmp, Terminal: true, Home: d.Home}
	if _, nests := box.Nesting[s.row.Agent]; nests {
		b.Nests = s.row.Agent
	}
	if s.outfit.Store(nil); s.stage != nil { // it may have been given something else since
		s.outfit.Store(&tool.Outfit{})
	}
	scope, err := s.wearing(ctx, nil)
	if err != nil {
		return b, err
	}
	project := scope.Mounts()
	withheld, masks := s.withheld()
	project, b.Masks = append(project, withheld...), masks
	hidden, err := s.hide(ctx)
	if err != nil {
		return b, err
	}
	project = append(project, hidden...)
	if now := s.looked.Load(); now != nil && now.sight.Offline() != "" { // all that it does not need for its model
		b.Env = append(slices.Clone(b.Env), agents.Quiet(s.row.Agent)...)
	}
	if box.Below(s.row.Folder, d.data()) {
		project = append(project, box.Empty(d.data())) // a working folder that holds tandem's own does not show it
	}
	if s.stage != nil {
		b.Mounts = append([]box.Mount{box.Empty(d.Home)}, box.Write(s.stage.Home)...)
		b.Mounts = append(b.Mounts, s.shown(l)...)
		return b, nil
	}
	worn, err := s.wear(&b, scope, l)
	if err != nil {
		return b, err
	}
	home, err := s.homeMounts()
	switch {
	case err != nil:
		return b, err
	case box.Below(s.row.Folder, d.Home): // it works in the person's home, and has its own apart
		b.Mounts = slices.Concat(worn, project, home)
		b.Env = append(slices.DeleteFunc(slices.Clone(b.Env),
			func(kv string) bool { return strings.HasPrefix(kv, "HOME=") || strings.HasPrefix(kv, "XDG_") }), "HOME="+s.homeAt())
	default:
		b.Mounts = slices.Concat(home, worn, project)
	}
	b.Mounts = append(b.Mounts, s.shown(l)...)
	b.Worktree(s.row.Folder)
	if full := b.Keep(s.row.Folder); full != nil { // it is opened all the same, and says so
		s.update(func(r *row) bool {
			r.Boundary = strings.TrimSuffix(r.Boundary, unkept) + unkept
			return true
		})
	}
	return b, nil
}

// unkept is said of a folder that is too large for all its repositories to be found.
const unkept = "; its folder holds more repositories than can be kept from it: what it leaves in the others is set aside when its turn ends"

// shown are the programs, and the session's folder with its socket.
func (s *seat) shown(l Launch) []box.Mount {
	return box.Read(append([]string{s.d.place(s.row.Program), s.d.place(s.d.Self), s.folder(), filepath.Dir(s.socket)}, l.see...)...)
}

// confine puts the program into its box.
func (s *seat) confine(ctx context.Context, l Launch) (Launch, error) {
	m, err := s.d.machine(ctx)
	if err != nil {
		return l, err
	}
	if !m.Works() {
		return l, fault.New(fault.Conflict, "session.open", "this session is confined, and %s", m.Why).
			WithNext("install bubblewrap, or set TANDEM_CONFINE=none")
	}
	b, err := s.box(ctx, l)
	if err != nil {
		return l, err
	}
	if err := s.watch(ctx, &b); err != nil {
		return l, err
	}
	if len(l.Server) > 0 { // both of them live in the same small world
		inner := filepath.Join(s.folder(), "inner.json")
		l.Env = b.Env
		if err := agents.WriteJSON(inner, l); err != nil {
			return l, err
		}
		b.Argv = []string{s.d.Self, "launch", inner}
	}
	argv, env, err := m.Argv(b)
	return Launch{Argv: argv, Env: env}, err
}

// beside is the session's program once more, for a moment and without a terminal or the network, in the box in which it will run.
func (s *seat) beside(ctx context.Context, l Launch, argv []string) (*exec.Cmd, func(), error) {
	if s.row.Confined != "bwrap" {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env, cmd.Dir = l.Env, s.row.Folder
		return cmd, func() {}, nil
	}
	m, err := s.d.machine(ctx)
	if err != nil {
		return nil, nil, err
	}
	l.Argv = argv
	b, err := s.box(ctx, l)
	if err != nil {
		return nil, nil, err
	}
	b.Terminal, b.Network = false, false
	return m.Command(ctx, b)
}
