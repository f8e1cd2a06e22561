package box

import (
	"context"
	"os/exec"

	"tandem/internal/fault"
	"tandem/internal/tool/confine"
)

// landlocked is a box under Landlock. It shows places where they are and nowhere else, and cannot hide what lies in one of them.
func landlocked(ctx context.Context, b Box) (*exec.Cmd, func(), error) {
	if hidden := b.hidden(); len(hidden) > 0 {
		return nil, nil, fault.New(fault.Conflict, "sandbox",
			"%s has to stay hidden, which this machine's sandbox (Landlock) cannot do, so no command runs there", hidden[0]).
			WithNext("grant the folder that the work needs instead, or install bubblewrap")
	}
	if b.Tmp != "" || b.Whole || b.Terminal || b.Nests != "" {
		return nil, nil, fault.New(fault.Conflict, "sandbox", "this box needs bubblewrap, and this machine has only Landlock").
			WithNext("install bubblewrap (apt install bubblewrap)")
	}
	home, err := ownHome()
	if err != nil {
		return nil, nil, err
	}
	p := confine.Plan{Read: systemFiles(), Write: []string{home, "/dev/null", "/dev/zero", "/dev/full"}, Network: b.Network, Argv: b.Argv}
	for _, m := range b.Mounts {
		switch {
		case m.From == "" || m.at() != m.From:
			return nil, nil, fault.New(fault.Conflict, "sandbox", "%s cannot be shown at %s: this machine has only Landlock", m.From, m.at()).
				WithNext("install bubblewrap (apt install bubblewrap)")
		case m.Write:
			p.Write = append(p.Write, m.From)
		default:
			p.Read = append(p.Read, m.From)
		}
	}
	cmd, err := confine.Command(ctx, p, b.Dir, homed(b.Env, home))
	if err != nil {
		return nil, nil, err
	}
	return cmd, leaving(cmd, home), nil
}

// systemFiles is what every command may read under Landlock. Of /proc only what speaks of the machine: under it a command would find
// the arguments of other programs.
func systemFiles() []string {
	return append([]string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/dev/random", "/dev/urandom",
		"/proc/cpuinfo", "/proc/filesystems", "/proc/loadavg", "/proc/meminfo", "/proc/stat", "/proc/sys/kernel", "/proc/sys/vm", "/proc/uptime",
		"/proc/version"}, publicFiles...)
}
