package tool

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
	"tandem/internal/tool/box"
)

// Sandbox is how commands are confined on this machine: the system read-only, the granted folders as granted, everything else of
// the machine out of sight, no network unless it was granted, an empty environment.
type Sandbox struct {
	*box.Machine
	// Home is the person's, in which what lies in certain places runs by itself.
	Home string
	// Kit is what commands get of the machine's toolchains; nil is the system's own alone.
	Kit *Kit
}

// SandboxKind names a way of confining.
type SandboxKind = box.Kind

// The kinds, from the best to none. Bubblewrap also hides sensitive files inside the granted folders, as macOS's Seatbelt does; Landlock
// cannot, so a person has to approve commands where there are any. Without any no command runs, unless a person said so for a session.
const (
	Bubblewrap = box.Bubblewrap
	Landlock   = box.Landlock
	NoSandbox  = box.None
)

// AnySandbox is what FindSandbox is told to take the best that works.
const AnySandbox = box.Any

// FindSandbox takes the wanted kind, or the best, and tries it once.
func FindSandbox(ctx context.Context, want SandboxKind) (*Sandbox, error) {
	m, err := box.Find(ctx, want)
	if err != nil {
		return nil, err
	}
	return &Sandbox{Machine: m}, nil
}

// Works says whether commands can be confined at all here.
func (s *Sandbox) Works() bool { return s != nil && s.Machine.Works() }

// shell is the program that reads command lines.
const shell = "/bin/bash"

// line is the box of a shell line: a small environment, and nothing of the machine but the system.
func line(dir, text string) box.Box {
	return box.Box{Argv: []string{shell, "-c", text}, Dir: dir, Env: []string{"LANG=C.UTF-8", "TERM=dumb"}}
}

// Command builds the confined command for a shell line. dir must lie in the scope. The command has a process group of its own, which
// is ended with ctx; done is called when the command has ended, and ends what it left in the background.
func (s *Sandbox) Command(ctx context.Context, scope *Scope, dir, text string, network bool) (cmd *exec.Cmd, done func(), err error) {
	if !s.Works() {
		return (&box.Machine{Kind: box.None}).Command(ctx, line(dir, text))
	}
	b, err := s.Box(scope, dir, text, network)
	if err != nil {
		return nil, nil, err
	}
	return s.Machine.Command(ctx, b)
}

// Box is the box of a shell line, on a machine that has a sandbox.
func (s *Sandbox) Box(scope *Scope, dir, text string, network bool) (box.Box, error) {
	b := line(dir, text)
	b.Network, b.Home = network, s.Home
	who := Wearer{InPlace: s.Machine.InPlace()}
	if fs := scope.Folders(); len(fs) > 0 {
		who.Folder = fs[len(fs)-1].Path // the outermost
	}
	if err := s.Kit.Wear(&b, scope, who); err != nil {
		return b, err
	}
	scope = scope.Worn()
	b.Mounts = append(b.Mounts, scope.Mounts()...)
	// it hides nothing: what is to be hidden was asked about before (Exposed), and tandem's own state is never shown
	if !s.Machine.Hides() {
		for _, f := range scope.Folders() {
			b.Masks = append(b.Masks, f.withheld()...)
		}
		b.Worktrees(scope.Writable()...)
		return b, nil
	}
	if err := scope.Hide(&b); err != nil {
		return b, err
	}
	b.Worktrees(scope.Writable()...)
	// Where there are more repositories than can be kept, what appears in the others is set aside when the command has ended.
	if err := b.Keep(scope.Writable()...); err != nil && !fault.Is(err, fault.Exhausted) {
		return b, err
	}
	return b, nil
}

// NewHold keeps a command from running while its box is made: see box.Hold.
func NewHold() (*box.Hold, error) { return box.NewHold() }

// limits are set before a command that nobody watches: no core files, no file above 8 GiB, no flood of processes.
const limits = `ulimit -c 0 -f 8388608 -u 4096 2>/dev/null; exec "$0" -c "$1"`

// Alone is the box of a shell line that has one folder, which it may change, and beside the system only the machine's toolchains: no
// network, and no cache that another command could have written. tmp is its /tmp, so that what it writes there can be measured.
func (s *Sandbox) Alone(folder, tmp, dir, text string) (box.Box, error) {
	b := line(dir, text)
	if s.Machine.InPlace() {
		b.Env = append(b.Env, "HOME="+tmp, "TMPDIR="+tmp)
		b.Mounts = append(b.Mounts, box.Write(tmp)...)
	} else {
		b.Tmp = tmp
	}
	b.Argv = []string{shell, "-c", limits, shell, text}
	b.Env = append(b.Env, "CI=true")
	if err := s.Kit.Wear(&b, NewScope(nil), Wearer{InPlace: s.Machine.InPlace()}); err != nil {
		return b, err
	}
	b.Mounts = append(b.Mounts, box.Write(folder)...)
	return b, nil
}

// Writable are the folders of a scope that may be changed.
func (s *Scope) Writable() []string {
	var out []string
	for _, f := range s.Folders() {
		if !f.ReadOnly {
			out = append(out, f.Path)
		}
	}
	return out
}

// Hide puts the scope's masks into a box that shows its folders already.
func (s *Scope) Hide(b *box.Box) error {
	masks, err := s.Masks()
	for i, m := range masks {
		again := slices.ContainsFunc(masks[i+1:], func(k Mask) bool { return k.How != Hide && box.Below(m.Path, k.Path) })
		switch {
		case m.How != Hide:
			b.Mounts = append(b.Mounts, box.Mount{From: m.Path, Write: m.How == Show})
		case again && m.Folder: // something inside it is shown
			b.Mounts = append(b.Mounts, box.Empty(m.Path))
		default:
			b.Masks = append(b.Masks, m.Path)
		}
	}
	return err
}

// Unconfined builds a command without a sandbox, for a session in which a person allowed that: an empty environment and a home of
// its own are all that it has of one.
func Unconfined(ctx context.Context, dir, text string) (cmd *exec.Cmd, done func(), err error) {
	b := line(dir, text)
	b.Env = append(b.Env, "PATH="+strings.Join(systemPath, ":"))
	return box.Unconfined(ctx, b)
}

// withheld are the places in a folder that are out of reach whatever their names are.
func (f Folder) withheld() []string {
	var out []string
	for _, rel := range f.hidden {
		out = append(out, filepath.Join(f.Path, rel))
	}
	return out
}
