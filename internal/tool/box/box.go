package box

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tandem/internal/fault"
)

// Box is one sandbox, written down. What it does not name is not there for the program in it.
type Box struct {
	Argv []string // the program by its absolute path, and its arguments
	Dir  string
	// Env is the whole environment. Without a HOME in it the program gets a folder of its own for HOME and TMPDIR, which goes with it.
	Env []string
	// Mounts are what it sees beside the system, in order: a later one lies on top of an earlier one.
	Mounts []Mount
	// Masks are files and folders that it does not see, whichever mount would show them. What does not exist needs no hiding.
	Masks []string
	// Network is the machine's network; without it there is not even loopback.
	Network bool
	// Whole shows all of /etc, /opt and /nix, as agent programs need, and not only the public files of /etc.
	Whole bool
	// Tmp is the folder that it sees as /tmp; an empty one of its own without.
	Tmp string
	// Terminal lets it keep the terminal that it is started in.
	Terminal bool
	// Home is the person's home, in which programs run what lies in certain places by themselves: Keep keeps those, too.
	Home string
	// Hold keeps the program from running until it is released; nil lets it run as soon as its box is made. Only bubblewrap holds.
	Hold *Hold
	// Nests is a key of Nesting, when the program brings a sandbox of its own.
	Nests string

	absent []string // files that must not be there when the program has ended: see Keep
}

// Mount is a file or folder of the machine in a box.
type Mount struct {
	From string // "" is an empty folder, which takes nothing without Write
	At   string // where it is seen; "" is the place it has
	// Write lets the program change it.
	Write bool
	// Optional says that nothing is shown where nothing is.
	Optional bool
}

// Read and Write show places where they are.
func Read(paths ...string) []Mount { return mounts(paths, Mount{}) }

// Write shows places where they are, to be changed.
func Write(paths ...string) []Mount { return mounts(paths, Mount{Write: true}) }

func mounts(paths []string, m Mount) []Mount {
	out := make([]Mount, 0, len(paths))
	for _, p := range paths {
		m.From = p
		out = append(out, m)
	}
	return out
}

// Empty hides what is at a place in a folder of memory, on which later mounts can lie.
func Empty(at string) Mount { return Mount{At: at, Write: true} }

func (m Mount) at() string {
	if m.At == "" {
		return m.From
	}
	return m.At
}

// Nesting are the programs that may make user namespaces in their box, and why. A nested namespace uncovers no mask and makes
// nothing writable: the kernel holds together the mounts that it did not make itself.
var Nesting = map[string]string{
	"codex": "it runs every command in a bubblewrap of its own, and none where it cannot",
}

// Below says whether a path is a folder or lies in it.
func Below(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// hidden are the masks that hide something: real paths that exist and that a mount shows, outer ones first and none inside another.
func (b Box) hidden() []string {
	var out []string
	for _, m := range b.Masks {
		real, err := filepath.EvalSymlinks(m)
		if err != nil {
			continue // it is not there
		}
		if slices.ContainsFunc(b.Mounts, func(s Mount) bool { return s.From != "" && Below(s.at(), real) }) {
			out = append(out, real)
		}
	}
	slices.Sort(out)
	return slices.CompactFunc(out, func(outer, inner string) bool { return Below(outer, inner) })
}

// check refuses a box that says nothing sensible.
func (b Box) check() error {
	switch {
	case len(b.Argv) == 0 || !filepath.IsAbs(b.Argv[0]):
		return fault.New(fault.Internal, "sandbox", "the box names no program by its absolute path: %q", b.Argv)
	case b.Nests != "" && Nesting[b.Nests] == "":
		return fault.New(fault.Internal, "sandbox", "%s may not nest a sandbox: it is not on the list", b.Nests)
	}
	return nil
}

// Command is the program in its box. It has a process group of its own, which is ended with ctx; done is called when it has ended, and
// ends what it left in the background.
func (m *Machine) Command(ctx context.Context, b Box) (cmd *exec.Cmd, done func(), err error) {
	if err := b.check(); err != nil {
		return nil, nil, err
	}
	switch m.Kind {
	case Bubblewrap:
		along := &opened{}
		argv, env := m.bubblewrapped(b, along)
		cmd = exec.CommandContext(ctx, argv[0], argv[1:]...)
		// Bubblewrap itself is process 1 in there, and its environment can be read: it has that of the program.
		cmd.Env, cmd.ExtraFiles = env, along.files
		group(cmd)
		return cmd, func() {
			endGroup(cmd)
			along.close()
			b.Hold.close()
			for _, path := range b.absent {
				os.Remove(path) //nolint:errcheck // most were never made
			}
		}, nil
	case Landlock:
		return landlocked(ctx, b)
	case Seatbelt:
		return m.seatbelted(ctx, b)
	}
	return nil, nil, fault.New(fault.Conflict, "sandbox", "this machine has no sandbox, so commands cannot be confined").
		WithNext("install bubblewrap (apt install bubblewrap)")
}

// Argv is the command line and the environment that start the program in its box, for a terminal that starts it. Only bubblewrap has one.
func (m *Machine) Argv(b Box) (argv, env []string, err error) {
	if err := b.check(); err != nil {
		return nil, nil, err
	}
	if m.Kind != Bubblewrap {
		return nil, nil, fault.New(fault.Conflict, "sandbox", "bubblewrap does not work here: %s", m.Why).
			WithNext("install it (apt install bubblewrap)")
	}
	argv, env = m.bubblewrapped(b, nil)
	return argv, env, nil
}

// Unconfined is a program without a box, where a person allowed that: an environment and a home of its own are all that it has of one.
func Unconfined(ctx context.Context, b Box) (cmd *exec.Cmd, done func(), err error) {
	home, err := ownHome()
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.CommandContext(ctx, b.Argv[0], b.Argv[1:]...)
	cmd.Dir, cmd.Env = b.Dir, homed(b.Env, home)
	return cmd, leaving(cmd, home), nil
}

// homed adds a home to an environment that has none.
func homed(env []string, home string) []string {
	if slices.ContainsFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "HOME=") }) {
		return env
	}
	return append(slices.Clone(env), "HOME="+home, "TMPDIR="+home)
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
		err = fault.New(fault.Unavailable, "sandbox", "a temporary folder for the command could not be made: %w", err).
			WithNext("check that the disk has space")
	}
	return dir, err
}
