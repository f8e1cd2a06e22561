package tool

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"tandem/internal/fault"
)

// Sandbox runs commands under bubblewrap: the system read-only, the granted folders as granted, sensitive files and
// everything else of the machine out of sight, no network unless it was granted, an empty environment.
type Sandbox struct {
	// Bwrap is the program; FindSandbox fills it.
	Bwrap string
}

// FindSandbox looks for bubblewrap and tries it once: a kernel may forbid what the program needs.
func FindSandbox(ctx context.Context) *Sandbox {
	if runtime.GOOS != "linux" {
		return nil
	}
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return nil
	}
	s := &Sandbox{Bwrap: path}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	args := append(s.base(false), "--", "/bin/true")
	if err := exec.CommandContext(ctx, path, args...).Run(); err != nil {
		return nil
	}
	return s
}

// base is what every command sees of the machine.
func (s *Sandbox) base(network bool) []string {
	args := []string{"--die-with-parent", "--new-session", "--unshare-all", "--clearenv", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr"}
	if network {
		args = append(args, "--share-net")
	}
	for _, d := range []string{"/bin", "/sbin", "/lib", "/lib64", "/lib32"} {
		if target, err := os.Readlink(d); err == nil {
			args = append(args, "--symlink", target, d)
		} else if _, err := os.Stat(d); err == nil {
			args = append(args, "--ro-bind", d, d)
		}
	}
	for _, f := range []string{"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts",
		"/etc/resolv.conf", "/etc/ssl", "/etc/ca-certificates", "/etc/alternatives", "/etc/localtime", "/etc/mime.types"} {
		if _, err := os.Stat(f); err == nil {
			args = append(args, "--ro-bind", f, f)
		}
	}
	return append(args, "--setenv", "PATH", "/usr/local/bin:/usr/bin:/bin", "--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8", "--setenv", "TERM", "dumb")
}

// maxMasked bounds the search for sensitive files. A folder that is larger is not entered blindly: the command is refused.
const maxMasked = 300_000

// Command builds the confined command for a shell line. dir must lie in the scope.
func (s *Sandbox) Command(ctx context.Context, scope *Scope, dir, line string, network bool) (*exec.Cmd, error) {
	args := s.base(network)
	fs := scope.Folders()
	for i := len(fs) - 1; i >= 0; i-- { // outer folders first, so that inner ones lie on top
		f := fs[i]
		bind := "--bind"
		if f.ReadOnly {
			bind = "--ro-bind"
		}
		args = append(args, bind, f.Path, f.Path)
	}
	masks, err := masks(scope)
	if err != nil {
		return nil, err
	}
	args = append(args, masks...)
	args = append(args, "--chdir", dir, "--", "/bin/bash", "-c", line)
	cmd := exec.CommandContext(ctx, s.Bwrap, args...)
	// Bubblewrap itself is process 1 in there, and its environment can be read: it gets none of ours.
	cmd.Env = []string{"LANG=C.UTF-8"}
	return cmd, nil
}

var errTooMany = errors.New("too many files")

// masks hides sensitive files and folders that exist now. Those made later, and copies in version control, it cannot
// know: docs/THREATS.md says so.
func masks(scope *Scope) ([]string, error) {
	var out []string
	seen := 0
	for _, f := range scope.Folders() {
		err := filepath.WalkDir(f.Path, func(p string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil //nolint:nilerr // what tandem cannot read, a command with the same rights cannot read either
			}
			if seen++; seen > maxMasked {
				return errTooMany
			}
			if p == f.Path || !sensitiveHere(f.Path, p) {
				return nil
			}
			if d.IsDir() {
				out = append(out, "--tmpfs", p)
				return filepath.SkipDir
			}
			if d.Type()&fs.ModeSymlink == 0 {
				out = append(out, "--ro-bind", "/dev/null", p)
			}
			return nil
		})
		if err != nil {
			return nil, fault.New(fault.Exhausted, "bash", "%s holds more than %d files: sensitive ones cannot be masked, so no command runs there", f.Path, maxMasked).
				WithNext("grant the folder that the work needs instead")
		}
	}
	return out, nil
}

// sensitiveHere judges a path by its part below the granted folder: a person who grants a folder called secrets meant it.
func sensitiveHere(folder, p string) bool {
	rel, err := filepath.Rel(folder, p)
	return err != nil || Sensitive("/"+rel)
}
