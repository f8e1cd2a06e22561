package space

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/internal/cli/kit"
	"tandem/internal/fault"
	"tandem/internal/op"
	"tandem/internal/space/peer"
)

// ours is the line by which our own hook is known.
const ours = "# tandem space guard: refuses a commit of files that another member of a space has leased."

func newGuard(k *kit.Kit) *cobra.Command {
	cmd := &cobra.Command{Use: "guard", Short: "Keep commits of a plain git checkout off leased files",
		Long: "A hook of git that refuses a commit of files that another member of a space has leased, and says who has them. " +
			"It is for checkouts that no tandem server guards. It is manners: git commit --no-verify passes it."}
	install := &cobra.Command{Use: "install", Short: "Put the hook into this checkout", Example: "  tandem space guard install",
		Args: cobra.NoArgs,
		Long: "Put a pre-commit hook into the git checkout of this folder. A hook that is there already is left alone.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := hookPath(cmd.Context(), k)
			if err == nil {
				err = writeHook(path, guardScript(program(), k.Flags["data"]))
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(k.Out, "%s: commits of files that others have leased are refused. Take it away with: tandem space guard uninstall\n", path)
			return nil
		}}
	uninstall := &cobra.Command{Use: "uninstall", Short: "Take the hook away again", Example: "  tandem space guard uninstall",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path, err := hookPath(cmd.Context(), k)
			if err != nil {
				return err
			}
			if is, err := isOurs(path); err != nil || !is {
				return errors.Join(err, fault.New(fault.NotFound, "space.guard", "this checkout has no hook of tandem's").
					WithNext("put one there: tandem space guard install"))
			}
			if err := os.Remove(path); err != nil {
				return fault.New(fault.Unavailable, "space.guard", "cannot remove the hook: %w", err)
			}
			fmt.Fprintf(k.Out, "%s: removed\n", path)
			return nil
		}}
	check := &cobra.Command{Use: "check", Short: "Refuse when a file that is to be committed is leased to somebody else",
		Long:    "Look at what git is about to commit in this folder. The hook runs it; in a hook of your own, put it on a line of its own.",
		Example: "  tandem space guard check", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return guard(cmd.Context(), k) }}
	cmd.AddCommand(install, uninstall, check)
	return cmd
}

// guard refuses a commit of what others have leased.
func guard(ctx context.Context, k *kit.Kit) error {
	top, err := git(ctx, k, "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	staged, err := git(ctx, k, "-C", top, "diff", "--cached", "--name-only", "--no-renames", "-z")
	if err != nil || staged == "" {
		return err
	}
	in := peer.GuardIn{Folder: top, Paths: strings.FieldsFunc(staged, func(r rune) bool { return r == 0 }), Parents: parents()}
	out, err := op.Do(ctx, k, peer.SpaceGuard, in)
	if err != nil {
		return err
	}
	if len(out.Held) == 0 {
		return nil
	}
	return fault.New(fault.Conflict, "space.guard", "%s", plain(out.Text)).
		WithNext("wait until it is released, or ask for it: tandem space send MESSAGE --to %s; to commit all the same: git commit --no-verify",
			plain(out.Held[0].By))
}

// git is what git answers in this folder.
func git(ctx context.Context, k *kit.Kit, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, "git", args...)
	run.Env = k.Env
	var out, said bytes.Buffer
	run.Stdout, run.Stderr = &out, &said
	if err := run.Run(); err != nil {
		return "", fault.New(fault.Invalid, "space.guard", "git does not answer here: %s", strings.TrimSpace(said.String()+" "+err.Error())).
			WithNext("go to a folder that is a git checkout")
	}
	return strings.TrimRight(out.String(), "\r\n"), nil
}

// hookPath is where the checkout has its hook before a commit. A folder of hooks
// that somebody chose belongs to more than this checkout.
func hookPath(ctx context.Context, k *kit.Kit) (string, error) {
	if chosen, err := git(ctx, k, "config", "--get", "core.hooksPath"); err == nil && chosen != "" {
		return "", fault.New(fault.Conflict, "space.guard", "this checkout takes its hooks from %s, which tandem leaves alone", chosen).
			WithNext("put this line into the hook pre-commit there: tandem space guard check")
	}
	path, err := git(ctx, k, "rev-parse", "--git-path", "hooks")
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", fmt.Errorf("find the hooks: %w", err)
	}
	return filepath.Join(path, "pre-commit"), nil
}

func isOurs(path string) (bool, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fault.New(fault.Unavailable, "space.guard", "cannot read the hook: %w", err)
	}
	return bytes.Contains(data, []byte(ours+"\n")), nil
}

// writeHook writes our hook where there is none, or anew over our own.
func writeHook(path, text string) error {
	mine, err := isOurs(path)
	if err != nil {
		return err
	}
	how := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if mine {
		how = os.O_WRONLY | os.O_TRUNC
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fault.New(fault.Unavailable, "space.guard", "cannot make %s: %w", filepath.Dir(path), err)
	}
	f, err := os.OpenFile(path, how, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "space.guard", "%s is somebody's hook, and is left as it is", path).
			WithNext("put this line into it: tandem space guard check")
	}
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fault.New(fault.Unavailable, "space.guard", "cannot write %s: %w", path, err)
	}
	return nil
}

// guardScript is the hook. It speaks to the same server as the command that wrote it.
func guardScript(program, data string) string {
	word := func(s string) string { return "'" + strings.ReplaceAll(filepath.ToSlash(s), "'", `'\''`) + "'" }
	call := word(program)
	if data != "" {
		if abs, err := filepath.Abs(data); err == nil {
			data = abs
		}
		call += " --data " + word(data)
	}
	return "#!/bin/sh\n" + ours + "\n# Take it away with: tandem space guard uninstall\n" +
		"command -v " + word(program) + " >/dev/null 2>&1 || { echo 'tandem was not found; leases are not looked at' >&2; exit 0; }\n" +
		"exec " + call + " space guard check\n"
}
