package box

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"tandem/internal/fault"
	"tandem/internal/tool/confine"
)

// Machine is what boxes are built with here.
type Machine struct {
	Kind Kind
	// Why says why it is not a better one.
	Why string

	bwrap, seatbelt string // the programs
	// users says that there are user namespaces, noUsers that this bubblewrap can forbid them, scopes that the kernel keeps abstract
	// sockets apart; macOS has none.
	users, noUsers, scopes bool
}

// Kind names a way of confining.
type Kind string

// The kinds, from the best to none. Seatbelt is macOS's, and taken only by its name: whoever wrote it had no Mac to run it on.
const (
	Bubblewrap Kind = "bwrap"
	Landlock   Kind = "landlock"
	Seatbelt   Kind = "seatbelt"
	None       Kind = "none"
)

// Any is what Find is told to take the best that works.
const Any Kind = "auto"

// patience is how long an attempt may take. A sandbox that hangs is not one that is missing: nothing is opened without it.
const patience = 10 * time.Second

// Find takes the wanted kind, or the best, and tries it once: a kernel may forbid what a program needs.
func Find(ctx context.Context, want Kind) (*Machine, error) {
	m := &Machine{Kind: None}
	switch want {
	case None:
		m.Why = "it is switched off"
		return m, nil
	case Seatbelt:
		return findSeatbelt(ctx)
	case Any, Bubblewrap, Landlock:
	default:
		return nil, fault.New(fault.Invalid, "settings", "sandbox is auto, bwrap, landlock, seatbelt or none, not %q", want)
	}
	if want != Landlock {
		found, err := findBubblewrap(ctx)
		if err == nil || fault.Is(err, fault.Unavailable) {
			return found, err
		}
		m.Why = "bubblewrap: " + err.Error()
	}
	if want != Bubblewrap {
		if err := tryLandlock(ctx); err != nil {
			if m.Why != "" {
				m.Why += "; "
			}
			m.Why += "Landlock: " + err.Error()
			return m, nil
		}
		m.Kind, m.scopes = Landlock, confine.Scopes()
	}
	return m, nil
}

// Works says whether anything can be confined at all here.
func (m *Machine) Works() bool { return m != nil && m.Kind != None }

// Hides says whether files inside the folders that a box shows can be hidden, and parts of those kept from being changed.
func (m *Machine) Hides() bool { return m != nil && (m.Kind == Bubblewrap || m.Kind == Seatbelt) }

// InPlace says whether a box shows everything where it is and nowhere else.
func (m *Machine) InPlace() bool { return m.Kind != Bubblewrap }

// KeepsAbstract says whether abstract sockets of other programs are out of reach of a box that has the network.
func (m *Machine) KeepsAbstract() bool { return m.Kind == Seatbelt || m.Works() && m.scopes }

// findBubblewrap finds the program and runs nothing in it, with all that it may be able to do and then with less.
func findBubblewrap(ctx context.Context) (*Machine, error) {
	if runtime.GOOS != "linux" {
		return nil, errors.New("only Linux has it")
	}
	path, err := exec.LookPath("bwrap")
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, errors.New("it is not installed")
	}
	for _, m := range []*Machine{{users: true, noUsers: true, scopes: true}, {users: true, noUsers: true}, {users: true, scopes: true},
		{users: true}, {scopes: true}, {}} {
		if m.scopes && !confine.Scopes() {
			continue
		}
		m.Kind, m.bwrap = Bubblewrap, path
		if err = m.try(ctx); err == nil || fault.Is(err, fault.Unavailable) {
			return m, err
		}
	}
	return nil, fmt.Errorf("it does not work here: %w", err)
}

// try runs nothing in a box.
func (m *Machine) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	nothing := "/bin/true"
	if m.Kind == Seatbelt {
		nothing = "/usr/bin/true" // where macOS has it
	}
	cmd, done, err := m.Command(ctx, Box{Argv: []string{nothing}, Dir: "/", Network: true})
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &said, time.Second
	err = cmd.Run()
	done()
	if ctx.Err() != nil {
		return fault.New(fault.Unavailable, "sandbox", "%s did not answer within %s", m.Kind, patience).
			WithNext("look what holds it up: %s", m.byHand())
	}
	if line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n"); err != nil && line != "" {
		return fmt.Errorf("%.200s (%w)", line, err)
	}
	return err
}

// byHand is a command line that tries the sandbox without this program.
func (m *Machine) byHand() string {
	switch m.Kind {
	case Seatbelt:
		return m.seatbelt + " -p '(version 1)(allow default)' /usr/bin/true"
	case Landlock:
		return "tandem doctor"
	}
	return m.bwrap + " --ro-bind / / true"
}

// findSeatbelt tries macOS's own sandbox.
func findSeatbelt(ctx context.Context) (*Machine, error) {
	m := &Machine{Kind: Seatbelt, seatbelt: sandboxExec}
	err := errors.New("only macOS has it")
	if runtime.GOOS == "darwin" {
		err = m.try(ctx)
	}
	if err != nil && !fault.Is(err, fault.Unavailable) {
		return &Machine{Kind: None, Why: "Seatbelt: " + err.Error()}, nil
	}
	return m, err
}

// tryLandlock runs nothing under Landlock.
func tryLandlock(ctx context.Context) error {
	if err := confine.Works(); err != nil {
		return err
	}
	return (&Machine{Kind: Landlock}).try(ctx)
}

// there says that something is at a path.
func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
