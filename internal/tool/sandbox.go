package tool

import (
	"context"
	"os"
	"os/exec"
	"time"

	"tandem/internal/fault"
	"tandem/internal/tool/confine"
)

// Sandbox is how commands are confined on this machine: the system read-only, the granted folders as granted, everything else of
// the machine out of sight, no network unless it was granted, an empty environment.
type Sandbox struct {
	Kind SandboxKind
	// Why says why it is not a better one.
	Why   string
	bwrap string
}

// SandboxKind names a way of confining.
type SandboxKind string

// The kinds, from the best to none. Bubblewrap also hides sensitive files inside the granted folders; Landlock cannot, so a
// person has to approve commands where there are any. Without either no command runs, unless a person said so for a session.
const (
	Bubblewrap SandboxKind = "bwrap"
	Landlock   SandboxKind = "landlock"
	NoSandbox  SandboxKind = "none"
)

// AnySandbox is what FindSandbox is told to take the best that works.
const AnySandbox SandboxKind = "auto"

// FindSandbox takes the wanted kind, or the best, and tries it once: a kernel may forbid what a program needs.
func FindSandbox(ctx context.Context, want SandboxKind) (*Sandbox, error) {
	s := &Sandbox{Kind: NoSandbox}
	switch want {
	case NoSandbox:
		s.Why = "it is switched off"
		return s, nil
	case AnySandbox, Bubblewrap, Landlock:
	default:
		return nil, fault.New(fault.Invalid, "settings", "sandbox is auto, bwrap, landlock or none, not %q", want)
	}
	if want != Landlock {
		path, err := tryBubblewrap(ctx)
		if err == nil {
			return &Sandbox{Kind: Bubblewrap, bwrap: path}, nil
		}
		s.Why = "bubblewrap: " + err.Error()
	}
	if want != Bubblewrap {
		if err := tryLandlock(ctx); err != nil {
			s.Why = joined(s.Why, "Landlock: "+err.Error())
			return s, nil
		}
		s.Kind = Landlock
	}
	return s, nil
}

func joined(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// shell is the program that reads command lines.
const shell = "/bin/bash"

// environment is all that a command gets of one; home is a folder that is its own.
func environment(home string) []string {
	return []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8", "TERM=dumb"}
}

// Command builds the confined command for a shell line. dir must lie in the scope. The command has a process group of its own, which
// is ended with ctx; done is called when the command has ended, and ends what it left in the background.
func (s *Sandbox) Command(ctx context.Context, scope *Scope, dir, line string, network bool) (cmd *exec.Cmd, done func(), err error) {
	switch {
	case !s.Works():
		return nil, nil, fault.New(fault.Conflict, "sandbox", "this machine has no sandbox, so commands cannot be confined").WithNext("install bubblewrap (apt install bubblewrap)")
	case s.Kind == Landlock:
		return landlocked(ctx, scope, dir, line, network)
	}
	cmd, err = s.bubblewrapped(ctx, scope, dir, line, network)
	if err != nil {
		return nil, nil, err
	}
	group(cmd)
	return cmd, func() { endGroup(cmd) }, nil
}

// Unconfined builds a command without a sandbox, for a session in which a person allowed that: an empty environment and a home of
// its own are all that it has of one.
func Unconfined(ctx context.Context, dir, line string) (cmd *exec.Cmd, done func(), err error) {
	home, err := ownHome()
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.CommandContext(ctx, shell, "-c", line)
	cmd.Dir, cmd.Env = dir, environment(home)
	return cmd, leaving(cmd, home), nil
}

// leaving makes a command a group, and says what to do when it has ended.
func leaving(cmd *exec.Cmd, home string) (done func()) {
	group(cmd)
	return func() {
		endGroup(cmd)
		os.RemoveAll(home) //nolint:errcheck // what a command locked stays until somebody clears the temporary folder
	}
}

// ownHome makes the folder that a command has to itself.
func ownHome() (string, error) {
	dir, err := os.MkdirTemp("", "tandem-command-")
	if err != nil {
		err = fault.New(fault.Unavailable, "sandbox", "a temporary folder for the command could not be made: %w", err).WithNext("check that the disk has space")
	}
	return dir, err
}

// tryLandlock runs nothing under Landlock once.
func tryLandlock(ctx context.Context) error {
	if err := confine.Works(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	cmd, err := confine.Command(ctx, confine.Plan{Read: system(), Argv: []string{"/bin/true"}}, "/", nil)
	if err != nil {
		return err
	}
	return cmd.Run()
}

func landlocked(ctx context.Context, scope *Scope, dir, line string, network bool) (*exec.Cmd, func(), error) {
	for _, f := range scope.Folders() {
		if len(f.hidden) > 0 {
			return nil, nil, fault.New(fault.Conflict, "sandbox", "%s holds tandem's own state, which this machine's sandbox (Landlock) cannot hide, so no command runs there", f.Path).
				WithNext("grant the folder that the work needs instead, or install bubblewrap")
		}
	}
	home, err := ownHome()
	if err != nil {
		return nil, nil, err
	}
	p := confine.Plan{Read: system(), Write: []string{home, "/dev/null", "/dev/zero", "/dev/full"}, Network: network, Argv: []string{shell, "-c", line}}
	for _, f := range scope.Folders() {
		if f.ReadOnly {
			p.Read = append(p.Read, f.Path)
		} else {
			p.Write = append(p.Write, f.Path)
		}
	}
	cmd, err := confine.Command(ctx, p, dir, environment(home))
	if err != nil {
		return nil, nil, err
	}
	return cmd, leaving(cmd, home), nil
}

// system is what every command may read under Landlock. Of /proc only what speaks of the machine: under it a command would find
// the arguments of other programs.
func system() []string {
	return append([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/dev/random", "/dev/urandom",
		"/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/sys/kernel", "/proc/sys/vm", "/proc/uptime", "/proc/version"}, publicFiles...)
}

// publicFiles are the files of /etc that programs need and that tell nothing.
var publicFiles = []string{"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts",
	"/etc/resolv.conf", "/etc/ssl", "/etc/ca-certificates", "/etc/alternatives", "/etc/localtime", "/etc/mime.types"}

// Works says whether commands can be confined at all here.
func (s *Sandbox) Works() bool { return s != nil && s.Kind != NoSandbox }
