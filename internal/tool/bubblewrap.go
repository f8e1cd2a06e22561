package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// tryBubblewrap finds the program and runs nothing in it once.
func tryBubblewrap(ctx context.Context) (path string, err error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("only Linux has it")
	}
	path, err = exec.LookPath("bwrap")
	if err != nil {
		return "", errors.New("it is not installed")
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := exec.CommandContext(ctx, path, append(bubblewrapBase(false), "--", "/bin/true")...).Run(); err != nil {
		return "", fmt.Errorf("it does not work here: %w", err)
	}
	return path, nil
}

// bubblewrapBase is what every command sees of the machine.
func bubblewrapBase(network bool) []string {
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
	for _, f := range publicFiles {
		if _, err := os.Stat(f); err == nil {
			args = append(args, "--ro-bind", f, f)
		}
	}
	for _, e := range environment("/tmp") {
		name, value, _ := strings.Cut(e, "=")
		args = append(args, "--setenv", name, value)
	}
	return args
}

func (s *Sandbox) bubblewrapped(ctx context.Context, scope *Scope, dir, line string, network bool) (*exec.Cmd, error) {
	args := bubblewrapBase(network)
	fs := scope.Folders()
	for i := len(fs) - 1; i >= 0; i-- { // outer folders first, so that inner ones lie on top
		f := fs[i]
		bind := "--bind"
		if f.ReadOnly {
			bind = "--ro-bind"
		}
		args = append(args, bind, f.Path, f.Path)
	}
	// What exists now is hidden. What is made later, and copies in version control, it cannot know: docs/THREATS.md says so.
	err := scope.sensitive(func(path string, folder bool) bool {
		if folder {
			args = append(args, "--tmpfs", path)
		} else {
			args = append(args, "--ro-bind", "/dev/null", path)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	args = append(args, "--chdir", dir, "--", shell, "-c", line)
	cmd := exec.CommandContext(ctx, s.bwrap, args...)
	// Bubblewrap itself is process 1 in there, and its environment can be read: it gets none of ours.
	cmd.Env = []string{"LANG=C.UTF-8"}
	return cmd, nil
}
