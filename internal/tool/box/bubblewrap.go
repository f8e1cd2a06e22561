package box

import (
	"os"
	"path/filepath"

	"tandem/internal/tool/confine"
)

// bubblewrapped is the command line of a box under bubblewrap, and its environment. along takes the files that the command line brings
// open; nil is a command line that a terminal starts, which brings none.
func (m *Machine) bubblewrapped(b Box, along *opened) (argv, env []string) {
	args := []string{m.bwrap, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--cap-drop",
		"ALL"}
	if !b.Network {
		args = append(args, "--unshare-net")
	}
	if !b.Terminal {
		args = append(args, "--new-session")
	}
	switch {
	case !m.users:
	case b.Nests != "" && os.Getuid() == 0:
		// Without capabilities nobody may map root into a namespace of his own, so who nests is another user in here.
		args = append(args, "--unshare-user", "--uid", "1000", "--gid", "1000")
	case b.Nests != "":
		args = append(args, "--unshare-user")
	case m.noUsers:
		args = append(args, "--unshare-user", "--disable-userns")
	}
	args = append(append(args, proc(b.Nests != "")...), "--dev", "/dev", "--dir", "/run")
	if b.Tmp == "" {
		args = append(args, "--tmpfs", "/tmp")
	} else {
		args = append(args, "--bind", b.Tmp, "/tmp")
	}
	args = append(args, system(b.Whole, along)...)
	for _, s := range b.Mounts {
		args = append(args, s.arguments()...)
	}
	// What exists now is hidden. What is made later, and copies in version control, nobody can know: docs/THREATS.md says so.
	for _, path := range append(private(b.Whole), b.hidden()...) {
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			args = append(args, "--tmpfs", path, "--remount-ro", path)
		} else {
			args = append(args, "--ro-bind", os.DevNull, path)
		}
	}
	if b.Hold != nil && along != nil {
		args = append(args, "--block-fd", along.add(b.Hold.gate))
	}
	argv = append(append(args, "--chdir", b.Dir, "--"), b.Argv...)
	if b.Network && m.scopes {
		argv = confine.Scoped(argv)
	}
	return argv, homed(b.Env, "/tmp")
}

// proc shows the processes of the box. The kernel's own switches belong to root by name and not by capability: whoever is root outside
// could name the program that the kernel starts when another one crashes. So nothing in there can be written, and for a program that nests,
// which writes the maps of its namespaces there, none of the switches: each is a mount, and every mount costs bubblewrap time.
func proc(nests bool) []string {
	args := []string{"--proc", "/proc"}
	if !nests {
		return append(args, "--remount-ro", "/proc")
	}
	for _, switches := range []string{"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/fs", "/proc/scsi",
		"/proc/mtrr"} {
		args = append(args, "--ro-bind-try", switches, switches)
	}
	return args
}

// arguments are one mount's.
func (m Mount) arguments() []string {
	how := "--ro-bind"
	switch {
	case m.From == "" && m.Write:
		return []string{"--tmpfs", m.At}
	case m.From == "":
		return []string{"--tmpfs", m.At, "--remount-ro", m.At}
	case m.Write:
		how = "--bind"
	}
	if m.Optional {
		how += "-try"
	}
	return []string{how, m.From, m.at()}
}

// system is what every box sees of the machine.
func system(whole bool, along *opened) []string {
	args := []string{"--ro-bind", "/usr", "/usr"}
	for _, d := range []string{"/bin", "/sbin", "/lib", "/lib64", "/lib32"} {
		if target, err := os.Readlink(d); err == nil {
			args = append(args, "--symlink", target, d)
		} else if there(d) {
			args = append(args, "--ro-bind", d, d)
		}
	}
	seen := publicFiles
	if whole {
		seen = []string{"/etc", "/opt", "/nix", "/run/systemd/resolve"}
	}
	for _, f := range seen {
		if fd, ok := along.copied(f); ok {
			args = append(args, "--file", fd, f)
		} else if there(f) {
			args = append(args, "--ro-bind", f, f)
		}
	}
	return args
}

// Private are the places of the system that hold passwords and keys, or the state of programs that run: no box shows them.
func Private() []string {
	return append(private(true), "/proc", "/sys", "/dev", "/run", "/var/run", "/boot")
}

// private are the files among those of /etc that only root may read, which the program in the box may be.
func private(whole bool) []string {
	if !whole {
		return nil // publicFiles has none
	}
	patterns := []string{"/etc/ssl/private", "/etc/shadow*", "/etc/gshadow*", "/etc/sudoers*", "/etc/ssh/*_key", "/etc/security/opasswd",
		"/etc/NetworkManager/system-connections", "/etc/wireguard", "/etc/krb5.keytab"}
	var out []string
	for _, p := range patterns {
		found, _ := filepath.Glob(p) // these patterns are well formed
		out = append(out, found...)
	}
	return out
}

// publicFiles are the files of /etc that programs need and that tell nothing.
var publicFiles = []string{"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf",
	"/etc/hosts", "/etc/resolv.conf", "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem",
	"/etc/ca-certificates", "/etc/alternatives", "/etc/localtime", "/etc/mime.types"}
